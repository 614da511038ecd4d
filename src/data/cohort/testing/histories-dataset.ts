import type { Dataset } from "../dataset.js";
import type { History } from "../history.js";

/** A dataset of these training patients, with so many tokens: what is needed to count records. */
export const historiesDataset = (histories: readonly History[], vocab: number): Dataset =>
	({
		vocabulary: { size: vocab },
		patients: (split: string) =>
			split === "train" ? Int32Array.from(histories.keys()) : new Int32Array(0),
		read: async (patient: number) => histories[patient],
	}) as unknown as Dataset;

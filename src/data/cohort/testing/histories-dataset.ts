import type { Dataset } from "../dataset.js";
import type { History } from "../history.js";

/** A dataset of these training and validation patients, with so many tokens: what is needed to count records. */
export const historiesDataset = (
	training: readonly History[],
	vocab: number,
	validation: readonly History[] = [],
): Dataset => {
	const histories = [...training, ...validation];
	const numbers = Int32Array.from(histories.keys());
	const bySplit: Readonly<Record<string, Int32Array>> = {
		train: numbers.slice(0, training.length),
		valid: numbers.slice(training.length),
	};
	return {
		vocabulary: { size: vocab },
		patients: (split: string) => bySplit[split] ?? new Int32Array(0),
		read: async (patient: number) => histories[patient],
	} as unknown as Dataset;
};

import { hash32, hashText } from "../../base/random.js";
import type { Split } from "./manifest.js";

/** Percentages of patients for training, validation and test; their sum is 100. */
export type SplitParts = readonly [train: number, valid: number, test: number];

export const usualParts: SplitParts = [80, 10, 10];

/** Assigns a split by a seeded hash of the id, so that added patients do not change the split of others. */
export function splitOf(
	patient: string,
	seed: number,
	[train, valid]: SplitParts = usualParts,
): Split {
	const percent = (hashText(patient, hash32(seed, 0)) / 0x100000000) * 100; // [0, 100)
	return percent < train ? "train" : percent < train + valid ? "valid" : "test";
}

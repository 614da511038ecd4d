import { hash32, hashText } from "../base/random.js";
import type { Split } from "./manifest.js";

/** Percent of the patients for training, validation and test; they make 100. */
export type SplitParts = readonly [train: number, valid: number, test: number];

export const usualParts: SplitParts = [80, 10, 10];

/** By a seeded hash of the id alone: adding patients moves nobody. */
export function splitOf(
	patient: string,
	seed: number,
	[train, valid]: SplitParts = usualParts,
): Split {
	const place = (hashText(patient, hash32(seed, 0)) / 0x100000000) * 100; // [0, 100)
	return place < train ? "train" : place < train + valid ? "valid" : "test";
}

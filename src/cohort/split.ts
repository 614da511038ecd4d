import { hash32, hashText } from "../base/random.js";
import type { Split } from "./manifest.js";

/** 80/10/10 by a seeded hash of the id alone: adding patients moves nobody. */
export function splitOf(patient: string, seed: number): Split {
	const place = hashText(patient, hash32(seed, 0)) / 0x100000000; // [0, 1)
	return place < 0.8 ? "train" : place < 0.9 ? "valid" : "test";
}

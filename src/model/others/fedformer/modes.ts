import { random } from "../../../base/random.js";

/** At most so many of the modes below half the length, drawn at random and in order: always the same. */
export function drawnModes(length: number, count: number, seed: number): number[] {
	const all = Array.from({ length: Math.max(1, Math.floor(length / 2)) }, (_, m) => m);
	return random(seed)
		.fork(length)
		.shuffle(all)
		.slice(0, count)
		.sort((a, b) => a - b);
}

import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import type { EventBatch } from "../model.js";

export const vocab = 12;

export interface TestHistory {
	readonly tokens: number[];
	readonly times: number[];
}

/**
 * A history that can be learned from: the same three codes in turn, at irregular times; a code of the
 * patient's own now and then.
 */
export function testHistory(events: number, seed: number): TestHistory {
	const draw = random(seed);
	const own = specialCount + 3 + draw.integer(vocab - specialCount - 3);
	let time = 300 * draw.uniform();
	const tokens: number[] = [specialTokens.female];
	const times: number[] = [time];
	for (let n = 1; n < events; n++) {
		time += draw.uniform() < 0.2 ? 0 : -30 * Math.log(1 - draw.uniform());
		tokens.push(draw.uniform() < 0.2 ? own : specialCount + (n % 3));
		times.push(time);
	}
	return { tokens, times };
}

/** Histories as rows of a batch, padded to a length, with rows to spare. */
export function batchOf(
	histories: readonly TestHistory[],
	length = Math.max(...histories.map(({ tokens }) => tokens.length)),
	rows = histories.length,
): EventBatch {
	const tokens = new Int32Array(rows * length).fill(specialTokens.pad);
	const times = new Float64Array(rows * length);
	const lengths = new Int32Array(rows);
	for (const [row, own] of histories.entries()) {
		tokens.set(own.tokens, row * length);
		times.set(own.times, row * length);
		times.fill(own.times.at(-1) as number, row * length + own.times.length, (row + 1) * length);
		lengths[row] = own.tokens.length;
	}
	return { rows, length, tokens, times, lengths };
}

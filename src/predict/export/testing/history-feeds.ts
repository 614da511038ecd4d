import type { TestHistory } from "../../../model/testing/histories.js";
import type { Named } from "./sessions.js";

/** What graphs of whole histories are fed: rows padded to the longest, with nonsense in the padding. */
export function historyFeeds(histories: readonly TestHistory[], at: readonly number[]): Named {
	const rows = histories.length;
	const length = Math.max(1, ...histories.map(({ tokens }) => tokens.length));
	const tokens = new Int32Array(rows * length).fill(-7);
	const times = new Float64Array(rows * length).fill(Number.NaN);
	const mask = new Uint8Array(rows * length);
	for (const [row, own] of histories.entries()) {
		tokens.set(own.tokens, row * length);
		times.set(own.times, row * length);
		mask.fill(1, row * length, row * length + own.tokens.length);
	}
	const dims = [rows, length];
	return {
		tokens: { data: tokens, dims },
		times: { data: times, dims },
		mask: { data: mask, dims },
		at: { data: Float64Array.from(at), dims: [rows] },
	};
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { bestLengths, roundLength, rowsThatFit } from "./buckets.js";

test("lengths are rounded up by less than a sixteenth", () => {
	expect([1, 16, 17, 31, 33, 100, 129, 511, 512, 513].map(roundLength)).toEqual([
		1, 16, 17, 31, 34, 100, 136, 512, 512, 544,
	]);
	for (let length = 1; length < 5000; length++) {
		expect(roundLength(length)).toBeGreaterThanOrEqual(length);
		expect(roundLength(length)).toBeLessThan(length * (1 + 1 / 16));
	}
});

/** Every way to choose k of the lengths, the longest among them. */
function leastPadding(lengths: readonly number[], k: number): number {
	const ends = [...new Set(lengths)].sort((a, b) => a - b);
	let least = Number.POSITIVE_INFINITY;
	for (let chosen = 0; chosen < 1 << ends.length; chosen++) {
		const these = ends.filter((_, at) => chosen & (1 << at));
		if (these.length !== k || these.at(-1) !== ends.at(-1)) continue;
		least = Math.min(least, padding(lengths, these));
	}
	return least;
}

function padding(lengths: readonly number[], ends: readonly number[]): number {
	return lengths.reduce((sum, n) => sum + (ends.find((end) => end >= n) as number) - n, 0);
}

test("finds the bucket lengths with the least padding", () => {
	const short = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 30 });
	fc.assert(
		fc.property(short, (lengths) => {
			const answers = bestLengths(Int32Array.from(lengths), 100, 12);
			expect(answers.length).toBe(new Set(lengths).size);
			for (const [at, ends] of answers.entries()) {
				expect(ends.length).toBe(at + 1);
				expect(padding(lengths, ends)).toBe(leastPadding(lengths, at + 1));
			}
		}),
		{ numRuns: 60 },
	);
});

test("no bucket is longer than the longest allowed", () => {
	expect(bestLengths(Int32Array.of(511, 500), 511, 1)).toEqual([[511]]);
});

test("leaves few rows of the last batch empty, and uses at least half of the allowed rows", () => {
	expect(rowsThatFit(5, 16)).toBe(5);
	expect(rowsThatFit(160, 16)).toBe(16);
	expect(rowsThatFit(151, 16)).toBe(14); // 11 batches of 14: 3 rows empty
	expect(rowsThatFit(3, 2)).toBe(1);
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300 }), (n, most) => {
			const rows = rowsThatFit(n, most);
			expect(rows).toBeLessThanOrEqual(most);
			expect(rows).toBeGreaterThanOrEqual(Math.min(most, n) / 2);
		}),
	);
});

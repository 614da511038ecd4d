import { describe, expect, test } from "vitest";
import { smallDataset } from "../testing/small-dataset.js";
import { chooseSmoothing, countScores } from "./scores.js";

const [a, b, c] = [5, 6, 7];

describe("countScores", () => {
	// In training: a 6, b 3, c 1 of 10.
	const dataset = smallDataset(
		[6, 3, 1],
		[
			{ split: "train", tokens: [a, a, b] },
			{ split: "test", tokens: [b, b, a, c] },
			{ split: "test", tokens: [c, a], birth: -3 },
			{ split: "test", tokens: [a] },
		],
	);

	test("with smoothing mixes the patient's past with training frequencies", async () => {
		const scores = await countScores(dataset, "test", 2);
		// After b: b (1 + 2·0.3)/3, a 0.4 — a hit. After b b: a 1.2/4. After b b a: c 0.2/5.
		const first = Math.log(1.6 / 3) + Math.log(1.2 / 4) + Math.log(0.2 / 5);
		// The first event counts after a birth, which is no event of the past: c 0.1, then a 1.2/3.
		const second = Math.log(0.1) + Math.log(1.2 / 3);
		expect([...scores.patients]).toEqual([1, 2, 3]);
		expect([...scores.column("events")]).toEqual([3, 2, 0]);
		expect([...scores.column("correct")]).toEqual([1, 0, 0]);
		const close = [first, second, 0].map((sum) => expect.closeTo(sum, 12));
		expect([...scores.column("logLikelihood")]).toEqual(close);
	});

	test("with infinite smoothing equals the training frequencies", async () => {
		const { total } = await countScores(dataset, "test", Number.POSITIVE_INFINITY);
		// b a c, then c a: the most frequent, a, comes twice.
		expect([total("events"), total("correct")]).toEqual([5, 2]);
		const expected = Math.log(0.3) + 2 * Math.log(0.6) + 2 * Math.log(0.1);
		expect(total("logLikelihood")).toBeCloseTo(expected, 12);
	});
});

describe("chooseSmoothing", () => {
	const chosen = (tokens: number[]) =>
		chooseSmoothing(
			smallDataset(
				[4, 4, 2],
				[
					{ split: "valid", tokens },
					{ split: "test", tokens: [c, c, c, c] },
				],
			),
		);

	test("is small if validation patients repeat codes", async () => {
		expect(await chosen([c, c, c, c, c, c])).toBe(0.25);
	});

	test("is infinite if they never do", async () => {
		expect(await chosen([c, a])).toBe(Number.POSITIVE_INFINITY);
	});

	test("lies in between if some do", async () => {
		const smoothing = await chosen([a, a, b, a, a, c, a, b, a, a, a, a]);
		expect(smoothing).toBeGreaterThan(0.25);
		expect(smoothing).toBeLessThan(64);
	});
});

import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../../engine/runtime/testing/evaluate.js";
import { gradients, input, mul, sum, type Tensor } from "../../../engine/tensor/index.js";
import { autoCorrelation, correlation, delaysOf } from "./auto-correlation.js";

const draw = random(23);
type Matrix = number[][];
const matrix = (places: number, width: number): Matrix =>
	Array.from({ length: places }, () => Array.from({ length: width }, () => draw.normal()));

/** R(τ): queries against keys τ places before them, around the end; no transform. */
const fit = (q: Matrix, k: Matrix, channels: readonly number[]): number[] =>
	q.map((_, delay) => {
		let total = 0;
		for (let t = 0; t < q.length; t++)
			for (const c of channels) total += q[(t + delay) % q.length]![c]! * k[t]![c]!;
		return total / channels.length;
	});

/** Each head's best delays, and its values rolled by them. */
function plain(q: Matrix, k: Matrix, v: Matrix, heads: number, factor: number): Matrix {
	const [places, width] = [v.length, v[0]!.length];
	const out = v.map((row) => row.map(() => 0));
	for (let head = 0; head < heads; head++) {
		const channels = Array.from({ length: width / heads }, (_, c) => (head * width) / heads + c);
		const fits = fit(q, k, channels);
		const best = fits
			.map((_, delay) => delay)
			.sort((a, b) => fits[b]! - fits[a]!)
			.slice(0, Math.floor(factor * Math.log(places)));
		const total = best.reduce((sum, delay) => sum + Math.exp(fits[delay]!), 0);
		for (const delay of best)
			for (let t = 0; t < places; t++)
				for (const c of channels)
					out[t]![c]! += (Math.exp(fits[delay]!) / total) * v[(t + delay) % places]![c]!;
	}
	return out;
}

describe.each([
	[7, 4, 2],
	[10, 6, 1],
	[16, 6, 3],
])("%i places, width %i, %i heads", (places, width, heads) => {
	const factor = 1.5;
	const shape = [2, places, width];
	const [q, k, v] = ["q", "k", "v"].map((name) => input(name, shape, "float64")) as [
		Tensor,
		Tensor,
		Tensor,
	];
	const rows = [0, 1].map(() => ({
		q: matrix(places, width),
		k: matrix(places, width),
		v: matrix(places, width),
	}));
	const feedsOf = (own: typeof rows) => ({
		q: own.flatMap((row) => row.q.flat()),
		k: own.flatMap((row) => row.k.flat()),
		v: own.flatMap((row) => row.v.flat()),
	});
	const out = autoCorrelation(q, k, v, { heads, factor });

	test("is the sum of the rolls at the best delays", async () => {
		const { y } = await evaluate({ y: out }, feedsOf(rows));
		const wanted = rows.flatMap((row) => plain(row.q, row.k, row.v, heads, factor).flat());
		expect(relativeError(y, wanted)).toBeLessThan(1e-12);
	});

	test("queries, keys and values learn from it", async () => {
		const loss = sum(mul(out, mul(out, out)));
		const [dq, dk, dv] = gradients(loss, [q, k, v]) as [Tensor, Tensor, Tensor];
		const { run, dispose } = await evaluatorOf({ loss, dq, dk, dv });
		const got = await run(feedsOf(rows));
		const plainLoss = (of: typeof rows) =>
			of
				.flatMap((row) => plain(row.q, row.k, row.v, heads, factor).flat())
				.reduce((total, y) => total + y ** 3, 0);
		expect(got.loss[0]).toBeCloseTo(plainLoss(rows), 8);
		const step = 1e-5;
		for (const [name, slopes] of Object.entries({ q: got.dq, k: got.dk, v: got.dv })) {
			const [row, t, c] = [1, 2, width - 1];
			const at = (by: number) => {
				const moved = structuredClone(rows);
				moved[row]![name as "q"][t]![c]! += by;
				return plainLoss(moved);
			};
			const difference = (at(step) - at(-step)) / (2 * step);
			const slope = slopes[(row * places + t) * width + c]!;
			expect(Math.abs(slope)).toBeGreaterThan(1e-6);
			expect(slope).toBeCloseTo(difference, 5);
		}
		await dispose();
	});
});

test("a series that repeats itself fits at its periods", async () => {
	const places = 24;
	const x = Array.from({ length: places }, (_, t) => [
		Math.sin((2 * Math.PI * t) / 6) + 0.3 * Math.cos((4 * Math.PI * t) / 6),
	]);
	const series = input("x", [1, places, 1]);
	const { fits } = await evaluate({ fits: correlation(series, series, 1) }, { x: x.flat() });
	const best = fits
		.map((_, delay) => delay)
		.sort((a, b) => fits[b]! - fits[a]!)
		.slice(0, 4);
	expect(best.sort((a, b) => a - b)).toEqual([0, 6, 12, 18]);
});

test("as many delays as the logarithm of the places", () => {
	expect([1, 2, 8, 52, 126].map((places) => delaysOf(places, 1))).toEqual([1, 1, 2, 3, 4]);
	expect(delaysOf(4, 100)).toBe(4);
});

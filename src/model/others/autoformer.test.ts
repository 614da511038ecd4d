import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { conformance } from "../testing/conformance.js";
import { drawnWeights, oneWindow, windowFeeds } from "../testing/windows.js";
import {
	autoCorrelation,
	config,
	correlation,
	decoder,
	delaysOf,
	encoder,
	weights,
} from "./autoformer.js";

const draw = random(23);
type Matrix = number[][];
const matrix = (places: number, width: number): Matrix =>
	Array.from({ length: places }, () => Array.from({ length: width }, () => draw.normal()));

/** R(τ): queries against keys τ places before them, around the end; no transform. */
const fit = (q: Matrix, k: Matrix, channels: readonly number[]): number[] =>
	q.map((_, delay) => {
		let total = 0;
		for (let t = 0; t < q.length; t++)
			for (const c of channels) total += q[(t + delay) % q.length][c] * k[t][c];
		return total / channels.length;
	});

/** Each head's best delays, and its values rolled by them. */
function plain(q: Matrix, k: Matrix, v: Matrix, heads: number, factor: number): Matrix {
	const [places, width] = [v.length, v[0].length];
	const out = v.map((row) => row.map(() => 0));
	for (let head = 0; head < heads; head++) {
		const channels = Array.from({ length: width / heads }, (_, c) => (head * width) / heads + c);
		const fits = fit(q, k, channels);
		const best = fits
			.map((_, delay) => delay)
			.sort((a, b) => fits[b] - fits[a])
			.slice(0, Math.floor(factor * Math.log(places)));
		const total = best.reduce((sum, delay) => sum + Math.exp(fits[delay]), 0);
		for (const delay of best)
			for (let t = 0; t < places; t++)
				for (const c of channels)
					out[t][c] += (Math.exp(fits[delay]) / total) * v[(t + delay) % places][c];
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
		const loss = out.mul(out.mul(out)).sum();
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
				moved[row][name as "q"][t][c] += by;
				return plainLoss(moved);
			};
			const difference = (at(step) - at(-step)) / (2 * step);
			const slope = slopes[(row * places + t) * width + c];
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
		.sort((a, b) => fits[b] - fits[a])
		.slice(0, 4);
	expect(best.sort((a, b) => a - b)).toEqual([0, 6, 12, 18]);
});

test("as many delays as the logarithm of the places", () => {
	expect([1, 2, 8, 52, 126].map((places) => delaysOf(places, 1))).toEqual([1, 1, 2, 3, 4]);
	expect(delaysOf(4, 100)).toBe(4);
});

conformance("autoformer");

const tokens = [3, 3, 3, 5, 6, 7, 8, 5, 6];
const dim = 4;
const settings = (more: Record<string, unknown> = {}) =>
	config.parse({
		...{ vocab: 12, window: tokens.length, ahead: 5, layers: 2, decoderLayers: 2, start: 7 },
		...{ heads: 2, dim, ff: 6, average: 5, ...more },
	});

function built(config: ReturnType<typeof settings>) {
	const { p, values } = drawnWeights(weights(config), config.dim);
	const { window, queries } = oneWindow(config.window, config.ahead);
	const series = encoder(config, p, window);
	const answers = decoder(config, p, series, window, queries);
	return { series, answers, values };
}

test.each([
	["longer than", 7, 5],
	["shorter than", 2, 3],
])("padding has no effect; the decoder is %s the window", async (_, start, ahead) => {
	const { series, answers, values } = built(settings({ start, ahead }));
	expect(answers.shape).toEqual([1, ahead, dim]);
	const { seasonal, trend } = series;
	const { run, dispose } = await evaluatorOf({ seasonal, trend, answers });
	const at = (junk: number) => run({ ...values, ...windowFeeds(tokens, ahead, 3, junk) });
	const [one, two] = [await at(0), await at(900)];
	expect(relativeError(two.answers, one.answers)).toBeLessThan(1e-5);
	for (const part of ["seasonal", "trend"] as const)
		expect(relativeError(two[part].slice(3 * dim), one[part].slice(3 * dim))).toBeLessThan(1e-5);
	await dispose();
});

test("with weights of 0, the prediction is the mean of the window", async () => {
	const { answers, values } = built(settings());
	const nothing = Object.fromEntries(
		Object.entries(values).map(([name, data]) => [
			name,
			name === "embedding" ? data : data.map(() => 0),
		]),
	);
	const got = await evaluate({ answers }, { ...nothing, ...windowFeeds(tokens, 5, 3) });
	const events = tokens.slice(3);
	const mean = Array.from(
		{ length: dim },
		(_, c) =>
			events.reduce((sum, token) => sum + values.embedding[token * dim + c], 0) / events.length,
	);
	expect(relativeError(got.answers, Array.from({ length: 5 }, () => mean).flat())).toBeLessThan(
		1e-6,
	);
});

test("each layer of the decoder adds the trends of its three parts", async () => {
	const { answers, values } = built(settings());
	// One code all along has no season. The parts add a constant each: all of it is trend.
	const kept = /embedding|decoder.*(out\.bias|down\.bias|trend\.weight)/;
	const some = Object.fromEntries(
		Object.entries(values).map(([name, data]) => [
			name,
			kept.test(name) && name !== "decoder.out.bias" ? data : data.map(() => 0),
		]),
	);
	const same = tokens.map(() => 6);
	const got = await evaluate({ answers }, { ...some, ...windowFeeds(same, 5, 0) });
	const wanted = values.embedding.slice(6 * dim, 7 * dim);
	for (const i of [0, 1]) {
		const layer = (name: string) => values[`decoder.layers.${i}.${name}`];
		const trends = [
			...layer("self.out.bias"),
			...layer("cross.out.bias"),
			...layer("feedForward.down.bias"),
		];
		for (let c = 0; c < dim; c++)
			for (const [j, trend] of trends.entries())
				wanted[c] += layer("trend.weight")[c * 3 * dim + j] * trend;
	}
	expect(relativeError(got.answers, Array.from({ length: 5 }, () => wanted).flat())).toBeLessThan(
		1e-5,
	);
});

test("the trends that the encoder took off are kept: what is seasonal has next to no mean", async () => {
	const { series, values } = built(settings());
	const { seasonal, trend } = series;
	const got = await evaluate({ seasonal, trend }, { ...values, ...windowFeeds(tokens, 5, 0) });
	const meanSize = (data: number[]) =>
		Array.from({ length: dim }, (_, c) =>
			Math.abs(data.filter((_, at) => at % dim === c).reduce((a, b) => a + b)),
		).reduce((a, b) => a + b);
	expect(meanSize(got.trend)).toBeGreaterThan(5 * meanSize(got.seasonal));
});

import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import type { Places } from "../kinds/decomposed.js";
import { dot } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { drawnWeights, oneWindow, windowFeeds } from "../testing/windows.js";
import * as informer from "./informer.js";

conformance("informer");

const tokens = [3, 3, 3, 5, 6, 7, 8, 5, 6];
const settings = (more: Record<string, unknown> = {}) =>
	informer.config.parse({
		...{ vocab: 12, window: tokens.length, ahead: 4, layers: 3, decoderLayers: 2, start: 7 },
		...{ heads: 2, dim: 6, ff: 8, factor: 1, ...more },
	});

function built(config: ReturnType<typeof settings>) {
	const { p, values } = drawnWeights(informer.weights(config), config.dim);
	const { window, queries } = oneWindow(config.window, config.ahead);
	const stages = informer.encoder(config, p, window);
	const answers = informer.decoder(config, p, stages.at(-1) as Places, window, queries);
	return { stages, views: informer.views(p, stages), answers, values };
}

test("each layer of the encoder has half the places, each place one view", () => {
	const { stages, views, answers } = built(settings());
	expect(stages.map(({ x }) => x.shape[1])).toEqual([9, 5, 3]);
	expect(views.shape).toEqual([1, 9, 6]);
	expect(answers.shape).toEqual([1, 4, 6]);
});

test("padding does not change the encoder, the hidden states or the predictions", async () => {
	const { views, answers, values } = built(settings());
	const { run, dispose } = await evaluatorOf({ views, answers });
	const at = (junk: number) => run({ ...values, ...windowFeeds(tokens, 4, 3, junk) });
	const [one, two] = [await at(0), await at(900)];
	expect(relativeError(two.answers, one.answers)).toBeLessThan(1e-5);
	expect(relativeError(two.views.slice(3 * 6), one.views.slice(3 * 6))).toBeLessThan(1e-5);
	await dispose();
});

test("with full attention, no prediction depends on a later query", async () => {
	const { answers, values } = built(settings({ factor: 100 }));
	const feeds = windowFeeds(tokens, 4, 3);
	const later = {
		...feeds,
		"seen.queryDays": feeds["seen.queryDays"].map((days, i) => days + (i > 1 ? 500 : 0)),
		"seen.queryGaps": feeds["seen.queryGaps"].map((gap, i) => gap + (i > 1 ? 500 : 0)),
	};
	const one = await evaluate({ answers }, { ...values, ...feeds });
	const two = await evaluate({ answers }, { ...values, ...later });
	expect(relativeError(two.answers.slice(0, 12), one.answers.slice(0, 12))).toBeLessThan(1e-5);
	expect(relativeError(two.answers.slice(12), one.answers.slice(12))).toBeGreaterThan(1e-3);
});

const [places, size, factor] = [9, 4, 1.3];
type Matrix = number[][];

const draw = random(17);
const matrix = (): Matrix =>
	Array.from({ length: places }, () => Array.from({ length: size }, () => draw.normal()));

/** The paper's algorithm 1, one query at a time: also which queries looked. */
function plain(
	q: Matrix,
	k: Matrix,
	v: Matrix,
	visible: boolean[][],
	causal: boolean,
): { y: Matrix; active: number[] } {
	const sampled = informer.sampledKeys(places, places, factor, causal);
	const scores = q.map((query) => k.map((key) => dot(query, key) / Math.sqrt(size)));
	const measure = scores.map((own, i) => {
		const chosen = own.filter((_, j) => visible[i][j] && sampled[i * places + j] === 1);
		if (chosen.length === 0) return Number.NEGATIVE_INFINITY;
		const keys = visible[i].filter(Boolean).length;
		return Math.max(...chosen) - chosen.reduce((a, b) => a + b) / keys;
	});
	const active = measure
		.map((_, i) => i)
		.sort((a, b) => measure[b] - measure[a])
		.slice(0, Math.ceil(factor * Math.log(places)));
	const y = scores.map((own, i) => {
		const seen = own.flatMap((_, j) => (visible[i][j] ? [j] : []));
		const weights = active.includes(i) ? seen.map((j) => Math.exp(own[j])) : seen.map(() => 1);
		const total = active.includes(i) || !causal ? weights.reduce((a, b) => a + b, 0) : 1;
		return v[0].map((_, c) =>
			seen.reduce((sum, j, at) => sum + (weights[at] / total) * v[j][c], 0),
		);
	});
	return { y, active };
}

describe.each([false, true])("causal: %s", (causal) => {
	// Two rows: one is whole, the other begins with three positions of padding.
	const padding = [0, 3];
	const rows = padding.map(() => ({ q: matrix(), k: matrix(), v: matrix() }));
	const visible = padding.map((first) =>
		Array.from({ length: places }, (_, i) =>
			Array.from({ length: places }, (_, j) => i >= first && j >= first && (!causal || j <= i)),
		),
	);
	const shape = [2, 1, places, size];
	const [q, k, v] = ["q", "k", "v"].map((name) => input(name, shape, "float64")) as [
		Tensor,
		Tensor,
		Tensor,
	];
	const out = informer.probSparseAttention(q, k, v, {
		...{ factor, causal, visible: input("visible", [2, 1, places, places], "float64") },
	});
	const feedsOf = (own: typeof rows) => ({
		q: own.flatMap(({ q }) => q.flat()),
		k: own.flatMap(({ k }) => k.flat()),
		v: own.flatMap(({ v }) => v.flat()),
		visible: visible.flat(2).map(Number),
	});
	const wanted = rows.map(({ q, k, v }, row) => plain(q, k, v, visible[row], causal));
	const isEvent = (row: number, i: number) => i >= padding[row];

	test("matches the plain algorithm at every event", async () => {
		const { y } = await evaluate({ y: out }, feedsOf(rows));
		for (const [row, { y: own }] of wanted.entries())
			for (let i = 0; i < places; i++) {
				if (!isEvent(row, i)) continue;
				const from = (row * places + i) * size;
				expect(relativeError(y.slice(from, from + size), own[i])).toBeLessThan(1e-12);
			}
		// Some look for themselves, and not all.
		expect(wanted[0].active.length).toBe(3);
	});

	test("a query learns where it looks, and nothing where it does not", async () => {
		const loss = out.mul(out).sum();
		const [slope] = gradients(loss, [q]) as [Tensor];
		const { run, dispose } = await evaluatorOf({ slope, loss });
		const { slope: got } = await run(feedsOf(rows));
		const step = 1e-6;
		for (const [row, { active }] of wanted.entries())
			for (let i = 0; i < places; i++) {
				if (!isEvent(row, i)) continue;
				const own = got.slice((row * places + i) * size, (row * places + i + 1) * size);
				if (!active.includes(i)) expect(own).toEqual([0, 0, 0, 0]);
				const lossAt = async (by: number) => {
					const moved = structuredClone(rows);
					moved[row].q[i][1] += by;
					return (await run(feedsOf(moved))).loss[0];
				};
				const difference = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step);
				expect(own[1]).toBeCloseTo(difference, 5);
			}
		await dispose();
	});
});

test("the keys by which queries are measured are drawn once and for all", () => {
	const keys = informer.sampledKeys(40, 52, 2, false);
	expect(informer.sampledKeys(40, 52, 2, false)).toEqual(keys);
	expect(informer.fewOf(52, 2)).toBe(8);
	const countOf = (query: number, all: readonly number[], of: number) =>
		all.slice(query * of, (query + 1) * of).reduce((a, b) => a + b);
	for (let query = 0; query < 40; query++) expect(countOf(query, keys, 52)).toBe(8);
	const firsts = new Set(
		Array.from({ length: 40 }, (_, i) => keys.slice(i * 52, i * 52 + 52).join()),
	);
	expect(firsts.size).toBe(40);
	const causal = informer.sampledKeys(52, 52, 2, true);
	for (let query = 0; query < 52; query++) {
		expect(countOf(query, causal, 52)).toBe(Math.min(8, query + 1));
		expect(causal.slice(query * 52 + query + 1, (query + 1) * 52)).not.toContain(1);
	}
});

test("one place, or more asked for than there are, is full attention", async () => {
	expect(informer.fewOf(1, 5)).toBe(1);
	expect(informer.fewOf(9, 100)).toBe(9);
	const q = input("x", [1, 1, 1, 2], "float64");
	const visible = input("visible", [1, 1, 1, 1], "float64");
	const { y } = await evaluate(
		{ y: informer.probSparseAttention(q, q, q, { factor: 5, visible }) },
		{ x: [3, 4], visible: [1] },
	);
	expect(y).toEqual([3, 4]);
});

describe("distilling", () => {
	const width = 3;
	const draw = random(5);
	const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());

	/** One place and one channel at a time: x [places][width] of which the first `padding` are padding. */
	function plain(x: number[][], padding: number, weight: number[], bias: number[]): number[][] {
		const places = x.length;
		const conv = x.map((_, t) =>
			bias.map((b, out) => {
				let y = b;
				for (let tap = 0; tap < 3; tap++) {
					const from = t + tap - 1;
					if (from < padding || from >= places) continue;
					for (let c = 0; c < width; c++) y += weight[(out * width + c) * 3 + tap] * x[from][c];
				}
				return y > 0 ? y : Math.exp(y) - 1;
			}),
		);
		return Array.from({ length: Math.ceil(places / 2) }, (_, j) =>
			bias.map((_, c) => {
				const around = [2 * j - 1, 2 * j, 2 * j + 1].filter((t) => t >= padding && t < places);
				return Math.max(-1, ...around.map((t) => conv[t][c]));
			}),
		);
	}

	test.each([
		[1, 0],
		[2, 1],
		[5, 0],
		[5, 1],
		[8, 0],
		[8, 3],
		[8, 4],
	])("%i places, %i of them padding, are halved", async (places, padding) => {
		const x = Array.from({ length: places }, () => numbers(width));
		const [weight, bias] = [numbers(width * width * 3), numbers(width)];
		const mask = x.map((_, t) => Number(t >= padding));
		const shapes: Record<string, number[]> = { weight: [width, width, 3], bias: [width] };
		const half = informer.distil((name) => input(name, shapes[name], "float64"), {
			x: input("x", [1, places, width], "float64"),
			mask: input("mask", [1, places], "float64"),
		});
		const got = await evaluate(
			{ y: half.x, known: half.mask },
			{ x: x.flat(), mask, weight, bias },
		);
		expect(half.x.shape).toEqual([1, Math.ceil(places / 2), width]);
		expect(relativeError(got.y, plain(x, padding, weight, bias).flat())).toBeLessThan(1e-12);
		expect(got.known).toEqual(
			Array.from({ length: Math.ceil(places / 2) }, (_, j) =>
				Math.max(...[2 * j - 1, 2 * j, 2 * j + 1].map((t) => mask[t] ?? 0)),
			),
		);
	});
});

import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { parameter } from "../../engine/tensor/index.js";
import { slotStates } from "../heads.js";
import { type EventBatch, lossFeeds, lossTerms, type ParameterValues } from "../model.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, testHistory, vocab } from "../testing/histories.js";
import { patchTst } from "./patchtst.js";

conformance("patchtst");

const settings = { layers: 2, heads: 2, dim: 4, ff: 6, window: 12, ahead: 3, patch: 3 };
const config = patchTst.config.parse({ ...settings, vocab, windows: 1 });
const { layers, heads, dim, window, ahead, patch } = settings;
const patches = window / patch;

/** Nothing is as it was at the start, running averages included. */
function someWeights(): ParameterValues {
	const draw = random(3);
	const weights = patchTst.init(config, random(5));
	for (const [name, { data }] of weights)
		for (let i = 0; i < data.length; i++)
			data[i] = data[i] + (name.endsWith("variance") ? draw.uniform() : 0.1 * draw.normal());
	return weights;
}
const weights = someWeights();
const symbols = Object.fromEntries(
	[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
);
const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
const weight = (name: string) => Array.from(weights.get(name)?.data ?? []);

type Vector = number[];
const dot = (a: Vector, b: Vector) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const plus = (a: Vector, b: Vector) => a.map((x, i) => x + b[i]);
const row = (name: string, i: number, width: number) =>
	weight(name).slice(i * width, (i + 1) * width);
const linear = (name: string, x: Vector) =>
	weight(`${name}.bias`).map((b, i) => b + dot(row(`${name}.weight`, i, x.length), x));
const gelu = (x: number) =>
	0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** With the running averages. */
const normed = (name: string, x: Vector) =>
	x.map((value, i) => {
		const of = (part: string) => weight(`${name}.${part}`)[i];
		return ((value - of("mean")) / Math.sqrt(of("variance") + 1e-5)) * of("scale") + of("shift");
	});

function attended(name: string, x: Vector[], mask: boolean[]): Vector[] {
	const [q, k, v] = ["query", "key", "value"].map((part) =>
		x.map((own) => linear(`${name}.${part}`, own)),
	) as [Vector[], Vector[], Vector[]];
	const width = dim / heads;
	return x.map((_, n) => {
		const out: Vector = [];
		for (let head = 0; head < heads; head++) {
			const part = (own: Vector) => own.slice(head * width, (head + 1) * width);
			const scores = k.map((key, m) =>
				mask[m] ? Math.exp(dot(part(q[n]), part(key)) / Math.sqrt(width)) : 0,
			);
			const total = scores.reduce((a, b) => a + b, 0);
			for (let i = 0; i < width; i++)
				out.push(scores.reduce((sum, s, m) => sum + (s / total) * part(v[m])[i], 0));
		}
		return linear(`${name}.out`, out);
	});
}

/** A vector for each patch of a window: tokens from its first event on, at its end. */
function reference(seen: readonly number[]): Vector[] {
	const start = window - seen.length;
	const place = (n: number) =>
		n < start ? Array<number>(dim).fill(0) : row("embedding", seen[n - start], dim);
	const mask = Array.from({ length: patches }, (_, m) => (m + 1) * patch > start);
	let x = mask.map((_, m) =>
		plus(
			linear("patch", Array.from({ length: patch }, (_, i) => place(m * patch + i)).flat()),
			row("positions", m, dim),
		),
	);
	for (let i = 0; i < layers; i++) {
		const found = attended(`layers.${i}.attention`, x, mask);
		x = x.map((own, m) => normed(`layers.${i}.attentionNorm`, plus(own, found[m])));
		x = x.map((own) => {
			const up = linear(`layers.${i}.feedForward.up`, own).map(gelu);
			const down = linear(`layers.${i}.feedForward.down`, up);
			return normed(`layers.${i}.feedForwardNorm`, plus(own, down));
		});
	}
	return x.map((own, m) => (mask[m] ? own : own.map(() => 0)));
}

const { sos } = specialTokens;

test("a place is seen as its patch restores it, in the space the head reads", async () => {
	const history = testHistory(6, 1);
	const batch = batchOf([history]);
	const { seen } = await evaluate(
		{ seen: slotStates(patchTst, config, symbols, batch).hidden },
		{ ...values, ...(patchTst.filler(config, batch)("slots") as Record<string, Int32Array>) },
	);
	// [SOS] and all but the last event: places 6 to 11.
	const wanted = reference([sos, ...history.tokens.slice(0, 5)]);
	const expected = [2, 3].flatMap((m) => linear("restore", wanted[m]));
	expect(relativeError(seen, expected)).toBeLessThan(1e-5);
});

test("events ahead are read off all patches at once, each by weights of its own", async () => {
	const history = testHistory(5, 2);
	const predictor = patchTst.predictor(nodeRuntime({ threads: 1 }), config, weights);
	const last = history.times.at(-1) as number;
	const { logProbabilities } = await predictor.score([history], [[last + 1, last + 2, last + 3]]);
	await predictor.dispose();
	const flat = linear("ahead", reference([sos, ...history.tokens]).flat());
	const expected = Array.from({ length: ahead }, (_, i) => {
		const view = flat.slice(i * dim, (i + 1) * dim);
		const logits = Array.from({ length: vocab }, (_, token) => dot(row("head", token, dim), view));
		const total = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
		return logits.map((x) => x - total);
	}).flat();
	expect(relativeError(logProbabilities, expected)).toBeLessThan(1e-5);
});

const { next } = patchTst.objectives;
const fedTo = (batch: EventBatch, seed: number) =>
	lossFeeds(patchTst, config, next, batch, { random: random(seed), horizon: 0 }, false);

describe("masking", () => {
	const batch = batchOf(Array.from({ length: 200 }, (_, i) => testHistory(14, i)));
	const { feeds, targets } = fedTo(batch, 1);
	const fed = feeds as Record<string, Int32Array | Float32Array>;
	const read = (name: string) => Array.from(fed[`masked.${name}`] ?? []);

	test("hides 40 % of the patches, each as a whole", () => {
		const [shown, mask, weights, tokens] = ["shown", "mask", "weights", "tokens"].map(read) as [
			Vector,
			Vector,
			Vector,
			Vector,
		];
		let hidden = 0;
		for (let from = 0; from < shown.length; from += patch) {
			const own = (list: Vector) => list.slice(from, from + patch);
			expect(new Set(own(shown)).size).toBe(1);
			if (shown[from]) continue;
			hidden++;
			expect(own(weights)).toEqual(own(tokens).map((token) => Number(token >= specialCount)));
		}
		expect(mask.every((x) => x === 1)).toBe(true);
		expect(hidden / (shown.length / patch)).toBeCloseTo(0.4, 1);
		expect(targets.masked).toBe(weights.filter((x) => x).length);
	});

	test("masked positions do not change the predictions at others", async () => {
		const [term] = lossTerms(patchTst, config, next, symbols, batch, false).terms;
		const loss = async (tokens: Int32Array) =>
			(await evaluate({ loss: term?.total }, { ...values, ...fed, "masked.tokens": tokens }))
				.loss[0];
		const tokens = Int32Array.from(read("tokens"));
		const other = tokens.map((token, cell) => (read("shown")[cell] ? token : specialCount));
		expect(await loss(other)).toBe(await loss(tokens));
	});
});

test("while it is learned from, rows to spare change neither the loss nor the running averages", async () => {
	const few = batchOf([testHistory(7, 1), testHistory(9, 2), testHistory(3, 3)]);
	const more = batchOf([testHistory(7, 1), testHistory(9, 2), testHistory(3, 3)], 9, 5);
	const { feeds } = fedTo(more, 2);
	const results = await Promise.all(
		[few, more].map((batch) => {
			const { terms, moving } = lossTerms(patchTst, config, next, symbols, batch, true);
			const moved = Object.entries(moving).map(([name, x]) => [`${name} after`, x]);
			expect(moved.length).toBe(4 * layers);
			return evaluate(
				{ loss: terms[0]?.total, ...Object.fromEntries(moved) },
				{
					...values,
					...Object.fromEntries(
						Object.entries(feeds).map(([name, data]) => [
							name,
							Array.from(data as Float32Array).slice(0, batch.rows * window),
						]),
					),
				},
			);
		}),
	);
	const [one, two] = results as [Record<string, Vector>, Record<string, Vector>];
	expect(one.loss?.[0]).toBeGreaterThan(0);
	for (const [name, data] of Object.entries(one))
		expect(relativeError(two[name], data), name).toBeLessThan(1e-5);
});

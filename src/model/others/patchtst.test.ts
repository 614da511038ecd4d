import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { slotStates } from "../heads.js";
import { type EventBatch, lossFeeds, lossTerms } from "../model.js";
import * as plain from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, testHistory, vocab } from "../testing/histories.js";
import { patchTst } from "./patchtst.js";

conformance("patchtst");

const settings = { layers: 2, heads: 2, dim: 4, ff: 6, window: 12, ahead: 3, patch: 3 };
const config = patchTst.config.parse({ ...settings, vocab, windows: 1 });
const { layers, heads, dim, window, ahead, patch } = settings;
const patches = window / patch;

const { weights, symbols, values, rows, linear, attention } = plain.plainWeights(
	patchTst.weights(config),
	{ noise: 0.1 },
);

/** With the running averages. */
const normed = (name: string, x: plain.Vector) =>
	x.map((value, i) => {
		const of = (part: string) => values[`${name}.${part}`][i];
		return ((value - of("mean")) / Math.sqrt(of("variance") + 1e-5)) * of("scale") + of("shift");
	});

/** A vector for each patch of a window: tokens from its first event on, at its end. */
function reference(seen: plain.Vector): plain.Matrix {
	const start = window - seen.length;
	const place = (n: number) =>
		n < start ? Array<number>(dim).fill(0) : rows("embedding")[seen[n - start]];
	const mask = Array.from({ length: patches }, (_, m) => (m + 1) * patch > start);
	let x: plain.Matrix = mask.map((_, m) =>
		plain.plus(
			linear("patch", Array.from({ length: patch }, (_, i) => place(m * patch + i)).flat()),
			rows("positions")[m],
		),
	);
	for (let i = 0; i < layers; i++) {
		const found = attention(`layers.${i}.attention`, x, heads, (_, m) => mask[m]);
		x = x.map((own, m) => normed(`layers.${i}.attentionNorm`, plain.plus(own, found[m])));
		x = x.map((own) => {
			const up = linear(`layers.${i}.feedForward.up`, own).map(plain.plainGelu);
			const down = linear(`layers.${i}.feedForward.down`, up);
			return normed(`layers.${i}.feedForwardNorm`, plain.plus(own, down));
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
		return plain.logSoftmax(rows("head").map((code) => plain.dot(code, view)));
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
		const [shown, mask, weights, tokens] = ["shown", "mask", "weights", "tokens"].map(read);
		let hidden = 0;
		for (let from = 0; from < shown.length; from += patch) {
			const own = (list: plain.Vector) => list.slice(from, from + patch);
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
	const [one, two] = results;
	expect(one.loss?.[0]).toBeGreaterThan(0);
	for (const [name, data] of Object.entries(one))
		expect(relativeError(two[name], data), name).toBeLessThan(1e-5);
});

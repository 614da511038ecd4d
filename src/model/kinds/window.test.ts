import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { parameter } from "../../engine/tensor/index.js";
import { type EventBatch, lossFeeds, lossTerms } from "../model.js";
import { linear, linearWeights } from "../nn/layers.js";
import { nested } from "../nn/weights.js";
import { batchOf } from "../testing/histories.js";
import { fields, modelSettings } from "./fields.js";
import { embedded, windowModel } from "./window.js";

const config = modelSettings({
	dim: fields.dim(4),
	window: fields.window.unwrap().default(4),
	ahead: fields.ahead.unwrap().default(3),
});

/** Views are the tokens' vectors; a query reads the last place and its own number. */
const plain = (pretraining: "masked" | "none", usesQueryTime = false) =>
	windowModel<z.infer<typeof config>>({
		...{
			id: "plain",
			name: "Plain",
			cite: "2026",
			config,
			presets: {},
			pretraining,
			usesQueryTime,
		},
		forecasts: "after pretraining",
		weights: ({ dim, ahead }) => nested("ask", linearWeights(dim, dim * ahead)),
		encode: (_, p, window) => embedded(p, window),
		query: ({ ahead, dim }, p, encoded) =>
			linear(p, "ask", encoded.slice(1, -1)).reshape([encoded.shape[0] as number, ahead, dim]),
	});

const settings = config.parse({ vocab: 12 });
const history = { tokens: [2, 5, 6, 7, 8, 9], times: [0, 2, 2, 6, 8, 16] };
const { sos, pad } = specialTokens;
type Plain = ReturnType<typeof plain>;

const fedTo = (
	model: Plain,
	own: typeof settings,
	batch: EventBatch,
	seed: number,
	learning = false,
) =>
	lossFeeds(
		model,
		own,
		model.objectives.next,
		batch,
		{ random: random(seed), horizon: 100 },
		learning,
	);

describe("a window", () => {
	test("ends at its last position; days count from the first, gaps from the position before", () => {
		const feeds = plain("none").filler(
			settings,
			batchOf([{ tokens: [2, 5, 6], times: [0, 2, 6] }]),
		)("slots");
		// The last event is asked about, never seen.
		expect([...(feeds["viewed.tokens"] ?? [])]).toEqual([pad, sos, 2, 5]);
		expect([...(feeds["viewed.days"] ?? [])]).toEqual([0, 0, 0, 2]);
		expect([...(feeds["viewed.gaps"] ?? [])]).toEqual([0, 0, 0, 2]);
		expect([...(feeds["viewed.mask"] ?? [])]).toEqual([0, 1, 1, 1]);
		expect([...(feeds["viewed.order"] ?? [])]).toEqual([1, 2, 3]);
	});

	test("holds the last events of a longer history, and its birth", () => {
		const feeds = plain("none").filler(settings, batchOf([history]))("slots");
		expect([...(feeds["viewed.tokens"] ?? [])]).toEqual([2, 6, 7, 8]);
		expect([...(feeds["viewed.days"] ?? [])]).toEqual([0, 2, 6, 8]);
		expect([...(feeds["viewed.gaps"] ?? [])]).toEqual([0, 2, 4, 2]);
		const unborn = { tokens: [5, 6, 7, 8, 9, 5], times: [0, 2, 2, 6, 8, 16] };
		const other = plain("none").filler(settings, batchOf([unborn]))("slots");
		expect([...(other["viewed.tokens"] ?? [])]).toEqual([6, 7, 8, 9]);
		expect([...(other["viewed.days"] ?? [])]).toEqual([0, 0, 4, 6]);
	});
});

describe("what comes after it", () => {
	const one = { ...settings, window: 5 }; // one window a row
	const asked = (usesQueryTime: boolean, seed: number) =>
		fedTo(plain("none", usesQueryTime), one, batchOf([history]), seed);

	test("are the next events in order, at their times, as far as there are any", () => {
		for (let seed = 0; seed < 20; seed++) {
			const { feeds, targets } = asked(false, seed);
			const last = (feeds["ahead.tokens"] as Int32Array).at(-1) as number;
			const cut = history.tokens.indexOf(last) + 1;
			const next = history.tokens.slice(cut, cut + 3);
			expect(targets.ahead).toBe(next.length);
			expect([...(feeds["ahead.targets"] as Int32Array)].slice(0, next.length)).toEqual(next);
			expect([...(feeds["ahead.weights"] as Float32Array)]).toEqual(
				[0, 1, 2].map((i) => Number(i < next.length)),
			);
			const gaps = [...(feeds["ahead.queryGaps"] as Float32Array)].slice(0, next.length);
			expect(gaps).toEqual(next.map((_, i) => history.times[cut + i] - history.times[cut - 1]));
		}
	});

	test("are any later events, where the network knows of times", () => {
		const first = new Set(
			Array.from(
				{ length: 40 },
				(_, seed) => (asked(true, seed).feeds["ahead.targets"] as Int32Array)[2],
			),
		);
		expect(first.has(9)).toBe(true); // the last of all, from an early cut
	});
});

describe("masking", () => {
	test("masks about 40 % of the codes, and only those are targets", async () => {
		const model = plain("masked");
		const batch = batchOf(Array.from({ length: 60 }, () => history));
		const { feeds, targets } = fedTo(model, settings, batch, 1);
		const shown = feeds["masked.shown"] as Float32Array;
		const mask = feeds["masked.mask"] as Float32Array;
		const tokens = feeds["masked.tokens"] as Int32Array;
		const weights = feeds["masked.weights"] as Float32Array;
		const codes = tokens.filter((token) => token >= 5).length;
		expect(targets.masked / codes).toBeCloseTo(0.4, 1);
		for (const [cell, token] of tokens.entries()) {
			expect(weights[cell]).toBe(mask[cell] - shown[cell]);
			if (weights[cell]) expect((feeds["masked.targets"] as Int32Array)[cell]).toBe(token);
		}
		// What is hidden has no say.
		const symbols = { embedding: parameter("embedding", [12, 4]) };
		const window = {
			tokens: parameter("tokens", [60 * 2, 4], "int32"),
			shown: parameter("shown", [60 * 2, 4]),
		};
		const vectors = embedded((name) => symbols[name as "embedding"], window as never);
		const { sums } = await evaluate(
			{ sums: vectors.add(0) },
			{ embedding: new Float32Array(48).fill(1), tokens, shown },
		);
		expect(sums).toEqual([...shown].flatMap((x) => [x, x, x, x]));
	});
});

describe("penalties", () => {
	const model = windowModel<z.infer<typeof config>>({
		...{ id: "plain", name: "Plain", cite: "2026", config, presets: {}, pretraining: "none" },
		...{ forecasts: "after pretraining", usesQueryTime: true, penalties: ["size"] },
		weights: () => ({}),
		encode(_, p, window, side) {
			if (side) side.penalties.size = p("embedding").sumSquares();
			return embedded(p, window);
		},
		query: ({ ahead }, _p, encoded) => encoded.slice(1, 0, ahead),
	});

	test("are terms of what is learned from, and none of what is only measured", () => {
		const batch = batchOf([history]);
		const parameters = {
			embedding: parameter("embedding", [12, 4]),
			head: parameter("head", [12, 4]),
		};
		const named = (learning: boolean) => ({
			terms: lossTerms(
				...([model, settings, model.objectives.next, parameters, batch, learning] as const),
			).terms.map(({ name }) => name),
			targets: fedTo(model, settings, batch, 1, learning).targets,
		});
		expect(named(true)).toMatchObject({ terms: ["ahead", "size"], targets: { size: 1 } });
		expect(named(false).terms).toEqual(["ahead"]);
		expect(Object.keys(named(false).targets)).toEqual(["ahead"]);
	});
});

import { describe, expect, test } from "vitest";
import { specialCount, type Token, vocabularyOf } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { gather, input, type Tensor } from "../../engine/tensor/index.js";
import type { Model } from "../../model/index.js";
import type { TrajgptConfig } from "../../model/trajgpt/config.js";
import { predictor } from "../../model/trajgpt/state.js";
import { smallDataset } from "../testing/small-dataset.js";
import { smallTrajgpt } from "../testing/small-trajgpt.js";
import { chooseSmoothing, countScores, type EventScores } from "./scores.js";
import { nextEventScores } from "./task.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const [birth, a, b, c] = [2, 5, 6, 7];

/** Knows the event before alone: its logits are a row of a table. */
const bigram: Model = {
	id: "bigram",
	name: "bigram",
	cite: "",
	config: undefined as never,
	presets: {},
	pretraining: "next",
	forecasting: { methods: [], after: "pretraining" },
	usesQueryTime: false,
	predictsEachEvent: true,
	init: () => new Map(),
	weights: () => ({}),
	states(_, { table }, { rows, length }) {
		const logits = gather(table as Tensor, input("before", [rows, length], "int32"));
		return [{ hidden: logits, logits }];
	},
	predictor: undefined as never,
	objectives: { next: [], horizon: [], visits: [] },
	filler:
		(_, { tokens, length }) =>
		() => ({
			before: tokens.map((_, at) => (at % length === 0 ? 1 : (tokens[at - 1] as number))),
		}),
};

/** Probabilities in eighths by the token before; rows not named are even. */
const tableOf = (rows: Readonly<Record<number, readonly number[]>>) =>
	Float32Array.from({ length: 64 }, (_, at) =>
		Math.log(((rows[Math.floor(at / 8)]?.[at % 8] ?? 1) || 1e-6) / 8),
	);

const dataset = smallDataset(
	[6, 3, 1],
	[
		{ split: "test", tokens: [a, b, b, c] },
		{ split: "valid", tokens: [a, a] },
		{ split: "test", tokens: [b, c], birth: -20 },
		{ split: "test", tokens: Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? a : b)) },
	],
);

const bigramWith = (rows: Readonly<Record<number, readonly number[]>>, model: Model = bigram) => ({
	model,
	config: undefined,
	weights: new Map([["table", { shape: [8, 8], data: tableOf(rows) }]]),
});

describe("nextEventScores", () => {
	const sums = ({ column }: EventScores) => ({
		events: [...column("events")],
		correct: [...column("correct")],
		ofNew: [...column("events", "new")],
		newCorrect: [...column("correct", "new")],
		ofFirst: [...column("events", "first")],
		among10: [...column("among10")],
	});
	const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));

	test("equal those computed by hand", async () => {
		const trained = bigramWith({
			[birth]: [0, 0, 0, 0, 0, 4, 2, 2],
			[a]: [0, 0, 0, 0, 0, 1, 5, 2],
			[b]: [0, 0, 0, 0, 0, 5, 1, 2],
		});
		const scores = await nextEventScores(runtime, trained, dataset, "test");
		// b, b, c after a, b, b: only the first is the likeliest. The first event is not predicted …
		const first = Math.log(5 / 8) + Math.log(1 / 8) + Math.log(2 / 8);
		// … but after a birth it is.
		const second = Math.log(2 / 8) + Math.log(2 / 8);
		expect([...scores.patients]).toEqual([0, 2, 3]);
		// New codes of the first patient: b (predicted) and c; of the second: both; of the third: the second.
		expect(sums(scores)).toEqual({
			events: [3, 2, 39],
			correct: [1, 0, 39],
			ofNew: [2, 2, 1],
			newCorrect: [1, 0, 1],
			// Each event has a day of its own, and no values; there are but three codes.
			ofFirst: [3, 2, 39],
			among10: [3, 2, 39],
		});
		const expected = close([first, second, 39 * Math.log(5 / 8)]);
		expect([...scores.column("logLikelihood")]).toEqual(expected);
		expect([...scores.column("withValues")]).toEqual(expected);
		expect(scores.total("events", "known")).toBe(44 - 5);
	});

	test("are the same for a model with a short context, if it needs no more", async () => {
		const rows = { [a]: [0, 0, 0, 0, 0, 1, 5, 2], [b]: [0, 0, 0, 0, 0, 4, 1, 3] };
		const all = await nextEventScores(runtime, bigramWith(rows), dataset, "test");
		const short = bigramWith(rows, { ...bigram, context: () => 5 });
		const cut = await nextEventScores(runtime, short, dataset, "test");
		expect(sums(cut)).toEqual(sums(all));
		for (const group of ["all", "new", "first"] as const)
			expect([...cut.column("logLikelihood", group)]).toEqual(
				close([...all.column("logLikelihood", group)]),
			);
	});

	test("take the first event of a day apart", async () => {
		const trained = bigramWith({ [a]: [0, 0, 0, 0, 0, 1, 5, 2], [b]: [0, 0, 0, 0, 0, 5, 1, 2] });
		const days = smallDataset(
			[6, 3, 1],
			[{ split: "test", tokens: [a, b, b, a], times: [1, 1.5, 2.25, 2.5] }],
		);
		const scores = await nextEventScores(runtime, trained, days, "test");
		expect(sums(scores)).toMatchObject({ events: [3], correct: [2], ofFirst: [1] });
		expect(scores.total("correct", "first")).toBe(0);
		expect(scores.total("logLikelihood", "first")).toBeCloseTo(Math.log(1 / 8), 4);
		expect(scores.total("correct", "rest")).toBe(2);
	});

	test("are of codes where values have tokens of their own", async () => {
		const range = (quantile: number) => ({
			...{ code: "b", name: "B", unit: null, quantile, of: 2 },
			...(quantile === 1 ? { low: null, high: 3 } : { low: 3, high: null }),
		});
		const { tokens } = dataset.vocabulary;
		const vocabulary = vocabularyOf([
			tokens[a] as Token,
			{ ...(tokens[b] as Token), code: "b Q1", value: range(1) },
			{ ...(tokens[c] as Token), code: "b Q2", value: range(2) },
		]);
		const trained = bigramWith({ [a]: [0, 0, 0, 0, 0, 3, 2, 3], [b]: [0, 0, 0, 0, 0, 5, 2, 1] });
		const scores = await nextEventScores(runtime, trained, { ...dataset, vocabulary }, "test");
		// b, b, c after a, b, b: c is another value of b, which the patient had by then.
		expect(scores.column("logLikelihood")[0]).toBeCloseTo(Math.log(5 / 8) + 2 * Math.log(3 / 8), 4);
		expect(scores.column("withValues")[0]).toBeCloseTo(2 * Math.log(2 / 8) + Math.log(1 / 8), 4);
		const { events, correct, ofNew, newCorrect } = sums(scores);
		expect([events[0], correct[0], ofNew[0], newCorrect[0]]).toEqual([3, 1, 1, 1]);
	});

	test("of TrajGPT equal its predictions event by event", async () => {
		const trained = smallTrajgpt(3, { layers: 2 });
		const scores = await nextEventScores(runtime, trained, dataset, "test");
		const asked = predictor(runtime, trained.config as TrajgptConfig, trained.weights);
		for (const [i, patient] of scores.patients.entries()) {
			const { tokens, times } = await dataset.read(patient);
			let [sum, hits] = [0, 0];
			for (let n = 1; n < tokens.length; n++) {
				const past = { tokens: tokens.subarray(0, n), times: times.subarray(0, n) };
				const { logProbabilities } = await asked.score([past], [[times[n] as number]]);
				const own = logProbabilities[tokens[n] as number] as number;
				sum += own;
				hits += Number(logProbabilities.subarray(specialCount).every((p) => p <= own));
			}
			expect(scores.column("events")[i]).toBe(tokens.length - 1);
			expect(scores.column("logLikelihood")[i]).toBeCloseTo(sum, 3);
			expect(scores.column("correct")[i]).toBe(hits);
		}
		await asked.dispose();
	});
});

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
		// The first event counts after a birth, which does not count as a past event: c 0.1, then a 1.2/3.
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

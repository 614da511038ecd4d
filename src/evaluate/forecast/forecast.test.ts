import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import type { Dataset } from "../../cohort/index.js";
import { modelById } from "../../models/index.js";
import { nodeRuntime } from "../../runtime/node.js";
import type { Trained } from "../../train/index.js";
import { statisticsOf } from "../by-patient.js";
import { evaluateDefaults } from "../options.js";
import { smallDataset } from "../testing/small-dataset.js";
import { forecastTask } from "./index.js";
import { globalRanker, historyRanker, modelRanker, splitHistory } from "./ranks.js";
import { recallRatios, windowRecalls } from "./recall.js";

const [a, b, c] = [5, 6, 7];

/** In training: a 6, b 3, c 1 of 10. */
const people = smallDataset(
	[6, 3, 1],
	[
		{ split: "test", tokens: [c, b, c, a, b, c] },
		{ split: "test", tokens: [b, b, c, b], birth: -3 },
		{ split: "test", tokens: [a, a] },
		{ split: "train", tokens: [a, b, c] },
	],
);
// The source of a dataset in memory is nowhere.
const dataset: Dataset = {
	...people,
	manifest: { source: { path: "nowhere" } } as Dataset["manifest"],
};
const options = { ...evaluateDefaults, lookup: 2, draws: 100 };
const cut = (patient: number) => splitHistory(dataset, patient, 2, 100);

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const model = modelById("trajgpt");
const config = model.config.parse({
	...{ layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16 },
	vocab: 8,
});
const weights = model.init(config, random(3));

describe("the look-up window", () => {
	test("does not count the birth event", async () => {
		const { known, later } = await cut(1);
		expect([...known.tokens].slice(1)).toEqual([b, b]);
		expect([...known.times]).toEqual([-3, 0, 1]);
		expect([...later.tokens]).toEqual([c, b]);
		expect([...later.times]).toEqual([2, 3]);
	});
});

describe("ranks of the frequency baselines, computed by hand", () => {
	test("own history: c and b once each, b more frequent in training; then a", async () => {
		const [first, second] = await historyRanker(dataset)([await cut(0), await cut(1)]);
		expect([...first!]).toEqual([1, 2, 0, 1]); // c a b c
		expect([...second!]).toEqual([2, 0]); // after b b: b, a, c
	});

	test("global: a, b, c", async () => {
		const [first] = await globalRanker(dataset)([await cut(0)]);
		expect([...first!]).toEqual([2, 0, 1, 2]);
	});
});

describe("ranks of a model", () => {
	test("time-specific: each event at its own time, from the window only", async () => {
		const predictor = model.predictor(runtime, config, weights);
		const patients = [await cut(0), await cut(1)];
		const ranks = await modelRanker(predictor, "time-specific")(patients);
		for (const [i, { known, later }] of patients.entries()) {
			expect(ranks[i]).toHaveLength(later.tokens.length);
			const state = await predictor.observe(predictor.start(1), [known]);
			for (const [at, token] of later.tokens.entries()) {
				const { logProbabilities } = await predictor.query(state, [[later.times[at]!]]);
				const codes = logProbabilities.subarray(5);
				const own = logProbabilities[token]!;
				expect(ranks[i]![at]).toBe(codes.filter((p) => p > own).length);
			}
		}
		await predictor.dispose();
	});
});

describe("recall", () => {
	const ranks = [Int32Array.of(0, 4, 9, 20), Int32Array.of(0)];
	const recallStatistics = (own: readonly Int32Array[]) =>
		statisticsOf({ ratios: recallRatios(own) });

	test("is averaged over patients, not over events", () => {
		const all = [1, 1];
		const { "recall@1": one, "recall@5": five, "recall@10": ten } = recallStatistics(ranks);
		expect(one!(all)).toBe((1 / 4 + 1) / 2);
		expect(five!(all)).toBe((2 / 4 + 1) / 2);
		expect(ten!(all)).toBe((3 / 4 + 1) / 2);
	});

	test("by window counts patients with events there", () => {
		const long = Int32Array.from({ length: 60 }, (_, i) => (i < 25 ? 0 : 99));
		const statistics = recallStatistics([long, Int32Array.of(99)]);
		expect(statistics["recall@10 1–20"]!([1, 1])).toBe(0.5);
		expect(statistics["recall@10 21–50"]!([1, 1])).toBe(5 / 30);
		expect(windowRecalls([long, Int32Array.of(99)])).toEqual([[1, 0], [5 / 30], [0]]);
		expect(Object.keys(recallStatistics(ranks))).not.toContain("recall@10 21–50");
	});
});

describe("forecastTask", () => {
	test("leaves out and counts patients without a later event, and names rows and differences", async () => {
		const evaluate = await forecastTask(dataset, options);
		const measured = await evaluate(runtime, { model, config, weights } as Trained);
		expect(measured).toMatchObject({ task: "forecast", patients: 2, events: 6 });
		expect(measured.notes).toContain(
			"1 of 3 patients have no event after the first 2 and are left out",
		);
		const labels = measured.rows.map(({ label }) => label);
		expect(labels).toEqual([
			"TrajGPT, time-specific",
			"TrajGPT, auto-regressive",
			"own history",
			"code frequencies",
		]);
		const history = measured.rows[2]!.metrics;
		expect(history["recall@1"]!.value).toBe((1 / 4 + 1 / 2) / 2);
		expect(history["recall@5"]).toEqual({ value: 1, low: 1, high: 1 });
		expect(measured.differences?.map(({ row, than }) => [row, than])).toContainEqual([
			"TrajGPT, time-specific",
			"own history",
		]);
		const model1 = measured.rows[0]!.metrics["recall@1"]!.value;
		expect(measured.differences?.[1]?.metrics["recall@1"]?.value).toBeCloseTo(model1 - 0.375, 12);
		expect(measured.windows?.map(({ window }) => window)).toEqual(["1–20", "21–50", "51–100"]);
		expect(measured.windows?.[0]?.rows[2]).toMatchObject({ who: "history", recall: [1, 1] });
	});

	test("is rejected if no patient has a later event", async () => {
		await expect(forecastTask(dataset, { ...options, lookup: 6 })).rejects.toThrow(
			"none of the 3 patients of split test has an event after the first 6; choose a shorter `lookup`",
		);
	});
});

import { describe, expect, test } from "vitest";
import type { Dataset } from "../../data/cohort/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Trained } from "../../model/train/index.js";
import { ratioStatistics } from "../bootstrap.js";
import { evaluateDefaults } from "../evaluation.js";
import { smallDataset } from "../testing/small-dataset.js";
import { smallTrajgpt } from "../testing/small-trajgpt.js";
import * as forecasts from "./task.js";

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
const cut = (patient: number) => forecasts.splitHistory(dataset, patient, 2, 100);

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const { model, config, weights } = smallTrajgpt(3, { layers: 2 });

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
	test.each([
		// After c b: c and b once each, b more frequent in training, then a. After b b: b, a, c.
		["own history", true, [1, 2, 0, 1], [2, 0]],
		["global: a, b, c", false, [2, 0, 1, 2], [2, 1]],
	])("%s", async (_, ofWindow, ofFirst, ofSecond) => {
		const ranks = await forecasts.countRanker(dataset, { ofWindow })([await cut(0), await cut(1)]);
		expect(ranks.map((own) => [...own])).toEqual([ofFirst, ofSecond]);
	});
});

describe("ranks of a model", () => {
	test("time-specific: each event at its own time, from the window only", async () => {
		const predictor = model.predictor(runtime, config, weights);
		const patients = [await cut(0), await cut(1)];
		const ranks = await forecasts.modelRanker(predictor, "time-specific")(patients);
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
	const known = (own: readonly Int32Array[]) =>
		own.map((one) => ({ ranks: one, isNew: new Uint8Array(one.length) }));
	const recallStatistics = (own: readonly Int32Array[]) =>
		ratioStatistics(forecasts.recallRatios(known(own)));

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
		expect(
			forecasts.windowRecalls(known([long, Int32Array.of(99)])).map(({ recall }) => recall),
		).toEqual([[1, 0], [5 / 30], [0]]);
		expect(Object.keys(recallStatistics(ranks))).not.toContain("recall@10 21–50");
	});
});

describe("recall of known and of new codes", () => {
	const patients = [
		{ ranks: Int32Array.of(0, 4, 20, 9), isNew: Uint8Array.of(0, 0, 1, 1) },
		{ ranks: Int32Array.of(0, 30, 0), isNew: Uint8Array.of(1, 0, 0) },
	];
	const statistics = ratioStatistics(forecasts.recallRatios(patients));
	const all = [1, 1];

	test("divides each patient as the patient's events are", () => {
		// Shares of known codes: 2/4 and 2/3; hits among them: 2/4 and 1/3.
		expect(statistics["recall@10 known"]!(all)).toBeCloseTo((2 / 4 + 1 / 3) / (2 / 4 + 2 / 3), 12);
		expect(statistics["recall@10 new"]!(all)).toBeCloseTo((1 / 4 + 1 / 3) / (2 / 4 + 1 / 3), 12);
		expect(statistics["recall@10 1–20 new"]!(all)).toBe(statistics["recall@10 new"]!(all));
	});

	test("makes up the recall of all codes, weighted by their shares", () => {
		const share = (2 / 4 + 1 / 3) / 2;
		for (const depth of [1, 5, 10, 15])
			expect(
				share * statistics[`recall@${depth} new`]!(all) +
					(1 - share) * statistics[`recall@${depth} known`]!(all),
			).toBeCloseTo(statistics[`recall@${depth}`]!(all), 12);
	});

	test("by window lists patients who have such codes", () => {
		const [near] = forecasts.windowRecalls([
			patients[0]!,
			{ ranks: Int32Array.of(3), isNew: Uint8Array.of(0) },
		]);
		expect(near).toEqual({ recall: [3 / 4, 1], recallKnown: [1, 1], recallNew: [1 / 2] });
	});
});

describe("forecastTask", () => {
	test("leaves out and counts patients without a later event, and names rows and differences", async () => {
		const evaluate = await forecasts.forecastTask(dataset, options);
		const run = { dataset: { contentHash: dataset.manifest.contentHash } };
		const measured = await evaluate(runtime, { model, config, weights, run } as unknown as Trained);
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
		// Patient 0 gets a, b, c, a … after c, b: new is a alone.
		expect(measured.newCodes?.value).toBe((1 / 4 + 1 / 2) / 2);
		expect(history["recall@1 new"]!.value).toBe(0);
	});

	test("is rejected if no patient has a later event", async () => {
		await expect(forecasts.forecastTask(dataset, { ...options, lookup: 6 })).rejects.toThrow(
			"none of the 3 patients of split test has an event after the first 6; choose a shorter `lookup`",
		);
	});
});

import { describe, expect, test } from "vitest";
import { isoDate } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Trained } from "../../model/train/index.js";
import { evaluateDefaults, type RowPredictions } from "../evaluation.js";
import { ranking } from "../metrics.js";
import { smallDataset, twoKinds } from "../testing/small-dataset.js";
import { smallTrajgpt } from "../testing/small-trajgpt.js";
import { onsetTask } from "./task.js";

const [disease, cause, other] = [5, 6, 7];
const indexDay = 1000;

const observed = [{ start: 0, end: 1500 }];
/** Half of the patients have the cause on day 500; these get the disease on day 1100, all of them. */
const people = twoKinds(
	{ tokens: [other, cause, disease], times: [10, 500, 1100] },
	{ tokens: [other, other], times: [10, 500] },
).map((person) => ({ ...person, observed }));
/** One patient has the disease before the index day, one is not observed on it. */
const dataset: Dataset = {
	...smallDataset(
		[9, 8, 7],
		[
			...people,
			{ split: "test", tokens: [disease], times: [20], observed },
			{ split: "test", tokens: [other], times: [20], observed: [{ start: 0, end: 900 }] },
		],
	),
	manifest: {
		...{ labels: [], deaths: 0, observation: { from: "file" } },
		source: { path: "nowhere", axis: "dates" },
	} as unknown as Dataset["manifest"],
};
const options = {
	...{ ...evaluateDefaults, draws: 20, horizons: [0.2, 1] },
	index: isoDate(indexDay),
};
const runtime = nodeRuntime({ threads: 1, purpose: "inference" });

describe("onsetTask", () => {
	test("scores each row on what followed the index day", async () => {
		const measure = await onsetTask(dataset, options);
		const { rows, onset, notes, patients } = await measure(runtime);
		expect(patients).toBe(121);
		expect(notes.join()).toContain("patients without an index day: 1 not observed");
		expect(notes.join()).toContain("not measured at 0.2 years");
		expect(onset!.horizons).toHaveLength(1);
		expect(onset!.codes).toEqual([
			expect.objectContaining({ code: "a", years: 1, onsets: 60, atRisk: 120 }),
		]);
		const [ageSex, regression] = rows;
		expect(ageSex!.label).toBe("age and sex");
		// All are women of unknown age, so all have the same risk.
		expect(ageSex!.metrics["auroc 1y"]).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
		expect(ageSex!.metrics["averagePrecision 1y"]!.value).toBeCloseTo(0.5, 12);
		const { low, high } = ageSex!.metrics["weightedCalibrationError 1y"]!;
		expect(high - low).toBeGreaterThan(0.05);
		// The cause tells who gets the disease.
		expect(regression!.metrics["auroc 1y"]).toEqual({ value: 1, low: 1, high: 1 });
		expect(regression!.metrics["averagePrecision 1y"]!.value).toBe(1);
	});

	test("has no subgroup in which nobody stays without the code", async () => {
		const men = Array.from({ length: 240 }, () => ({
			split: "test" as const,
			sex: "male" as const,
			observed: [{ start: 0, end: 1200 }],
			tokens: [other, disease],
			times: [10, 1100],
		}));
		const withMen = { ...smallDataset([9, 8, 7], [...people, ...men]), manifest: dataset.manifest };
		const measure = await onsetTask(withMen, options);
		const { onset } = await measure(runtime);
		expect(onset!.subgroups.map(({ name }) => name)).toEqual(["female"]);
		expect(onset!.subgroups[0]!.rows[0]!.auroc).toBe(0.5);
	});

	test("learns the regression from as many training patients as asked for", async () => {
		const measured = async (regressionPatients: number) => {
			const measure = await onsetTask(dataset, { ...options, regressionPatients });
			const { rows, notes } = await measure(runtime);
			return { notes: notes.join(), ...rows[1]!.metrics["observedToExpected 1y"]! };
		};
		const [all, half] = [await measured(120), await measured(60)];
		expect(all.notes).not.toContain("learned from");
		expect(half.notes).toContain("learned from 60 (evenly spread) of 120 training patients");
		// Every second patient has the cause and the disease, so nobody seems to stay well.
		expect(half.value).toBeLessThan(0.8 * all.value);
	});

	const trained = smallTrajgpt(3, { hasHazards: true }) as unknown as Trained;

	test("passes on the predictions of a code, from which its numbers follow", async () => {
		const observed = [{ start: 0, end: 1200 }];
		const censored = { split: "test" as const, tokens: [other], times: [20], observed };
		const { manifest } = dataset;
		const followed = { ...smallDataset([9, 8, 7], [...people, censored]), manifest };
		const told: RowPredictions[] = [];
		const measure = await onsetTask(followed, {
			...{ ...options, code: "a", baselines: false },
			onPredictions: (found) => told.push(found),
		});
		const { rows } = await measure(runtime, trained);
		const [{ row, predictions }] = told as [RowPredictions];
		expect(row).toBe("TrajGPT");
		expect(predictions).toHaveLength(121);
		expect(predictions.filter(({ label }) => label)).toHaveLength(60);
		const unknown = predictions.filter(({ label }) => label === null);
		expect(unknown).toEqual([expect.objectContaining({ weight: 0, horizonDays: 365 })]);
		const known = predictions.filter(({ label }) => label !== null);
		const stand = known.map(({ weight = 1 }) => weight);
		expect(stand.reduce((a, b) => a + b, 0)).toBeCloseTo(121, 9);
		const { auroc } = ranking(
			known.map(({ label }) => Number(label)),
			known.map(({ probability }) => probability),
		);
		expect(auroc(stand)).toBeCloseTo(rows[0]!.metrics["auroc 1y"]!.value, 9);
	});

	test.each([
		[undefined, "name it with `code`"],
		["z", 'code "z" is not in the vocabulary'],
	])("refuses to pass on predictions of code %s", async (code, reason) => {
		const asked = { ...options, ...(code !== undefined && { code }), onPredictions: () => {} };
		await expect(onsetTask(dataset, asked)).rejects.toThrow(reason);
	});

	test("leaves out baselines that cannot be learned, and horizons that nobody is followed for", async () => {
		const unknown = people
			.filter(({ split }) => split !== "valid")
			.map(({ sex: _, ...person }) => person);
		const { manifest } = dataset;
		const horizons = [1, 50];
		const measure = await onsetTask(
			{ ...smallDataset([9, 8, 7], unknown), manifest },
			{ ...options, horizons },
		);
		const { rows, notes } = await measure(runtime, trained);
		expect(rows.map(({ label }) => label)).toEqual(["TrajGPT"]);
		expect(notes).toContain("no row of age and sex: neither is known of anybody");
		expect(notes.join()).toContain("no regression and no trees: there are no validation patients");
		expect(notes.join()).toContain("not measured at 50 years");
	});

	test("has a row of the model, with differences to the others", async () => {
		const measure = await onsetTask(dataset, options);
		const { rows, differences } = await measure(runtime, trained);
		expect(rows.map(({ label }) => label)).toEqual([
			"TrajGPT",
			"age and sex",
			"lasso regression",
			"boosted trees",
		]);
		const own = rows[0]!.metrics["auroc 1y"]!.value;
		expect(differences!.map(({ than }) => than)).toEqual([
			"age and sex",
			"lasso regression",
			"boosted trees",
		]);
		expect(differences![1]!.metrics["auroc 1y"]!.value).toBeCloseTo(own - 1, 12);
	});

	test("learns nothing from records after a cut", async () => {
		// Those who had the disease by then did not have the cause, so nothing can tell who will get it.
		const early = Array.from({ length: 60 }, () => ({
			split: "train" as const,
			sex: "female" as const,
			observed,
			tokens: [other, other, disease],
			times: [10, 500, 900],
		}));
		const { manifest } = dataset;
		const withEarly = { ...smallDataset([9, 8, 7], [...people, ...early]), manifest };
		const { index: _index, ...others } = options;
		const measure = await onsetTask(withEarly, { ...others, before: indexDay });
		const { rows, onset, notes } = await measure(runtime);
		expect(onset!.index).toBe(isoDate(indexDay));
		expect(notes.join()).toContain(`up to ${isoDate(indexDay)}`);
		for (const { metrics } of rows) {
			expect(metrics["logLoss 1y"]!.value).toBeGreaterThan(
				rows[0]!.metrics["logLoss 1y"]!.value - 1e-4,
			);
			expect(metrics["observedToExpected 1y"]!.value).toBeGreaterThan(1.5);
		}
	});

	test.each([
		[
			"1950-01-01",
			"no patient of split test is at risk after index 1950-01-01 (patients by reason: 122 not observed at the index day; the last record of everybody is on 1973-01-05); choose another `index`",
		],
		[
			"1974-01-01",
			"the index days of all 121 patients at risk are on or after their last record (index 1974-01-01; the last record of everybody is on 1973-01-05), so that no onset can follow; choose an earlier `index`",
		],
	])("refuses index %s, after which nobody is at risk or has a record", async (index, reason) => {
		await expect(onsetTask(dataset, { ...options, index })).rejects.toThrow(reason);
	});

	test("refuses a date where times are not dates", async () => {
		const { manifest } = dataset;
		const undated = {
			...dataset,
			manifest: { ...manifest, source: { ...manifest.source, axis: "days" as const } },
		};
		await expect(onsetTask(undated, options)).rejects.toThrow(
			`has no dates, so the index cannot be ${isoDate(indexDay)}; choose random, visit or age:N`,
		);
	});
});

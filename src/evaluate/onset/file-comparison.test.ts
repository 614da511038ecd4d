import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isoDate } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import type { Trained } from "../../model/train/index.js";
import { evaluateDefaults, type LabelPrediction } from "../evaluation.js";
import { smallDataset, twoKinds } from "../testing/small-dataset.js";
import { smallTrajgpt } from "../testing/small-trajgpt.js";
import { onsetTask } from "./task.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-compare-"));
afterAll(() => rmSync(folder, { recursive: true }));
const writtenAs = (name: string, lines: readonly string[]) => {
	const file = join(folder, name);
	writeFileSync(file, `${lines.join("\n")}\n`);
	return file;
};

const [a, b, c] = [5, 6, 7];
const indexDay = 1000;
const observed = [{ start: 0, end: 1800 }];
/** After the index day, every second patient gets a and the others b. */
const people = twoKinds(
	{ tokens: [c, a], times: [10, 1100] },
	{ tokens: [c, b], times: [10, 1200] },
).map((person) => ({ ...person, observed }));
/** The last patient is not observed on the index day. */
const dataset: Dataset = {
	...smallDataset(
		[9, 8, 7],
		[...people, { split: "test", tokens: [c], times: [20], observed: [{ start: 0, end: 900 }] }],
	),
	manifest: {
		labels: [],
		deaths: 0,
		observation: { from: "file" },
		source: { path: "nowhere", axis: "dates" },
	} as unknown as Dataset["manifest"],
};
const options = {
	...evaluateDefaults,
	draws: 20,
	horizons: [1, 2],
	baselines: false,
	index: isoDate(indexDay),
};
const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const trained = smallTrajgpt(3, { hasHazards: true }) as unknown as Trained;

async function comparedWith(file: string, more: { readonly baselines?: boolean } = {}) {
	const measure = await onsetTask(dataset, { ...options, ...more, compare: [file] });
	const { comparisons = [], rows } = await measure(runtime, trained);
	expect(comparisons).toHaveLength(1);
	return { ...comparisons[0]!, mainRows: rows.map(({ label }) => label) };
}

const testPatients = Array.from({ length: 120 }, (_, i) => `p${240 + i}`);
const header = "patient,date,code,horizon_years,probability";
/** Nine in ten for those who will get a, one in ten for the others. */
const goodLines = testPatients.map((id, i) => `${id},1972-09-27,a,1,${i % 2 === 0 ? 0.9 : 0.1}`);

describe("a file of predictions", () => {
	test("of the model itself differs by exactly nothing", async () => {
		const predictions: LabelPrediction[] = [];
		for (const code of ["a", "b"]) {
			const measure = await onsetTask(dataset, {
				...options,
				code,
				onPredictions: (row) => predictions.push(...row.predictions),
			});
			await measure(runtime, trained);
		}
		expect(predictions).toHaveLength(480);
		const lines = predictions.map(({ patient, time, code, system, horizonDays, probability }) =>
			[patient, time, code, system, horizonDays, probability].join(","),
		);
		const file = writtenAs("own.csv", [
			"patient,day,code,system,horizon_days,probability",
			...lines.toReversed(),
		]);
		const { label, horizons, notes, rows, differences } = await comparedWith(file);
		expect([label, notes]).toEqual(["own", []]);
		expect(horizons).toEqual([
			{ years: 1, codes: 2, allCodes: 2 },
			{ years: 2, codes: 2, allCodes: 2 },
		]);
		const [model, own] = rows;
		expect(own).toMatchObject({ who: "file", label: "own", metrics: model!.metrics });
		const [pair] = differences;
		expect(pair).toMatchObject({ row: "TrajGPT", than: "own" });
		expect(Object.keys(pair!.metrics)).toContain("logLoss 1y");
		for (const measure of Object.values(pair!.metrics))
			expect(measure).toEqual({ value: 0, low: 0, high: 0 });
	});

	test("of some codes is compared on these, beside all rows", async () => {
		const file = writtenAs("xgb.csv", [header, ...goodLines, "p360,,a,1,0.5"]);
		const { horizons, notes, rows, differences, mainRows } = await comparedWith(file, {
			baselines: true,
		});
		expect(horizons).toEqual([{ years: 1, codes: 1, allCodes: 1 }]);
		expect(notes).toEqual([
			"xgb has 1 of the 2 frequent codes within 1 year: all rows are compared on these",
			"xgb has no frequent code within 2 years: not compared there",
			"xgb has predictions of 1 patient without an index day, or outside the sample, which are not used",
		]);
		expect(mainRows).toEqual(["TrajGPT", "age and sex", "lasso regression", "boosted trees"]);
		expect(rows.map(({ label }) => label)).toEqual(["TrajGPT", "xgb", ...mainRows.slice(1)]);
		const [model, xgb] = rows;
		expect(xgb!.metrics["auroc 1y"]!.value).toBe(1);
		// Sixty onsets, 120 predictions that gave 0.9 to what happened.
		const logLoss = xgb!.metrics["logLoss 1y"]!.value;
		expect(logLoss).toBeCloseTo(-2 * Math.log(0.9), 6);
		expect(differences).toHaveLength(1);
		expect(differences[0]!.metrics["logLoss 1y"]!.value).toBeCloseTo(
			model!.metrics["logLoss 1y"]!.value - logLoss,
			12,
		);
	});

	const [first, ...rest] = goodLines;
	test.each<[what: string, lines: readonly string[], message: string]>([
		[
			"lacks patients",
			[header, ...rest],
			'lacks 1 prediction, such as that of patient "p240", code a, 365 days',
		],
		[
			"of strangers",
			[header, ...goodLines, "x,,a,1,0.1", "y,,a,1,0.1", "p0,,a,1,0.1"],
			'predicts for 3 patients not in split test of memory, such as "x"',
		],
		[
			"above 1",
			[header, ...rest, "p240,1972-09-27,a,1,1.1"],
			"line 121 has probability 1.1; expected a number from 0 to 1",
		],
		["without probability", [header, "p240,1972-09-27,a,1,NA"], "line 2 has no probability"],
		[
			"twice",
			[header, ...goodLines, first!],
			'line 122 predicts the same again for patient "p240", code a and 365 days',
		],
		[
			"of an unknown code",
			[header, "p240,,z,1,0.1"],
			"line 2 has code z, which is not in the vocabulary",
		],
		["of no code", [header, "p240,,,1,0.1"], "line 2 names no code"],
		[
			"of a code of another system",
			["patient,code,system,horizon_years,probability", "p240,a,ICD9CM,1,0.1"],
			"line 2 has code a of system ICD9CM",
		],
		[
			"of another index day",
			[header, "p240,1972-09-28,a,1,0.1"],
			'line 2 predicts from 1972-09-28, and the index day of patient "p240" is 1972-09-27',
		],
		[
			"of another horizon",
			[header, "p240,,a,3,0.1"],
			"line 2 has a horizon of 1096 days, which is not evaluated; expected 365 days (1 year), 731 days (2 years)",
		],
		[
			"without a horizon",
			["patient,code,probability", "p240,a,0.1"],
			"line 2 has no horizon; expected columns patient, code, horizon_days or horizon_years, and probability",
		],
		[
			"without a column of probabilities",
			["patient,code", "p240,a"],
			"has no column for the probability; it has patient, code",
		],
		[
			"of codes without onsets",
			[header, ...testPatients.map((id) => `${id},,c,1,0.1`)],
			"none of its 1 codes has 20 expected onsets",
		],
	])("%s is refused", async (_, lines, message) => {
		const file = writtenAs("bad.csv", lines);
		await expect(onsetTask(dataset, { ...options, compare: [file] })).rejects.toThrow(message);
	});

	test("with the name of another row is refused", async () => {
		const file = writtenAs("TrajGPT.csv", [header, ...goodLines]);
		await expect(comparedWith(file)).rejects.toThrow(
			'two rows would be called "TrajGPT"; the name of a row is that of its file: rename the file',
		);
	});
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openColumns } from "../../base/files/column-file.js";
import { random } from "../../base/random.js";
import { isoDate } from "../../base/time.js";
import type { Dataset, Split } from "../../data/cohort/index.js";
import type { SparseRows } from "../../model/glm.js";
import { hazardSettings, outputsOf } from "../../model/hazards/settings.js";
import {
	fitLassoHazards,
	hazardRegressionData,
	usualLandmarks,
} from "../../model/train/regressions/fit-hazards.js";
import {
	type FollowedLandmarks,
	followedLandmarks,
} from "../../model/train/regressions/followed-landmarks.js";
import { columnNames } from "../../model/train/regressions/record-features.js";
import { regressionRisks } from "../../model/train/regressions/regression-risks.js";
import { evaluateDefaults } from "../evaluation.js";
import { baselinePredictions } from "../onset/predicted-risks.js";
import { daysOf, measuredCodes, type OnsetStudy } from "../onset/study.js";
import { openOnsetStudy } from "../onset/task.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { smallDataset } from "../testing/small-dataset.js";
import { type MatrixOptions, matrixPieces, openFeatureMatrix } from "./matrix.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-features-"));
afterAll(() => rmSync(folder, { recursive: true }));

const codes = [5, 6, 7];
const lookBackDays = 365;
const horizons = [1, 2];
const indexDay = 1100;

/** Code a makes code b likelier; some die, and the observation of some ends early. */
const people = (["train", "valid", "test"] as const satisfies Split[]).flatMap((split, place) =>
	Array.from({ length: 150 }, (_, i) => {
		const draw = random(7).fork(place).fork(i);
		const end = 1200 + draw.integer(1400);
		const hasA = draw.uniform() < 0.5;
		const events = [
			{ token: 7, time: 5 },
			{ token: 7, time: 300 + draw.integer(1000) },
			...(hasA ? [{ token: 5, time: 100 + draw.integer(1500) }] : []),
			...(draw.uniform() < (hasA ? 0.8 : 0.3)
				? [{ token: 6, time: 600 + draw.integer(1500) }]
				: []),
		]
			.filter(({ time }) => time <= end)
			.sort((one, other) => one.time - other.time);
		return {
			split,
			sex: draw.uniform() < 0.5 ? ("female" as const) : ("male" as const),
			observed: [{ start: 0, end }],
			tokens: events.map(({ token }) => token),
			times: events.map(({ time }) => time),
			...(draw.uniform() < 0.2 && { death: end }),
		};
	}),
);
const dataset: Dataset = {
	...smallDataset([9, 8, 7], people),
	manifest: {
		...{ labels: [{ task: "visit" }], deaths: 10, observation: { from: "file" } },
		source: { path: "nowhere", axis: "dates" },
	} as unknown as Dataset["manifest"],
	labels: async () => [
		{ patient: 0, time: 5.5, events: 0, value: true },
		{ patient: 300, time: 1500, events: 2, value: false, weight: 2 },
	],
};
const settings = hazardSettings.parse({});
const vocab = dataset.vocabulary.size;

type Row = Readonly<Record<string, string | number | boolean | null>>;

async function rowsInFile(options: MatrixOptions): Promise<readonly Row[]> {
	const file = join(folder, `${options.task}.parquet`);
	const table = await openColumns(file, "parquet");
	const pieces = matrixPieces(dataset, await openFeatureMatrix(dataset, options));
	for (const columns of pieces) await table.add(columns);
	await table.close();
	return parquetReadObjects({ file: await asyncBufferFromFile(file) });
}

const onset = { task: "onset", index: isoDate(indexDay), horizons, codes: ["a", "b", "c"] };
const names = columnNames(settings, dataset.vocabulary);

/** The rows of records, of the features of a table. */
function sparseRows(rows: readonly Row[]): SparseRows {
	const columns: number[] = [];
	const values: number[] = [];
	const ends = rows.map((row) => {
		for (const [column, name] of names.entries()) {
			const value = name === null ? Number(column === names.length - 1) : Number(row[name]);
			if (value === 0) continue;
			columns.push(column);
			values.push(value);
		}
		return columns.length;
	});
	return {
		starts: Int32Array.of(0, ...ends.slice(0, -1)),
		ends: Int32Array.from(ends),
		columns: Int32Array.from(columns),
		values: Float32Array.from(values),
	};
}

/** What regressions learn from, of the rows of a table. */
function landmarksIn(rows: readonly Row[], perPerson: number): FollowedLandmarks {
	const { count, death } = outputsOf(settings, vocab);
	const farthest = settings.binDays.at(-1) as number;
	const recorded = Array.from({ length: count }, (): number[] => []);
	const onsets = Array.from({ length: count }, (): { row: number; after: number }[] => []);
	for (const [row, values] of rows.entries()) {
		for (const token of codes) {
			const { code } = dataset.vocabulary.tokens[token]!;
			const after = values[`days ${code}`] as number | null;
			if (after === null) recorded[token]!.push(row);
			else if (values[`status ${code}`] === 1 && after <= farthest)
				onsets[token]!.push({ row, after });
		}
		const after = values["days observed"] as number;
		if (values.died === true && after <= farthest) onsets[death]!.push({ row, after });
	}
	const startsOf = (lists: readonly (readonly unknown[])[]) => {
		let end = 0;
		return Int32Array.from([0, ...lists.map(({ length }) => (end += length))]);
	};
	return {
		features: sparseRows(rows),
		ages: Float32Array.from(rows, ({ age }) => (age === null ? -1 : Number(age))),
		sexes: Int8Array.from(rows, ({ male }) => (male === null ? 0 : male === 1 ? 1 : -1)),
		outputs: count,
		width: names.length,
		perPerson,
		days: Float32Array.from(rows, (row) => Math.min(farthest, row["days observed"] as number)),
		recorded: { starts: startsOf(recorded), rows: Int32Array.from(recorded.flat()) },
		onsets: {
			starts: startsOf(onsets),
			rows: Int32Array.from(onsets.flat(), ({ row }) => row),
			after: Float32Array.from(onsets.flat(), ({ after }) => after),
		},
	};
}

const dense = ({ starts, ends, columns, values }: SparseRows) =>
	Array.from(starts, (start, row) => {
		const all = new Float32Array(names.length);
		for (let i = start; i < ends[row]!; i++) all[columns[i]!] = values[i]!;
		return all;
	});

describe("a matrix of first records", () => {
	let study: OnsetStudy;
	let rows: readonly Row[];
	const ofSplit = (split: Split) => rows.filter((row) => row.split === split);
	beforeAll(async () => {
		({ study } = await openOnsetStudy(dataset, { ...evaluateDefaults, ...onset }));
		rows = await rowsInFile(onset);
	});

	test("has the people, days and outcomes of an evaluation", () => {
		const test = ofSplit("test");
		const { patients } = study.cohort;
		expect(test.map(({ patient, day, date }) => [patient, day, date])).toEqual(
			patients.map(({ history }) => [history.id, indexDay, isoDate(indexDay)]),
		);
		for (const followUp of study.codes.filter(({ token }) => codes.includes(token))) {
			const { code } = dataset.vocabulary.tokens[followUp.token]!;
			const atRisk = test.flatMap((row, i) => (row[`days ${code}`] === null ? [] : [i]));
			expect(atRisk).toEqual([...followUp.patient]);
			expect(atRisk.map((row) => test[row]![`days ${code}`])).toEqual([...followUp.time]);
			expect(atRisk.map((row) => test[row]![`status ${code}`])).toEqual([...followUp.status]);
			const sorted = sortFollowUp(followUp);
			for (const years of study.horizons) {
				const weights = outcomeAt(sorted, daysOf(years)).weigh()?.weights;
				for (const [i, entry] of sorted.entry.entries()) {
					const weight = test[atRisk[entry]!]![`weight ${code} ${years}y`];
					if (weights) expect(weight).toBeCloseTo(weights[i]!, 12);
					else expect(weight).toBeNull();
				}
			}
		}
	});

	test("holds all that the regressions learn from", async () => {
		for (const split of ["train", "valid"] as const) {
			const expected = await followedLandmarks(
				settings,
				dataset,
				split,
				usualLandmarks(lookBackDays),
			);
			const read = landmarksIn(ofSplit(split), expected.perPerson);
			expect(dense(read.features)).toEqual(dense(expected.features));
			expect({ ...read, features: 0 }).toEqual({ ...expected, features: 0 });
		}
	});

	test("gives the predictions of the evaluated lasso regression when that is fitted to it", async () => {
		const { death } = outputsOf(settings, vocab);
		const measured = study.horizons.flatMap((years) => measuredCodes(study.codes, daysOf(years)));
		const outputs = [...new Set(measured.map(({ token }) => token))];
		const data = await hazardRegressionData(settings, dataset, { lookBackDays });
		const [train, valid] = [landmarksIn(ofSplit("train"), 5), landmarksIn(ofSplit("valid"), 5)];
		const all = [...outputs, death];
		const regression = await fitLassoHazards({ ...data, train, valid }, { outputs: all });
		const { patients } = study.cohort;
		const days = study.horizons.map(daysOf);
		const risks = regressionRisks(settings, vocab, regression, patients, outputs, days);
		const baselines = await baselinePredictions(study, lookBackDays, []);
		const lasso = baselines.find(({ name }) => name.label === "lasso regression")!;
		let compared = 0;
		for (const [horizon, expected] of lasso.risks.entries())
			for (const person of patients.keys())
				for (const [i, token] of outputs.entries()) {
					const risk = expected[person * vocab + token]!;
					if (Number.isNaN(risk)) continue;
					expect(risks[horizon]![person * outputs.length + i]).toBeCloseTo(risk, 6);
					compared++;
				}
		expect(compared).toBe(patients.length);
	});

	test("refuses a code that has no outcomes", async () => {
		await expect(openFeatureMatrix(dataset, { ...onset, codes: ["a", "[BIRTH]"] })).rejects.toThrow(
			'code "[BIRTH]" is not in the vocabulary of memory',
		);
	});
});

test("a matrix of labels sees the records that each label lets a model see", async () => {
	const [train, evaluated] = await rowsInFile({ task: "visit" });
	expect(train).toMatchObject({ patient: "p0", split: "train", day: 5.5, label: true, weight: 1 });
	expect(train!["records c"]).toBe(0);
	expect(evaluated).toMatchObject({ patient: "p300", split: "test", label: false, weight: 2 });
	const { tokens, sex } = people[300]!;
	const seen = tokens.slice(0, 2).filter((token) => token === 7).length;
	expect(evaluated!["records c"]).toBe(Math.fround(Math.log1p(seen)));
	expect(evaluated!.male).toBe(Number(sex === "male"));
	expect(evaluated!.age).toBeNull();
});

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { idsIn, prepared } from "../../data/cohort/testing/prepared.js";
import type { PersonRow, RecordRow } from "../../data/records/rows.js";
import { openStore, type RecordSource } from "../../data/records/store.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { writeParquet } from "../../data/records/testing/write-parquet.js";
import { libraryTasks } from "../../data/tasks/read-aces.js";
import { documented, medsData, medsSql } from "../../data/tasks/testing/aces-sample.js";
import { labelTask } from "./tasks.js";
import { done, json, refusal } from "./testing/captured.js";

/** A folder in MEDS with the rows of a query. */
async function medsFolder(sql: string): Promise<string> {
	const folder = join(await temporaryFolder(), "meds");
	const file = join(folder, "data", "0.parquet");
	await mkdir(dirname(file), { recursive: true });
	await writeParquet(file, sql);
	return folder;
}

const written = async (folder: string, name: string, text: string) => {
	const file = join(folder, name);
	await writeFile(file, text);
	return file;
};

/** The rows of a label file, and the types of its columns. */
async function labelsIn(file: string) {
	const folder = await temporaryFolder();
	const store = await openStore({ folder, memory: 2 ** 27, threads: 1, files: [file] });
	try {
		const rows = await store.all<{ subject: string; time: string; value: boolean | null }>(`
			SELECT subject_id::VARCHAR AS subject, prediction_time::VARCHAR AS time, boolean_value AS value
			FROM '${file}' ORDER BY ALL`);
		const types = await store.all<{ column_name: string; column_type: string }>(
			`DESCRIBE SELECT * FROM '${file}'`,
		);
		return {
			rows: rows.map(({ subject, time, value }) => [subject, time, value]),
			types: Object.fromEntries(types.map((row) => [row.column_name, row.column_type])),
		};
	} finally {
		store.close();
	}
}

const day = (text: string) => Date.parse(`${text}T00:00Z`) / 86_400_000;

/** Records as [patient, date, system, code]; people have a birth in 1950 and perhaps a death. */
function source(
	records: readonly (readonly [string, string, string, string])[],
	deaths: Readonly<Record<string, string>> = {},
): RecordSource {
	return {
		format: "events",
		path: "memory",
		async load(store) {
			await store.append(
				"record",
				records.map(
					([patient, date, system, code]): RecordRow => ({
						patient,
						time: day(date),
						code,
						system,
						kind: "diagnosis",
						value: null,
					}),
				),
			);
			await store.append(
				"person",
				[...new Set(records.map(([patient]) => patient))].map(
					(patient): PersonRow => ({
						patient,
						birth: day("1950-01-01"),
						sex: "female",
						split: null,
						place: "memory",
						death: deaths[patient] === undefined ? null : day(deaths[patient]),
					}),
				),
			);
			return { axis: "dates", notes: [] };
		},
	};
}

/** Records of one code on two days, for each patient. */
const twice = (ids: readonly string[], code: string, later = (_: string) => "2013-01-01") =>
	ids.flatMap((id) => [
		[id, "2010-01-01", "PheCode", code] as const,
		[id, later(id), "PheCode", code] as const,
	]);

describe("tasks", () => {
	test("writes the labels of an ACES file as MEDS does", async () => {
		const meds = await medsFolder(medsSql(medsData));
		const folder = await temporaryFolder();
		const task = documented[3];
		const aces = await written(folder, "readmission.yaml", task?.yaml ?? "");
		const out = join(folder, "labels");
		const { stdout, stderr } = await done`tasks ${meds} --aces ${aces} --out ${out}`;
		expect(stderr).toBe("");
		expect(stdout).toContain(
			`readmission: 4 labels at 6 trigger events; 2 of 2 patients in ${meds} have one\n2 positive (50`,
		);
		expect(stdout).toMatch(/^data_within_5yr_of_admit +fewer than 1 of _ANY_EVENT +2$/m);
		expect(stdout).toContain(`written: ${join(out, "readmission", "labels.parquet")}`);
		const { rows, types } = await labelsIn(join(out, "readmission", "labels.parquet"));
		expect(rows).toEqual(
			task?.labels.map(([subject, time, value]) => [`${subject}`, `${time}:00`, value]),
		);
		expect(types).toEqual({
			subject_id: "BIGINT",
			prediction_time: "TIMESTAMP",
			boolean_value: "BOOLEAN",
			integer_value: "BIGINT",
			float_value: "FLOAT",
			categorical_value: "VARCHAR",
		});
		expect(await refusal`tasks ${meds} --aces ${aces} --out ${out}`).toContain("pass --force");
		await done`tasks ${meds} --aces ${aces} --out ${out} --force`;
	});

	test("gives the same labels for a dataset as for the records it was made of", async () => {
		const meds = await medsFolder(medsSql(medsData));
		await mkdir(join(meds, "metadata"));
		await writeParquet(
			join(meds, "metadata", "subject_splits.parquet"),
			"SELECT unnest([1, 3]) AS subject_id, 'train' AS split",
		);
		const folder = dirname(meds);
		const dataset = join(folder, "dataset");
		const kinds = "diagnosis,drug,procedure,laboratory,other";
		await done`prepare ${meds} --from meds --kinds ${kinds} --min-records 1 --min-count 1 --codes as-is --out ${dataset}`;
		for (const [at, { yaml, data, labels }] of documented.entries()) {
			if (data !== medsData) continue;
			const aces = await written(folder, `task${at}.yaml`, yaml);
			await done`tasks ${dataset} --aces ${aces} --out ${folder}`;
			const { rows } = await labelsIn(join(folder, `task${at}`, "labels.parquet"));
			expect(rows).toEqual(
				labels.map(([subject, time, value]) => [`${subject}`, `${time}:00`, value]),
			);
		}
	});

	test("finds the codes of a dataset whose values are tokens", async () => {
		const meds = await medsFolder(
			Array.from({ length: 40 }, (_, at) =>
				[
					`SELECT ${at}::BIGINT AS subject_id, TIMESTAMP '2020-01-01' AS time, 'ICD10CM//I10' AS code, NULL::FLOAT AS numeric_value`,
					`SELECT ${at}, TIMESTAMP '2020-02-01', 'LOINC//2345-7', ${at}`,
				].join(" UNION ALL "),
			).join(" UNION ALL "),
		);
		const dataset = join(dirname(meds), "dataset");
		const kept = ["--kinds", "diagnosis,laboratory", "--min-count", "1", "--values", "quantiles:2"];
		const { stdout } =
			await done`prepare ${meds} --from meds ${kept} --codes as-is --out ${dataset}`;
		expect(stdout).toContain("values of 1 codes in 2 ranges");
		const task = (bound: string) => `
predicates: {pressure: {code: ICD10CM//I10}, glucose: {code: LOINC//2345-7${bound}}}
trigger: pressure
windows:
  target: {start: trigger, end: start + 60 days, start_inclusive: false, end_inclusive: true, label: glucose, index_timestamp: start}`;
		const aces = await written(dirname(meds), "glucose.yaml", task(""));
		expect(await json`tasks ${dataset} --aces ${aces}`).toMatchObject({ labels: 40, positive: 40 });
		await writeFile(aces, task(", value_min: 20"));
		expect(await refusal`tasks ${dataset} --aces ${aces}`).toContain(
			"predicate glucose of task glucose is about values",
		);
		expect(await json`tasks ${meds} --aces ${aces}`).toMatchObject({ labels: 40, positive: 19 });
	});

	test("refuses a task whose input overlaps its target, and writes nothing", async () => {
		const meds = await medsFolder(medsSql(medsData));
		const folder = await temporaryFolder();
		const aces = await written(
			folder,
			"leaky.yaml",
			`
predicates: {admission: {code: {regex: ^ADMISSION}}, death: {code: DEATH}}
trigger: admission
windows:
  input: {start: null, end: trigger + 48h, start_inclusive: true, end_inclusive: true, index_timestamp: end}
  target: {start: trigger + 24h, end: start + 7 days, start_inclusive: false, end_inclusive: true, label: death}`,
		);
		expect(await refusal`tasks ${meds} --aces ${aces} --out ${join(folder, "labels")}`).toContain(
			"task leaky: the prediction time, input.end of input [start of record, trigger + 48h], is not before the target target (trigger + 24h, start + 7 days]",
		);
		expect(await readdir(folder)).toEqual(["leaky.yaml"]);
	});

	test("names codes that nearly determine the label", async () => {
		const at = (patient: number, hour: number, code: string) =>
			`SELECT ${patient}::BIGINT AS subject_id, TIMESTAMP '2020-01-01' + INTERVAL ${hour} HOUR AS time, '${code}' AS code`;
		const rows = Array.from({ length: 20 }, (_, patient) => [
			at(patient, 0, "ADMISSION"),
			...(patient < 8 ? [at(patient, 0, "PALLIATIVE"), at(patient, 9, "MEDS_DEATH")] : []),
			at(patient, 0, patient < 10 ? "COMMON" : "RARE"),
		]);
		const meds = await medsFolder(rows.flat().join(" UNION ALL "));
		const aces = await written(
			dirname(meds),
			"death.yaml",
			`
predicates: {admission: {code: ADMISSION}, death: {code: MEDS_DEATH}}
trigger: admission
windows:
  target: {start: trigger, end: start + 24h, start_inclusive: false, end_inclusive: true, label: death, index_timestamp: start}`,
		);
		const { stderr } = await done`tasks ${meds} --aces ${aces}`;
		expect(stderr).toBe(
			"warning: PALLIATIVE is present in the input of 8 labels, 8 of them positive, of 8 positive labels in all: it nearly determines the label\n",
		);
	});

	test("runs ready tasks on a dataset", async () => {
		const ids = idsIn("train", 4) as [string, string, string, string];
		const [a, b, c, d] = ids;
		const failures = [
			[a, "2011-06-01", "PheCode", "428"],
			[b, "2012-06-01", "PheCode", "428"],
			[c, "2010-06-01", "PheCode", "428"],
		] as const;
		const { dataset } = await prepared(
			source([...twice(ids, "401"), ...failures], { [d]: "2011-05-01" }),
		);
		const { folder } = dataset;
		const out = join(dirname(folder), "labels");
		const { stderr } = await done`tasks ${folder} --task heart-failure --out ${out}`;
		expect(stderr).toContain("note: ids of patients are not whole numbers");
		const { rows } = await labelsIn(join(out, "heart-failure", "labels.parquet"));
		expect(rows).toEqual(
			[
				[a, "2011-01-01 00:00:00", true],
				[b, "2011-01-01 00:00:00", false],
				[d, "2011-01-01 00:00:00", false],
			].sort(),
		);
		const death = { labels: 4, positive: 1, patients: 4 };
		expect(await json`tasks ${folder} --task mortality-1y`).toMatchObject(death);
		const missing = await refusal`tasks ${folder} --task readmission-30`;
		for (const part of [
			`${folder} has no record of discharge, the trigger of task readmission-30`,
			"--predicates",
			"the task says: Another admission within 30 days",
		])
			expect(missing).toContain(part);
	});

	test("lists and shows the ready tasks, and refuses each where its records are missing", async () => {
		const { stdout: list } = await done`tasks --list`;
		const meds = await medsFolder(
			"SELECT 1::BIGINT AS subject_id, TIMESTAMP '2020-01-01' AS time, 'X' AS code",
		);
		expect(libraryTasks()).toHaveLength(10);
		for (const name of libraryTasks()) {
			expect(list).toMatch(new RegExp(`^${name}\n {2}.* Needs `, "m"));
			expect((await done`tasks --show ${name}`).stdout).toContain("description: >-\n");
			expect(await refusal`tasks ${meds} --task ${name}`).toContain(`${meds} has no record of `);
		}
		expect(await refusal`tasks ${meds} --task flu`).toMatch(
			/there is no ready task "flu"; there are .*copd.*; pass .* --aces/,
		);
	});

	test("writes labels of a dataset", async () => {
		const [a, b] = idsIn("train", 2) as [string, string];
		const file = await written(
			await temporaryFolder(),
			"stroke.csv",
			`patient,time,value\n${a},2011-01-01,1\n${b},2012-05-05,0\n`,
		);
		const labels = [{ task: "stroke", file }];
		const { dataset } = await prepared(source(twice([a, b], "401")), { labels });
		const out = join(dirname(dataset.folder), "labels");
		await done`tasks ${dataset.folder} --label stroke --out ${out}`;
		expect((await labelsIn(join(out, "stroke", "labels.parquet"))).rows).toEqual(
			[
				[a, "2011-01-01 00:00:00", true],
				[b, "2012-05-05 00:00:00", false],
			].sort(),
		);
	});

	test("labels cohorts by their time at risk", async () => {
		const [a, b, c, d, e] = idsIn("train", 5) as [string, string, string, string, string];
		const { dataset } = await prepared(
			source(twice([a, b, c, d], "401", (id) => (id === d ? "2011-03-01" : "2013-01-01"))),
		);
		const cohorts = await written(
			await temporaryFolder(),
			"cohort.csv",
			[
				"cohort_definition_id,subject_id,cohort_start_date,cohort_end_date",
				...[a, b, c, d, e].map((id) => `1,${id},2011-01-01,2011-02-01`),
				`1,${a},2012-01-02,2012-01-02`,
				`1,${b},2009-01-01,2009-01-02`,
				`2,${a},2012-01-01,2012-01-01`,
				`2,${b},2012-01-02,2012-01-02`,
				`2,${c},2010-05-05,2010-05-05`,
			].join("\n"),
		);
		const argv = ["tasks", dataset.folder, "--cohorts", cohorts, "--target", "1"];
		const out = join(dirname(dataset.folder), "labels");
		expect(await json`${argv} --outcome 2 --out ${out} --name stroke`).toMatchObject({
			task: "stroke",
			labels: 2,
			positive: 1,
			triggers: 7,
			excluded: [
				{ reason: "fewer than 364 days at risk", count: 1 },
				{ reason: "not among the records", count: 1 },
				{ reason: "not observed on the day of entry", count: 1 },
				{ reason: "outcome before the time at risk", count: 2 },
			],
		});
		// Day 365 after 2011-01-01 is 2012-01-01: the outcome of b is one day late.
		expect((await labelsIn(join(out, "stroke", "labels.parquet"))).rows).toEqual(
			[
				[a, "2011-01-01 23:59:59.999999", true],
				[b, "2011-01-01 23:59:59.999999", false],
			].sort(),
		);
		const sameDay = { file: cohorts, target: 1, outcome: 2, atRisk: [0, 30] } as const;
		await expect(labelTask(dataset.folder, { cohorts: sameDay })).rejects.toThrow(
			"the day of entry is part of the input",
		);
		const short = await json`${argv} --outcome 2 --time-at-risk 1:30`;
		expect(short).toMatchObject({ labels: 3, positive: 0 });
		expect(await refusal`${argv} --outcome 9`).toContain(
			"has no entry of cohort 9, the outcome; it has 1, 2",
		);
	});

	test.each([
		["data", "no task; pass one of --task, --aces, --cohorts and --label"],
		["", "no records to label; name a dataset"],
		["data --task copd --aces x.yaml", "--task and --aces both name a task"],
		["data --task copd --target 1", "--target has no effect without --cohorts"],
		["data --label x --predicates p", "--predicates has no effect with --label"],
		["data --cohorts c.csv", "--cohorts needs --target and --outcome"],
		["data --task copd --min-time-at-risk 9", "--min-time-at-risk has no effect"],
		["gone --task copd", "gone: no such file or folder"],
		["data --cohorts c --target 1 --outcome 2 --time-at-risk 0:9", "from 1 to 36525"],
	])("refuses %j", async (line, message) => {
		expect(await refusal`tasks ${line.split(" ")}`).toContain(message);
	});
});

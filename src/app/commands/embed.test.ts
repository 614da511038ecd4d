import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test } from "vitest";
import { csvOf } from "../../base/files/column-file.js";
import { openDataset } from "../../data/cohort/index.js";
import { readTrained } from "../../model/train/index.js";
import { loadModel } from "../../predict/library/load-model.js";
import { done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
let dataset: string;
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
	await writeFile(
		file("cohort.csv"),
		"who,date,icd10\nann,2010-03-01,I10\nbob,2011-05-01,E119\nann,2011-07-01,I50.9\nbob,2011-06-01,C61\nbob,no,I10\ncarl,2012-01-01,C61\n",
	);
	await writeFile(file("people.csv"), "who,birth,sex\nann,1960-02-03,F\ndora,,F\n");
});

const parquetRows = async (path: string) =>
	parquetReadObjects({ file: await asyncBufferFromFile(path) });

describe("codes", () => {
	test("are written with their embeddings and map positions", async () => {
		const codes = file("codes.parquet");
		const { stdout } = await done`embed ${run} --out ${codes}`;
		const [written, agreement] = stdout.split("\n");
		expect(written).toBe(`${codes}: 30 tokens, vectors of 12`);
		expect(agreement).toMatch(
			/^of the 10 codes nearest to a code in the model's space, \d+\.\d % share its category; of random codes, \d\.\d %$/,
		);
		const { vocabulary, weights } = readTrained(run);
		const embedding = weights.get("embedding")!.data;
		const rows = await parquetRows(codes);
		expect(rows).toHaveLength(vocabulary.size - 5);
		for (const row of rows) {
			const token = row.token as number;
			const { code, name, category, count } = vocabulary.tokens[token]!;
			expect(row).toMatchObject({ code, name, category, count, kind: "diagnosis" });
			expect(Number.isFinite(row.x) && Number.isFinite(row.y)).toBe(true);
			for (let d = 0; d < 12; d++) expect(row[`v${d}`]).toBe(embedding[token * 12 + d]);
		}
	});

	test("have the same map with the same seed, or none", async () => {
		const table = async (seed: number) =>
			(await done`embed ${run} --seed ${seed} --neighbours 5`).stdout;
		const first = await table(3);
		expect(await table(3)).toBe(first);
		expect(await table(4)).not.toBe(first);
		expect(first).toMatch(/^token,code,system,name,category,kind,count,x,y,v0,/);
		const { stdout, stderr } = await done`embed ${run} --no-umap`;
		const [header, row] = stdout.split("\n");
		expect(header?.split(",").slice(6, 9)).toEqual(["count", "v0", "v1"]);
		const value = Number(row?.split(",").at(-1));
		expect(Math.fround(value)).toBe(readTrained(run).weights.get("embedding")!.data[5 * 12 + 11]);
		expect(stderr).toBe("");
	});
});

describe("patients", () => {
	test("of a split are written with the time of their last event", async () => {
		const { what, rows, dim, table, columns } = await json`embed ${run} --what patients`;
		const data = await openDataset(dataset);
		const patients = data.patients("test");
		expect([what, rows, dim]).toEqual(["patients", patients.length, 12]);
		for (const [row, patient] of patients.entries()) {
			const { id, tokens, times, birthEvents } = await data.read(patient);
			const events = tokens.length - birthEvents;
			expect(table[row]).toMatchObject({ patient: id, events, days: times.at(-1)! });
		}
		expect(columns).not.toContain("value");
	});

	test("--task ends each history at its label", async () => {
		const out = file("chf.csv");
		await done`embed ${run} --what patients --split train --task chf --on-tokens --out ${out}`;
		const [header, ...lines] = (await readFile(out, "utf8")).trimEnd().split("\n");
		const data = await openDataset(dataset);
		const train = new Set(data.patients("train"));
		const labels = (await data.labels("chf")).filter(({ patient }) => train.has(patient));
		expect(lines).toHaveLength(labels.length);
		expect(header).toMatch(/^patient,events,days,value,x,y,v0,/);
		for (const [row, { patient, events, value }] of labels.entries()) {
			const [id, count, , label] = lines[row]?.split(",") ?? [];
			expect([id, count, label]).toEqual([data.idOf(patient), `${events}`, `${value}`]);
		}
	});
});

describe("new patients", () => {
	const cohort = () => [
		...["embed", run, "--what", "patients", "--input", file("cohort.csv")],
		...["--patient-column", "who", "--people", file("people.csv")],
	];

	test("have the vectors that the library gives", async () => {
		const out = file("vectors.parquet");
		const { stdout, stderr } = await done`${cohort()} --skip-bad --out ${out}`;
		expect(stdout).toBe(`${out}: 2 patients, vectors of 12\n`);
		for (const what of ["1 row cannot be read", "1 person has no record", "1 patient has no code"])
			expect(stderr).toContain(`note: ${what}`);
		expect(stderr).toContain("warning: 2 records of 1 code that the model does not know: skipped");
		const rows = await parquetRows(out);
		const day = (date: string) => Date.parse(date) / 86_400_000;
		expect(rows).toMatchObject([
			{ patient: "ann", events: 2, days: day("2011-07-01") },
			{ patient: "bob", events: 1, days: day("2011-05-01") },
		]);
		const model = await loadModel(run);
		const event = (code: string, date: string) => ({ code, date, system: "ICD10CM" });
		const ann = [event("I10", "2010-03-01"), event("I50.9", "2011-07-01")];
		const vectors = await model.embed([
			{ sex: "female", birth: "1960-02-03", events: ann },
			{ events: [event("E11.9", "2011-05-01")] },
		]);
		await model.close();
		for (const [row, vector] of vectors.entries())
			for (const [d, value] of vector.entries()) expect(rows[row]?.[`v${d}`]).toBeCloseTo(value, 5);
	});

	test("that were left out are named in JSON", async () => {
		const { rows, table, unknown, notes } = await json`${cohort()} --skip-bad --no-umap`;
		expect([rows, table[0].patient]).toEqual([2, "ann"]);
		expect(unknown.top).toEqual([{ code: "185", system: "PheCode", records: 2 }]);
		expect(notes.join("\n")).toContain("patient dora: no record; a prediction needs at least one");
	});

	test("are refused with bad rows, and beside options on the run's dataset", async () => {
		expect(await refusal`${cohort()}`).toContain("leave them out with --skip-bad\n");
		expect(await refusal`${cohort()} --skip-bad --split train`).toContain(
			"--split and --task select patients of the run's dataset, but --input gives others",
		);
	});
});

test.each([
	["--task insulin", "add --what patients"],
	[
		"--split test",
		"--input, --split, --task and --on-tokens select patients, but --what is tokens",
	],
	["--skip-bad", "--skip-bad is for a file of records; name it with --input FILE"],
	[
		"--out a.xlsx",
		"cannot tell how to write a .xlsx file; expected a name that ends in .parquet or .csv",
	],
	["--what patients --task gout", 'no labels for the task "gout"'],
])("%s is refused", async (options, message) => {
	expect(await refusal`embed ${run} ${options.split(" ")}`).toContain(message);
});

test("an existing file needs --force, a moved dataset --dataset", async () => {
	const out = file("twice.csv");
	await done`embed ${run} --no-umap --out ${out}`;
	expect(await refusal`embed ${run} --no-umap --out ${out}`).toContain("already exists");
	await done`embed ${run} --no-umap --out ${out} --force`;
	expect(await refusal`embed ${root}`).toContain("is not a run");
	const moved = `${dataset}-moved`;
	await rename(dataset, moved);
	expect(await refusal`embed ${run} --what patients`).toContain("say where it is with --dataset");
	await done`embed ${run} --what patients --dataset ${moved} --no-umap`;
	await rename(moved, dataset);
});

test("CSV quotes where needed and leaves missing values empty", () => {
	const text = csvOf([
		{ name: "a", type: "text", values: ['one, "two"', null, "plain"] },
		{ name: "b", type: "float", values: Float32Array.of(0.1, 1e-7, -3) },
		{ name: "c", type: "flag", values: [true, false, true] },
	]);
	expect(text).toBe(
		'a,b,c\n"one, ""two""",0.100000001,true\n,1.00000001e-7,false\nplain,-3,true\n',
	);
});

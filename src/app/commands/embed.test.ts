import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { csvOf } from "../../base/files/column-file.js";
import { builtInMap } from "../../data/codes/index.js";
import { openDataset } from "../../data/cohort/index.js";
import { readTrained } from "../../model/train/index.js";
import { loadModel } from "../../predict/library/load-model.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let run: string;
let dataset: string;
let out: string;
beforeAll(async () => {
	({ root: out, run, dataset } = await clinicRun());
});
afterAll(() => rm(out, { recursive: true }));

const parquetRows = async (file: string) =>
	parquetReadObjects({ file: await asyncBufferFromFile(file) });

describe("embed tokens", () => {
	test("writes each code with its embedding and map position", async () => {
		const file = join(out, "codes.parquet");
		const { code, stdout } = await captured(["embed", run, "--out", file]);
		const [written, agreement] = stdout.split("\n");
		expect({ code, written }).toEqual({ code: 0, written: `${file}: 30 tokens, vectors of 12` });
		expect(agreement).toMatch(
			/^of the 10 codes nearest to a code in the model's space, \d+\.\d % share its category; of random codes, 5\.7 %$/,
		);
		const { vocabulary, weights } = readTrained(run);
		const embedding = weights.get("embedding")!.data;
		const rows = await parquetRows(file);
		expect(rows).toHaveLength(vocabulary.size - 5);
		for (const row of rows) {
			const token = row.token as number;
			const { code, name, category, count } = vocabulary.tokens[token]!;
			expect(row).toMatchObject({ code, name, category, count, kind: "diagnosis" });
			expect(Number.isFinite(row.x) && Number.isFinite(row.y)).toBe(true);
			for (let d = 0; d < 12; d++) expect(row[`v${d}`]).toBe(embedding[token * 12 + d]);
		}
	});

	test("gives the same map for the same seed", async () => {
		const table = async (seed: string) =>
			(await captured(["embed", run, "--seed", seed, "--neighbours", "5"])).stdout;
		const first = await table("3");
		expect(await table("3")).toBe(first);
		expect(await table("4")).not.toBe(first);
		expect(first.split("\n")[0]).toMatch(/^token,code,system,name,category,kind,count,x,y,v0,/);
	});

	test("--no-umap writes the vectors alone", async () => {
		const { stdout, stderr } = await captured(["embed", run, "--no-umap"]);
		const [header, first] = stdout.split("\n");
		expect(header?.split(",").slice(6, 9)).toEqual(["count", "v0", "v1"]);
		const value = Number(first?.split(",").at(-1));
		expect(Math.fround(value)).toBe(readTrained(run).weights.get("embedding")!.data[5 * 12 + 11]);
		expect(stderr).toBe("");
	});
});

describe("embed patients", () => {
	test("writes each history of the split", async () => {
		const { code, stdout } = await captured(["embed", run, "--what", "patients", "--json"]);
		expect(code).toBe(0);
		const told = JSON.parse(stdout);
		const data = await openDataset(dataset);
		const patients = data.patients("test");
		expect(told).toMatchObject({ what: "patients", rows: patients.length, dim: 12 });
		for (const [row, patient] of patients.entries()) {
			const { id, tokens, times, birthEvents } = await data.read(patient);
			expect(told.table[row]).toMatchObject({
				patient: id,
				events: tokens.length - birthEvents,
				days: times.at(-1)!,
			});
		}
		expect(told.columns).not.toContain("value");
	});

	test("--task ends each history at its label", async () => {
		const file = join(out, "chf.csv");
		const argv = ["embed", run, "--what", "patients", "--split", "train", "--task", "chf"];
		const { code } = await captured([...argv, "--on-tokens", "--out", file]);
		expect(code).toBe(0);
		const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
		const data = await openDataset(dataset);
		const own = new Set(data.patients("train"));
		const labels = (await data.labels("chf")).filter(({ patient }) => own.has(patient));
		expect(lines).toHaveLength(labels.length + 1);
		expect(lines[0]).toMatch(/^patient,events,days,value,x,y,v0,/);
		for (const [row, { patient, events, value }] of labels.entries()) {
			const { id } = await data.read(patient);
			expect(lines[row + 1]?.startsWith(`${id},${events},`)).toBe(true);
			expect(lines[row + 1]?.split(",")[3]).toBe(`${value}`);
		}
	});
});

describe("embed new patients", () => {
	let root: string;
	let mapped: string;
	beforeAll(async () => {
		({ root, run: mapped } = await clinicRun({ map: builtInMap() }));
		await writeFile(
			join(root, "cohort.csv"),
			"who,date,icd10\nann,2010-03-01,I10\nbob,2011-05-01,E119\nann,2011-07-01,I50.9\nbob,2011-06-01,C61\nbob,no,I10\ncarl,2012-01-01,C61\n",
		);
		await writeFile(join(root, "people.csv"), "who,birth,sex\nann,1960-02-03,F\ndora,,F\n");
	});
	afterAll(() => rm(root, { recursive: true }));
	const cohort = (...more: string[]) => [
		...[
			"embed",
			mapped,
			"--what",
			"patients",
			"--input",
			join(root, "cohort.csv"),
			"--patient-column",
		],
		...["who", "--people", join(root, "people.csv"), ...more],
	];

	test("writes the vectors that the library gives", async () => {
		const file = join(root, "vectors.parquet");
		const { code, stdout, stderr } = await captured(cohort("--skip-bad", "--out", file));
		expect([code, stdout]).toEqual([0, `${file}: 2 patients, vectors of 12\n`]);
		for (const what of ["1 row cannot be read", "1 person has no record", "1 patient has no code"])
			expect(stderr).toContain(`note: ${what}`);
		expect(stderr).toContain("warning: 2 records of 1 code that the model does not know: skipped");
		const rows = await parquetRows(file);
		const day = (date: string) => Date.parse(date) / 86_400_000;
		expect(rows).toMatchObject([
			{ patient: "ann", events: 2, days: day("2011-07-01") },
			{ patient: "bob", events: 1, days: day("2011-05-01") },
		]);
		const model = await loadModel(mapped);
		const code10 = (code: string, date: string) => ({ code, date, system: "ICD10CM" });
		const vectors = await model.embed([
			{
				...{ sex: "female", birth: "1960-02-03" },
				events: [code10("I10", "2010-03-01"), code10("I50.9", "2011-07-01")],
			},
			{ events: [code10("E11.9", "2011-05-01")] },
		]);
		await model.close();
		for (const [row, vector] of vectors.entries())
			for (const [d, value] of vector.entries()) expect(rows[row]?.[`v${d}`]).toBeCloseTo(value, 5);
	});

	test("names in JSON what was left out", async () => {
		const { stdout } = await captured(cohort("--skip-bad", "--no-umap", "--json"));
		const { rows, table, unknown, notes } = JSON.parse(stdout);
		expect([rows, table[0].patient]).toEqual([2, "ann"]);
		expect(unknown.top).toEqual([{ code: "185", system: "PheCode", records: 2 }]);
		expect(notes.join("\n")).toContain("patient dora: no record; a prediction needs at least one");
	});

	test("refuses bad rows, and options on codes or on the run's dataset", async () => {
		const refusal = async (argv: readonly string[]) => {
			const { code, stderr } = await captured(argv);
			expect(code).toBe(2);
			return stderr;
		};
		expect(await refusal(cohort())).toContain("leave them out with --skip-bad\n");
		const [, , , , ...tokens] = cohort("--skip-bad");
		expect(await refusal(["embed", mapped, ...tokens])).toContain(
			"--input, --split, --task and --on-tokens select patients, but --what is tokens",
		);
		expect(await refusal(cohort("--skip-bad", "--split", "train"))).toContain(
			"--split and --task select patients of the run's dataset, but --input gives others",
		);
		expect(await refusal(["embed", mapped, "--skip-bad"])).toContain(
			"--skip-bad is for a file of records; name it with --input FILE",
		);
	});
});

describe("embed rejects", () => {
	const refusal = async (...argv: string[]) => {
		const { code, stdout, stderr } = await captured(["embed", ...argv]);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		return stderr;
	};

	test("incompatible options", async () => {
		expect(await refusal(run, "--task", "insulin")).toContain("add --what patients");
		expect(await refusal(run, "--out", join(out, "a.xlsx"))).toContain(
			"cannot tell how to write a .xlsx file; expected a name that ends in .parquet or .csv",
		);
	});

	test("an existing file without --force", async () => {
		const file = join(out, "twice.csv");
		expect((await captured(["embed", run, "--no-umap", "--out", file])).code).toBe(0);
		expect(await refusal(run, "--no-umap", "--out", file)).toContain("already exists");
		expect((await captured(["embed", run, "--no-umap", "--out", file, "--force"])).code).toBe(0);
	});

	test("a task without labels, a folder that is not a run, a missing dataset", async () => {
		const patients = ["--what", "patients"];
		expect(await refusal(run, ...patients, "--task", "gout")).toContain(
			'no labels for the task "gout"',
		);
		expect(await refusal(out)).toContain("is not a run");
		const moved = `${dataset}-moved`;
		await rename(dataset, moved);
		expect(await refusal(run, ...patients)).toContain("say where it is with --dataset");
		const found = await captured(["embed", run, ...patients, "--dataset", moved, "--no-umap"]);
		await rename(moved, dataset);
		expect(found.code).toBe(0);
	});
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

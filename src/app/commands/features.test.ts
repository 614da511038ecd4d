import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { column, done, json, refusal } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-features-"));
const [population, dataset] = ["population", "dataset"].map((name) => join(root, name));
const file = (name: string) => join(root, name);
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(async () => {
	await done`simulate --patients 400 --seed 1 --out ${population}`;
	await done`prepare ${population} --from csv --splits 30,20,50 --out ${dataset}`;
});

const onset = ["--index", "random", "--horizons", "3,5", "--codes", "465,401"];

test("first records: the outcomes of the chosen codes beside the features of all", async () => {
	const out = file("onset.parquet");
	const written = await json`features ${dataset} --out ${out} ${onset}`;
	expect(written).toMatchObject({
		file: out,
		task: "onset",
		onset: { index: "random", codes: ["465", "401"], horizons: [3, 5] },
	});
	const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out) });
	const { train, valid, test } = written.rows;
	expect(rows).toHaveLength(train + valid + test);
	expect(new Set(column(rows, "split"))).toEqual(new Set(["train", "valid", "test"]));
	const outcomes = ["465", "401"].flatMap((code) =>
		["days", "status"]
			.map((what) => `${what} ${code}`)
			.concat(["3y", "5y"].map((within) => `weight ${code} ${within}`)),
	);
	const names = Object.keys(rows[0]!);
	expect(names.slice(0, 16)).toEqual([
		"patient",
		"split",
		"date",
		"day",
		"days observed",
		"died",
		...outcomes,
		"age",
		"male",
	]);
	expect(names.length - 14).toBe(written.features);
	const { vocabulary } = await openDataset(dataset!);
	for (const { code, kind } of vocabulary.tokens)
		if (kind !== "special") expect(names).toContain(`records ${code}`);
	expect(written.stderr).toContain("note: index: one random day");
});

test("labels: as CSV, and only replaced if that is asked for", async () => {
	const out = file("insulin.csv");
	const write = ["features", dataset!, "--task", "insulin", "--out", out];
	const { stdout } = await done`${write}`;
	const [header, ...lines] = (await readFile(out, "utf8")).trimEnd().split("\n");
	expect(header).toMatch(/^patient,split,date,day,label,weight,age,male,records /);
	const data = await openDataset(dataset!);
	expect(lines).toHaveLength((await data.labels("insulin")).length);
	expect(stdout).toMatch(
		/insulin\.csv: \d+ training, \d+ validation and \d+ test rows; \d+ features$/m,
	);
	expect(await refusal`${write}`).toContain("--force");
	await done`${write} --force`;
});

test("options that have no effect, and codes that are unknown, are refused", async () => {
	const out = file("none.parquet");
	expect(await refusal`features ${dataset} --out ${out} --task insulin --codes 401`).toContain(
		"--codes has no effect on task insulin",
	);
	expect(await refusal`features ${dataset} --out ${out} --task nothing`).toContain(
		'has no task "nothing" with labels; it has onset, ',
	);
	expect(
		await refusal`features ${dataset} --out ${out} --index random --horizons 5 --codes 401,x1`,
	).toContain('code "x1" is not in the vocabulary');
});

import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { column, done, json, refusal, words } from "./testing/captured.js";
import { simulatedRun } from "./testing/simulated-run.js";

let [home, run] = ["", ""];
const root = mkdtempSync(join(tmpdir(), "trajgpt-external-"));
const [population, other] = ["population", "other"].map((name) => join(root, name)) as [
	string,
	string,
];
const prepare = () => ["prepare", population, "--from", "csv"];

/** A run, and another population, with two codes that the run does not know. */
beforeAll(async () => {
	home = await simulatedRun();
	run = join(home, "run");
	await done`simulate --patients 30 --seed 9 --out ${population}`;
	const [claims] = readdirSync(population).filter((name) =>
		readFileSync(join(population, name), "utf8").startsWith("patient,date,icd9"),
	) as [string];
	const text = readFileSync(join(population, claims), "utf8");
	const patient = /\n([^,]+),/.exec(text)?.[1] ?? "";
	const added = ["E8889", "E8889", "V9999"]
		.map((code) => `${patient},2010-05-05,${code}\n`)
		.join("");
	writeFileSync(join(population, claims), text + added);
});
afterAll(() => rmSync(root, { recursive: true }));

const jsonIn = (folder: string, name: string) =>
	JSON.parse(readFileSync(join(folder, name), "utf8"));

describe("prepare --like", () => {
	test("keeps the vocabulary of a run and counts what it does not know", async () => {
		const { stdout } = await done`${prepare()} --like ${run} --out ${other}`;
		expect(jsonIn(other, "vocabulary.json")).toEqual(jsonIn(run, "vocabulary.json"));
		const [manifest, known] = [other, run].map((folder) => jsonIn(folder, "manifest.json"));
		expect(manifest.like).toBe(known.contentHash);
		expect(manifest.filters).toEqual(known.filters);
		expect(manifest.counts.splits.test.patients).toBe(manifest.counts.patients);
		const { dropped, counts, codes, source } = manifest;
		expect(dropped.rareCodes.events).toBe(0);
		expect(dropped.unknownCodes.events).toBeGreaterThan(0);
		expect(source.records + codes.extra).toBe(
			counts.events +
				codes.unmapped.events +
				dropped.unknownCodes.events +
				dropped.patients.events +
				dropped.drugs +
				dropped.duplicates +
				dropped.cut,
		);
		expect(stdout).toContain(`${run} does not know the codes of`);
		const histories = await openDataset(other);
		expect(histories.patients("test").length).toBeGreaterThan(25);
	});

	test("refuses other rules, and what is no run", async () => {
		const out = join(root, "none");
		expect(await refusal`${prepare()} --like ${run} --dedup day --out ${out}`).toContain(
			`--dedup is day, and ${run} was prepared with none; leave it out: --like takes the rules`,
		);
		expect(await refusal`${prepare()} --like ${population} --out ${out}`).toContain(
			"is neither a run nor a dataset: it has no manifest.json; give --like the folder",
		);
		expect(readdirSync(root)).not.toContain("none");
	});
});

describe("prepare --splits-from", () => {
	test("takes the splits of a file, in the words of MEDS too", async () => {
		const [, ...people] = readFileSync(join(population, "people.csv"), "utf8").trim().split("\n");
		const ids = people.map((line) => line.split(",")[0] as string);
		const words = ["train", "tuning", "held_out", "test"];
		const file = join(root, "splits.csv");
		const rows = ids.slice(5).map((id, at) => `${id},${words[at % 4]}\n`);
		writeFileSync(file, `subject_id,split\n${rows.join("")}stranger,train\n`);
		const out = join(root, "published");
		const { stderr } = await done`${prepare()} --splits-from ${file} --min-count 1 --out ${out}`;
		expect(stderr).toContain(`5 patients are not in ${file}: split by the source or by their id`);
		expect(stderr).toContain(`1 patients of ${file} have no record: left out`);
		const dataset = await openDataset(out);
		const splits = new Map(
			(["train", "valid", "test"] as const).flatMap((split) =>
				Array.from(dataset.patients(split), (patient) => [dataset.idOf(patient), split] as const),
			),
		);
		const expected = ["train", "valid", "test", "test"];
		for (const [at, id] of ids.slice(5).entries())
			if (splits.has(id)) expect(splits.get(id)).toBe(expected[at % 4]);
		expect(dataset.manifest.splits.given).toBe(ids.length - 5);
	});

	test.each([
		["patient,split\na,train\nb,holdout\n", 'line 3 has split "holdout"; expected train'],
		["patient,split\na,train\na,test\n", "puts a patient into a split, and another line"],
		["patient,fold\na,1\n", "has no column for the split; it has patient, fold"],
	])("refuses %j", async (text, reason) => {
		const file = join(root, "bad.csv");
		writeFileSync(file, text);
		const out = join(root, "none");
		expect(await refusal`${prepare()} --splits-from ${file} --out ${out}`).toContain(reason);
	});
});

describe("evaluate --dataset", () => {
	const evaluate = () => words`evaluate ${run} --dataset ${other} --draws 20 --threads 1`;
	const note = "so there are no baselines";

	test("measures a run on another dataset, and keeps the results apart", async () => {
		const inside = join(run, "eval", "next.json");
		const before = readFileSync(inside, "utf8");
		const results = await json`${evaluate()} --lookup 20 --futures 4`;
		expect(Object.keys(results)).toEqual(
			expect.arrayContaining(["next", "forecast", "diabetes", "insulin"]),
		);
		expect(column(results.forecast.runs[0].evaluation.rows, "label")).toEqual([
			"TrajGPT, time-specific",
			"TrajGPT, auto-regressive",
		]);
		const [{ file, evaluation }] = results.next.runs;
		const { contentHash, counts } = jsonIn(other, "manifest.json");
		expect(file).toBe(join(run, "eval", "external", contentHash.slice(0, 12), "next.json"));
		expect(evaluation.made).toMatchObject({ dataset: contentHash, external: other });
		expect(evaluation.notes[0]).toContain(note);
		expect(evaluation.patients).toBe(counts.patients);
		expect(column(evaluation.rows, "who")).toEqual(["model"]);
		const external = readFileSync(file, "utf8");
		const { stdout } = await done`${evaluate()} --task next --patients 5`;
		expect(stdout).toContain(
			`not stored: ${file} holds the results of ${counts.patients} patients`,
		);
		expect(readFileSync(file, "utf8")).toBe(external);
		expect(readFileSync(inside, "utf8")).toBe(before);
	});

	test("compares it with baselines that learn where the run has learned, if that is still there", async () => {
		const measured = async () => {
			const { diabetes } = await json`${evaluate()} --task diabetes --futures 4`;
			const { notes, rows } = diabetes.runs[0].evaluation;
			return { note: notes[0], labels: column<{ label: string }>(rows, "label") };
		};
		const { note: learnedFrom, labels } = await measured();
		const [dataset, moved] = [join(home, "dataset"), join(home, "moved")];
		const learned = (await openDataset(dataset)).patients("train").length;
		expect(learnedFrom).toContain(`learn from the run's own ${learned} training patients`);
		expect(labels).toEqual(expect.arrayContaining(["prevalence", "age and sex"]));
		renameSync(dataset, moved);
		const alone = await measured().finally(() => renameSync(moved, dataset));
		expect(alone.note).toContain(note);
		expect(alone.labels).toEqual(labels.filter((label) => label.includes("zero-shot risk")));
	});

	test("measures labels that the run's own dataset lacks, without baselines", async () => {
		const dataset = await openDataset(other);
		const ids = Array.from(dataset.patients("test"), (patient) => dataset.idOf(patient));
		const file = join(root, "labels.csv");
		writeFileSync(file, `patient,value\n${ids.map((id, at) => `${id},${at % 2}\n`).join("")}`);
		const code = dataset.vocabulary.tokens.at(-1)?.code as string;
		const { mine } = await json`${evaluate()} --task mine --labels ${file} --code ${code}`;
		const { notes, rows } = mine.runs[0].evaluation;
		expect(notes[0]).toContain(note);
		expect(column(rows, "who")).toEqual(["model"]);
	});

	test("refuses a dataset of other codes, and names the remedy", async () => {
		const message = await refusal`evaluate ${run} --dataset ${join(root, "published")} --task next`;
		expect(message).toContain("published has another vocabulary than");
		expect(message).toContain(`trajgpt prepare … --like ${run}`);
	});
});

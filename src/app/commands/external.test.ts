import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { captured } from "./testing/captured.js";
import { simulatedRun } from "./testing/simulated-run.js";

let [home, run] = ["", ""];
const root = mkdtempSync(join(tmpdir(), "trajgpt-external-"));
const [population, other] = ["population", "other"].map((name) => join(root, name)) as [
	string,
	string,
];
const done = async (...argv: string[]) => {
	const { code, stdout, stderr } = await captured(argv);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	return stdout;
};
const prepare = (...more: string[]) => ["prepare", population, "--from", "csv", ...more];
const refused = async (argv: readonly string[], ...parts: string[]) => {
	const { code, stderr } = await captured(argv);
	expect(code).toBe(2);
	for (const part of parts) expect(stderr).toContain(part);
};

/** A run, and another population, with two codes that the run does not know. */
beforeAll(async () => {
	home = await simulatedRun();
	run = join(home, "run");
	await done("simulate", "--patients", "60", "--seed", "9", "--out", population);
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
afterAll(() => {
	rmSync(root, { recursive: true });
	rmSync(home, { recursive: true });
});

describe("prepare --like", () => {
	test("keeps the vocabulary of a run and counts what it does not know", async () => {
		const text = await done(...prepare("--like", run, "--out", other));
		const read = (folder: string, file: string) => readFileSync(join(folder, file), "utf8");
		expect(JSON.parse(read(other, "vocabulary.json"))).toEqual(
			JSON.parse(read(run, "vocabulary.json")),
		);
		const manifest = JSON.parse(read(other, "manifest.json"));
		const own = JSON.parse(read(run, "manifest.json"));
		expect(manifest.like).toBe(own.contentHash);
		expect(manifest.filters).toEqual(own.filters);
		expect(manifest.counts.splits.test.patients).toBe(manifest.counts.patients);
		const { records } = manifest.source;
		const { dropped, counts, codes } = manifest;
		expect(dropped.rareCodes.events).toBe(0);
		expect(dropped.unknownCodes.events).toBeGreaterThan(0);
		expect(records + codes.extra).toBe(
			counts.events +
				codes.unmapped.events +
				dropped.unknownCodes.events +
				dropped.patients.events +
				dropped.drugs +
				dropped.duplicates +
				dropped.cut,
		);
		expect(text).toContain(`${run} does not know the codes of`);
		const histories = await openDataset(other);
		expect(histories.patients("test").length).toBeGreaterThan(50);
	});

	test("refuses rules of its own, and what is no run", async () => {
		const out = ["--out", join(root, "none")];
		await refused(
			prepare("--like", run, "--dedup", "day", ...out),
			`--dedup is day, and ${run} was prepared with none; leave it out: --like takes the rules`,
		);
		await refused(
			prepare("--like", population, ...out),
			"is neither a run nor a dataset: it has no manifest.json; give --like the folder",
		);
		expect(readdirSync(root)).not.toContain("none");
	});
});

describe("prepare --splits-from", () => {
	test("takes the splits of a file, in the words of MEDS too", async () => {
		const ids = readFileSync(join(population, "people.csv"), "utf8")
			.trim()
			.split("\n")
			.slice(1)
			.map((line) => line.split(",")[0] as string);
		const words = ["train", "tuning", "held_out", "test"];
		const file = join(root, "splits.csv");
		const rows = ids.slice(5).map((id, at) => `${id},${words[at % 4]}`);
		writeFileSync(file, `subject_id,split\n${rows.join("\n")}\nstranger,train\n`);
		const out = join(root, "published");
		const { code, stderr } = await captured(
			prepare("--splits-from", file, "--min-count", "1", "--out", out),
		);
		expect(code).toBe(0);
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
		await refused(prepare("--splits-from", file, "--out", join(root, "none")), reason);
	});
});

describe("evaluate --dataset", () => {
	test("measures a run on another dataset, and keeps the results apart", async () => {
		const before = readFileSync(join(run, "eval", "next.json"), "utf8");
		const argv = ["evaluate", run, "--dataset", other, "--draws", "20", "--threads", "1"];
		const results = JSON.parse(await done(...argv, "--lookup", "20", "--json"));
		expect(Object.keys(results)).toEqual(
			expect.arrayContaining(["next", "forecast", "diabetes", "insulin"]),
		);
		const { rows } = results.forecast.runs[0].evaluation;
		expect(rows.map(({ label }: { label: string }) => label)).toEqual([
			"TrajGPT, time-specific",
			"TrajGPT, auto-regressive",
		]);
		const [{ file, evaluation }] = results.next.runs;
		const { contentHash, counts } = JSON.parse(readFileSync(join(other, "manifest.json"), "utf8"));
		expect(file).toBe(join(run, "eval", "external", contentHash.slice(0, 12), "next.json"));
		expect(evaluation.made).toMatchObject({ dataset: contentHash, external: other });
		expect(evaluation.notes[0]).toContain("so there are no baselines");
		expect(evaluation.patients).toBe(counts.patients);
		expect(evaluation.rows.map(({ who }: { who: string }) => who)).toEqual(["model"]);
		const external = readFileSync(file, "utf8");
		const some = await done(...argv, "--task", "next", "--patients", "5");
		expect(some).toContain(`not stored: ${file} holds the results of ${counts.patients} patients`);
		expect(readFileSync(file, "utf8")).toBe(external);
		expect(readFileSync(join(run, "eval", "next.json"), "utf8")).toBe(before);
	});

	test("compares it with baselines that learn where the run has learned, if that is still there", async () => {
		const argv = ["evaluate", run, "--dataset", other, "--task", "diabetes", "--draws", "20"];
		const measured = async () => {
			const { diabetes } = JSON.parse(await done(...argv, "--threads", "1", "--json"));
			const { notes, rows } = diabetes.runs[0].evaluation;
			return { note: notes[0], labels: rows.map(({ label }: { label: string }) => label) };
		};
		const { note, labels } = await measured();
		const learned = (await openDataset(join(home, "dataset"))).patients("train").length;
		expect(note).toContain(`learn from the run's own ${learned} training patients`);
		expect(labels).toEqual(expect.arrayContaining(["prevalence", "age and sex"]));
		renameSync(join(home, "dataset"), join(home, "moved"));
		try {
			const alone = await measured();
			expect(alone.note).toContain("so there are no baselines");
			expect(alone.labels).toEqual(
				labels.filter((label: string) => label.includes("zero-shot risk")),
			);
		} finally {
			renameSync(join(home, "moved"), join(home, "dataset"));
		}
	});

	test("measures labels that the run's own dataset lacks, without baselines", async () => {
		const dataset = await openDataset(other);
		const ids = Array.from(dataset.patients("test"), (patient) => dataset.idOf(patient));
		const file = join(root, "labels.csv");
		writeFileSync(file, `patient,value\n${ids.map((id, at) => `${id},${at % 2}`).join("\n")}\n`);
		const code = dataset.vocabulary.tokens.at(-1)?.code as string;
		const argv = ["evaluate", run, "--dataset", other, "--task", "mine", "--labels", file];
		const { mine } = JSON.parse(
			await done(...argv, "--code", code, "--draws", "20", "--threads", "1", "--json"),
		);
		const { notes, rows } = mine.runs[0].evaluation;
		expect(notes[0]).toContain("so there are no baselines");
		expect(rows.map(({ who }: { who: string }) => who)).toEqual(["model"]);
	});

	test("refuses a dataset of other codes, and names the remedy", async () => {
		await refused(
			["evaluate", run, "--dataset", join(root, "published"), "--task", "next"],
			"published has another vocabulary than",
			`trajgpt prepare … --like ${run}`,
		);
	});
});

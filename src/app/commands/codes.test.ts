import { cp } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { column, done, json, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let [run, dataset] = ["", ""];
beforeAll(async () => {
	({ run, dataset } = await clinicRun());
});

test("finds codes of a run and of a dataset, with people", async () => {
	const { stdout, stderr } = await done`codes ${run} high blood pressure`;
	expect(stderr).toBe("");
	expect(stdout).toMatch(/^code +name +category +people +found by$/m);
	expect(stdout).toMatch(/^401 +Hypertension +circulatory system +\d+ +high blood pressure$/m);
	expect((await done`codes ${dataset} ${"high blood pressure"}`).stdout).toBe(stdout);
});

test("lists all codes without words, the most frequent first", async () => {
	const { found, codes } = await json`codes ${run}`;
	expect(codes).toHaveLength(Math.min(20, found));
	const records = column<{ records: number }>(codes, "records");
	expect(records).toEqual([...records].sort((a, b) => b - a));
	const { stdout: two } = await done`codes ${run} --top 2`;
	expect(two.trim().split("\n")).toHaveLength(4);
	expect(two).toContain(`${found - 2} more; --top ${found} lists all`);
});

test("--json says how each code was found", async () => {
	const { codes } = await json`codes ${run} I10`;
	expect(codes).toMatchObject([
		{ code: "401", system: "PheCode", match: "code", via: "ICD-10-CM I10" },
	]);
	expect(codes[0].people).toBeGreaterThan(0);
});

test("says when no code matches, and refuses a folder that is neither a run nor a dataset", async () => {
	expect((await done`codes ${run} xyzzy`).stdout).toBe(
		'no code matches "xyzzy"; try fewer or other words\n',
	);
	await refusal`codes ${await temporaryFolder()} stroke`;
	expect(await refusal`codes ${dataset} stroke --dataset ${dataset}`).toContain(
		"--dataset belongs to runs",
	);
});

test("finds codes of a run without its dataset, and counts records", async () => {
	const away = join(await temporaryFolder(), "run");
	await cp(run, away, { recursive: true });
	const { stdout, stderr } = await done`codes ${away} hypertension`;
	expect(stderr).toContain("the run's dataset was moved: people are not counted");
	expect(stdout).toMatch(/^code +name +category +records$/m);
});

test("risk takes a synonym, says what it stands for, and names the nearest of a misspelt one", async () => {
	const risk = words`risk ${run} --patient p00001 --threads 1 --code`;
	const { stderr, stdout } = await done`${risk} ${"high blood pressure"}`;
	expect(stderr).toContain("high blood pressure: taken as 401 Hypertension");
	expect(stdout).toContain("Hypertension");
	expect(await refusal`${risk} hypertenson`).toContain("near it are 401 Hypertension");
});

import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

const codes = (...argv: string[]) => captured(words`codes ${argv}`);

test("finds codes of a run and of a dataset, with people", async () => {
	const { run, dataset } = await clinicRun();
	const { code, stdout, stderr } = await codes(run, "high", "blood", "pressure");
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(stdout).toMatch(/^code +name +category +people +found by$/m);
	expect(stdout).toMatch(/^401 +Hypertension +circulatory system +\d+ +high blood pressure$/m);
	expect((await codes(dataset, "high blood pressure")).stdout).toBe(stdout);
});

test("lists all codes without words, the most frequent first", async () => {
	const { run } = await clinicRun();
	const { stdout } = await codes(run, "--json");
	const { found, codes: all } = JSON.parse(stdout);
	expect(all).toHaveLength(Math.min(20, found));
	const records = all.map((one: { records: number }) => one.records);
	expect(records).toEqual([...records].sort((a, b) => b - a));
	const { stdout: two } = await codes(run, "--top", "2");
	expect(two.trim().split("\n")).toHaveLength(4);
	expect(two).toContain(`${found - 2} more; --top ${found} lists all`);
});

test("--json says how each code was found", async () => {
	const { run } = await clinicRun();
	const { codes: found } = JSON.parse((await codes(run, "I10", "--json")).stdout);
	expect(found).toMatchObject([
		{ code: "401", system: "PheCode", match: "code", via: "ICD-10-CM I10" },
	]);
	expect(found[0].people).toBeGreaterThan(0);
});

test("says when no code matches, and refuses a folder that is neither a run nor a dataset", async () => {
	const { run, dataset } = await clinicRun();
	const none = await codes(run, "xyzzy");
	expect(none).toMatchObject({
		code: 0,
		stdout: 'no code matches "xyzzy"; try fewer or other words\n',
	});
	expect((await codes(await temporaryFolder(), "stroke")).code).toBe(2);
	const refused = await codes(dataset, "stroke", "--dataset", dataset);
	expect(refused).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("--dataset belongs to runs"),
	});
});

test("finds codes of a run without its dataset, and counts records", async () => {
	const { run } = await clinicRun();
	const away = join(await temporaryFolder(), "run");
	await cp(run, away, { recursive: true });
	const { stdout, stderr } = await codes(away, "hypertension");
	expect(stderr).toContain("the run's dataset was moved: people are not counted");
	expect(stdout).toMatch(/^code +name +category +records$/m);
});

test("risk takes a synonym, says what it stands for, and names the nearest of a misspelt one", async () => {
	const { run } = await clinicRun();
	const risk = (code: string) =>
		captured(words`risk ${run} --patient p00001 --code ${code} --threads 1`);
	const { code, stderr, stdout } = await risk("high blood pressure");
	expect({ code, stderr }).toEqual({
		code: 0,
		stderr: expect.stringContaining("high blood pressure: taken as 401 Hypertension"),
	});
	expect(stdout).toContain("Hypertension");
	expect(await risk("hypertenson")).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("near it are 401 Hypertension"),
	});
});

import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured } from "./testing/captured.js";
import { runBuilt } from "./testing/run-built.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-interrupted-"));
const population = join(folder, "population");
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
	expect((await captured(["simulate", "--patients", "30", "--out", population])).code).toBe(0);
});

const simulate = (format: string) => (out: string, patients: number) => [
	...["simulate", "--patients", String(patients), "--format", format, "--out", out, "--force"],
];

describe.each([
	{
		name: "simulate",
		argv: simulate("csv"),
		saying: "simulating: person 200",
		file: "people.csv",
	},
	{
		name: "simulate, as Parquet",
		argv: simulate("parquet"),
		saying: "simulating: person 1000",
		file: "people.parquet",
	},
	{
		name: "prepare",
		argv: (out: string) => ["prepare", population, "--from", "csv", "--out", out, "--force"],
		saying: "reading ",
		file: "manifest.json",
	},
])("$name", ({ argv, saying, file }) => {
	test.each([
		{ signal: "SIGINT", code: 130 },
		{ signal: "SIGTERM", code: 143 },
	] as const)("$signal leaves nothing behind, and the target as it was", async (stop) => {
		const place = await temporaryFolder();
		const out = join(place, "out");
		const never = await runBuilt(argv(out, 2000), { saying, signal: stop.signal });
		expect(never).toMatchObject({ code: stop.code, stdout: "" });
		expect(await readdir(place)).toEqual([]);
		expect((await captured(argv(out, 2))).code).toBe(0);
		const before = await readFile(join(out, file));
		const stopped = await runBuilt(argv(out, 2000), { saying, signal: stop.signal });
		expect(stopped).toMatchObject({ code: stop.code, stdout: "" });
		expect(await readdir(place)).toEqual(["out"]);
		expect(await readFile(join(out, file))).toEqual(before);
	});

	test("kill -9 leaves a folder that the next run removes", async () => {
		const place = await temporaryFolder();
		const out = join(place, "out");
		const killed = await runBuilt(argv(out, 2000), { saying, signal: "SIGKILL" });
		expect(killed.signal).toBe("SIGKILL");
		expect((await readdir(place)).sort()).toEqual([
			".out.lock",
			expect.stringMatching(/^\.out\.tmp-\d+$/),
		]);
		expect((await captured(argv(out, 2))).code).toBe(0);
		expect(await readdir(place)).toEqual(["out"]);
	});
});

import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { captured } from "./testing/captured.js";

async function simulated(patients = 40) {
	const folder = await temporaryFolder();
	const events = join(folder, "sim.jsonl");
	const argv = ["simulate", "--patients", `${patients}`, "--out", events, "--seed", "5"];
	const simulation = await captured([...argv, "--json"]);
	return { folder, events, out: join(folder, "dataset"), argv, simulation };
}

describe("simulate, prepare, describe", () => {
	test("work one after the other", async () => {
		const { folder, events, out, argv, simulation } = await simulated();
		expect(simulation).toMatchObject({ code: 0, stderr: "" });
		const written = JSON.parse(simulation.stdout);
		expect(written).toEqual({
			events,
			names: join(folder, "sim.codes.csv"),
			patients: 40,
			records: written.records,
		});
		expect((await captured(argv)).stderr).toContain("already exists; choose another name");
		expect((await captured([...argv, "--force"])).code).toBe(0);

		const prepareArgv = [
			"prepare",
			events,
			"--from",
			"events",
			"--names",
			written.names,
			"--out",
			out,
		];
		const prepared = await captured([...prepareArgv, "--json"]);
		expect(prepared.code).toBe(0);
		const manifest = JSON.parse(prepared.stdout);
		const { counts, dropped } = manifest;
		expect(counts.patients + dropped.patients.patients).toBe(40);
		expect(
			counts.events +
				dropped.patients.events +
				dropped.rareCodes.events +
				dropped.unknownCodes.events,
		).toBe(written.records);

		const again = await captured(prepareArgv);
		expect(again.code).toBe(2);
		expect(again.stderr).toContain("already exists; choose another folder, or pass --force");
		const forced = await captured([...prepareArgv, "--force"]);
		expect(forced.code).toBe(0);
		expect(forced.stdout).toContain("split  patients");
		expect((await readdir(folder)).sort()).toEqual(["dataset", "sim.codes.csv", "sim.jsonl"]);

		const described = await captured(["describe", out, "--top", "3", "--json"]);
		expect(described.code).toBe(0);
		const summary = JSON.parse(described.stdout);
		expect(summary.manifest).toEqual(manifest);
		expect(summary.topCodes).toHaveLength(3);
		expect(summary.topCodes[0].kind).toBe("diagnosis");
		expect(summary.splits.train.patients).toBe(counts.splits.train.patients);
		expect(summary.splits.train.withBirth).toBe(counts.splits.train.patients);
		const text = (await captured(["describe", out])).stdout;
		expect(text).toContain("train: gap in days");
		expect(text).toContain(summary.topCodes[0].name);
	});

	test("bad input exits 2 and leaves nothing behind", async () => {
		const folder = await temporaryFolder();
		const file = join(folder, "events.jsonl");
		const out = join(folder, "dataset");
		const argv = ["prepare", file, "--from", "events", "--out", out];
		expect(await captured(argv)).toMatchObject({ code: 2, stdout: "" });
		await writeFile(file, '{"types":[1],"times":[0]}\n{"types":[1],"times":["x"]}\n');
		const result = await captured(argv);
		expect(result.code).toBe(2);
		expect(result.stderr).toContain(`${file}: line 2: times[0] is a string`);
		expect(await readdir(folder)).toEqual(["events.jsonl"]);
		expect((await captured(["describe", out])).stderr).toContain(
			"is not there; expected a dataset",
		);
	});

	test.each([
		[["prepare", "x", "--from", "events"], "--out"],
		[["prepare", "x", "--from", "tea", "--out", "y"], "Allowed choices are events"],
		[["prepare", "x", "--from", "events", "--out", "y", "--min-count", "0"], "at least 1"],
		[["prepare", "x", "--from", "events", "--out", "y", "--unit-days", "-1"], "above 0"],
		[["simulate", "--patients", "many", "--out", "y"], "whole number of at least 1"],
		[["describe"], "missing required argument"],
	])("bad usage: %j", async (argv, message) => {
		const { code, stderr } = await captured(argv);
		expect(code).toBe(2);
		expect(stderr).toContain(message);
	});

	test.each(["simulate", "prepare", "describe"])("%s --help has an example", async (name) => {
		const { code, stdout } = await captured([name, "--help"]);
		expect(code).toBe(0);
		expect(stdout).toContain(`Examples:\n  trajgpt ${name} `);
	});

	const real = new URL("../../../shared/data/stackoverflow/all_dedup.jsonl", import.meta.url)
		.pathname;
	test.skipIf(!existsSync(real))("StackOverflow, with the names of the badges", async () => {
		const out = join(await temporaryFolder(), "badges");
		const names = real.replace(/[^/]*$/, "badges.csv");
		const argv = ["prepare", real, "--from", "events", "--names", names, "--out", out];
		const { stdout } = await captured([...argv, "--unit-days", "1", "--json"]);
		const { counts } = JSON.parse(stdout);
		expect(counts).toMatchObject({ patients: 4468, events: 327_487, tokens: 27 });
		const { tokens } = JSON.parse(await readFile(join(out, "vocabulary.json"), "utf8"));
		expect(tokens[5]).toMatchObject({ code: "4", name: "Popular Question", kind: "other" });
	});
});

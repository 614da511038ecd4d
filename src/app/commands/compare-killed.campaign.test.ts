import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { done } from "./testing/captured.js";
import { runBuilt } from "./testing/run-built.js";

test("compare resumes after a kill without repeating finished cells", async () => {
	const root = await temporaryFolder();
	const [sim, data, out] = ["sim", "data", "out"].map((name) => join(root, name));
	for (const argv of [
		["simulate", "--patients", "40", "--seed", "7", "--out", sim],
		["prepare", sim, "--from", "csv", "--out", data, "--min-count", "30"],
	])
		await done(argv);
	const quick = ["--epochs", "1", "--max-length", "32", "--futures", "2", "--jobs", "2"];
	const argv = [
		...["compare", data, "--models", "gpt2,seft", "--tasks", "forecast", ...quick, "--out", out],
	];
	const killed = await runBuilt(argv, { saying: " 1: done", signal: "SIGKILL" });
	expect(killed.signal).toBe("SIGKILL");
	// Two run at a time, and either may end first.
	const cells = join(out, "cells");
	const finished = (await readdir(cells)).filter((name) => name.endsWith("-s1.json"));
	expect(finished.length).toBeGreaterThan(0);
	const timesOf = () =>
		Promise.all(finished.map(async (name) => (await stat(join(cells, name))).mtimeMs));
	const before = await timesOf();
	// What the killed one had begun ends by itself and lets go of its folder.
	const { stderr } = await done(argv);
	expect(stderr).toMatch(/[12] of 3 cells are already finished/);
	expect(await timesOf()).toEqual(before);
	expect(JSON.parse(await readFile(join(out, "table.json"), "utf8")).lines).toHaveLength(5);
});

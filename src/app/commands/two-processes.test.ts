import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { holdingLock, replaceFolder } from "../../base/files/index.js";
import { done } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { runBuilt } from "./testing/run-built.js";

let root: string;
let run: string;
let dataset: string;
let population: string;
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
	population = join(root, "population");
	await done`simulate --patients 30 --out ${population}`;
});

const commands = {
	simulate: () => ["simulate", "--patients", "20"],
	prepare: () => ["prepare", population, "--from", "csv"],
	export: () => ["export", run],
};

test.each(Object.entries(commands))(
	"a second %s on the same folder is rejected, and the first is not disturbed",
	async (name, argv) => {
		const place = join(root, `two-${name}`);
		const out = join(place, "out");
		const lock = join(place, ".out.lock");
		await replaceFolder(out, async (partial) => {
			const second = await runBuilt([...argv(), "--out", out]);
			expect(second).toMatchObject({ code: 2, stdout: "" });
			expect(second.stderr).toContain(
				`error: process ${process.pid} is writing ${out} (${lock}); wait for it or stop it`,
			);
			await writeFile(join(partial, "first"), "whole");
		});
		expect(await readFile(join(out, "first"), "utf8")).toBe("whole");
		expect(await readdir(place)).toEqual(["out"]);
	},
	60_000,
);

test("a second compare on the same folder is rejected before it writes anything", async () => {
	const out = join(root, "two-compare");
	const lock = join(out, "compare.lock");
	await mkdir(out);
	await holdingLock(lock, "at work on this comparison", async () => {
		const argv = ["compare", dataset, "--models", "gpt2", "--tasks", "forecast", "--out", out];
		const second = await runBuilt(argv);
		expect(second).toMatchObject({ code: 2, stdout: "" });
		expect(second.stderr).toContain(
			`error: process ${process.pid} is at work on this comparison (${lock}); wait for it`,
		);
	});
	expect(await readdir(out)).toEqual([]);
});

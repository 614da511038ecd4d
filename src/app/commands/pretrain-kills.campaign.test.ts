import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runBuilt } from "./testing/run-built.js";
import { smallTraining } from "./testing/small-training.js";

const { root, dataset, whole, prepared, fresh, again, killAt, expectSameAsWhole } = smallTraining();
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
	expect((await prepared(dataset, 64, 5)).code).toBe(0);
	expect((await runBuilt(fresh(whole))).code).toBe(0);
});

test("a run killed at every write of settings, log and checkpoints ends with the same weights", async () => {
	const run = join(root, "killed");
	// The first few die while they take the lock, begin the run or write its first checkpoint.
	const left = await killAt([23, 3, 8, 16, 32, 40, 97, 77, 99, 92, 106, 95], run);
	expect(left).toEqual(expect.arrayContaining(["run.json.tmp", "run.lock", "checkpoint.tmp-N"]));
	const ended = await runBuilt(again(run));
	expect(ended.code, ended.stderr).toBe(0);
	expectSameAsWhole(run);
	expect(readdirSync(run).sort()).toEqual(readdirSync(whole).sort());
});

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { done } from "./testing/captured.js";
import { preparedPeople, smallTraining } from "./testing/small-training.js";

const { root, dataset, whole, fresh, again, killAt, expectSameAsWhole } = smallTraining();
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeAll(async () => {
	await preparedPeople(dataset, 64, 5);
	await done`${fresh(whole)}`;
});

test("a run killed at every write of settings, log and checkpoints ends with the same weights", async () => {
	const run = join(root, "killed");
	// The first few die while they take the lock, begin the run or write its first checkpoint.
	const left = await killAt([23, 3, 8, 16, 32, 40, 97, 77, 99, 92, 106, 95], run);
	expect(left).toEqual(expect.arrayContaining(["run.json.tmp", "run.lock", "checkpoint.tmp-N"]));
	await done`${again(run)}`;
	expectSameAsWhole(run);
});

import { expect, test } from "vitest";
import type { Checkpoint } from "./checkpoint.js";
import { trainOptions } from "./options.js";
import { differences, type Run, settingsThatDiffer } from "./run-folder.js";

test("settings are compared by what they say, lists among them", () => {
	const run = { seed: 1, averages: [7, 13, 25], inside: { k: 1 } };
	expect(differences(run, structuredClone(run))).toEqual([]);
	expect(differences(run, { ...run, averages: [7, 13], seed: 2 })).toEqual([
		"seed 1 → 2",
		"averages 7,13,25 → 7,13",
	]);
	expect(differences({ seed: 1 }, {})).toEqual(["seed 1 → undefined"]);
});

const run = { model: "trajgpt", config: { dim: 8 }, dataset: {} } as unknown as Run;
const checkpoint = (options?: object) =>
	({ model: "trajgpt", config: { dim: 8 }, state: { options, dataset: {} } }) as Checkpoint;

test("a checkpoint from before an option has its default", () => {
	const options = trainOptions.parse({ seed: 3, learningRate: 0.01 });
	const { batchShapes, ...earlier } = options;
	expect(settingsThatDiffer(checkpoint(earlier), { ...run, options })).toEqual([]);
	const others = { ...run, options: { ...options, batchShapes: batchShapes + 1 } };
	expect(settingsThatDiffer(checkpoint(earlier), others)).toEqual(["batchShapes 10 → 9"]);
});

test("a checkpoint without options differs from any run", () => {
	const options = trainOptions.parse({ learningRate: 0.01 });
	expect(settingsThatDiffer(checkpoint(), { ...run, options })).toContain("seed 1 → undefined");
});

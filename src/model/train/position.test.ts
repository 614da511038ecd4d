import { expect, test } from "vitest";
import type { Checkpoint } from "./checkpoint.js";
import { trainOptions } from "./options.js";
import { settingsThatDiffer } from "./position.js";
import type { Run } from "./run-folder.js";

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

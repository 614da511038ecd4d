import { expect, test } from "vitest";
import type { Dataset } from "../cohort/index.js";
import { smallDataset } from "../evaluate/testing/small-dataset.js";
import { pretrain } from "./pretrain.js";

const dataset = {
	...smallDataset(
		[2],
		[
			{ split: "train", tokens: [5], times: [10] },
			{ split: "valid", tokens: [5], times: [20] },
		],
	),
	manifest: { source: { axis: "dates" } } as unknown as Dataset["manifest"],
};

test("a date by which a split has no record is refused", async () => {
	await expect(pretrain(dataset, "never-written", { before: 9 })).rejects.toThrow(
		"no training patient has a record by 1970-01-10; give a later `before`",
	);
	await expect(pretrain(dataset, "never-written", { before: 19 })).rejects.toThrow(
		"no validation patient has a record by 1970-01-20; give a later `before`",
	);
});

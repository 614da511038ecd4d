import { expect, test } from "vitest";
import type { Dataset } from "../data/cohort/index.js";
import { labelledTasks } from "./labelled/task-labels.js";
import { isLabelledTask, knownTasks } from "./tasks.js";
import { smallDataset } from "./testing/small-dataset.js";

test("the tasks with labels are those that come from labels of a dataset, not futures", () => {
	const dataset: Dataset = {
		...smallDataset([3, 1], []),
		manifest: { labels: [{ task: "mine" }] } as unknown as Dataset["manifest"],
	};
	const known = knownTasks(dataset);
	expect(known).toEqual(["onset", "next", "forecast", "mine", "futures"]);
	expect(known.filter(isLabelledTask)).toEqual(["mine"]);
	expect(labelledTasks(dataset)).toEqual(["mine"]);
});

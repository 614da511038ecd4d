import { expect, test } from "vitest";
import { random } from "../../../base/random.js";
import type { Dataset, DatasetSummary } from "../../../data/cohort/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { patientCaption } from "../../../evaluate/report/sections.js";
import { smallDataset } from "../../../evaluate/testing/small-dataset.js";
import { modelById } from "../../../model/index.js";
import type { Trained } from "../../../model/train/index.js";
import { patientMap } from "./learned.js";

const model = modelById("trajgpt");
const config = model.config.parse({
	...{ layers: 1, heads: 2, dim: 12, key: 8, value: 12, ff: 16, vocab: 8 },
});
const trained = { model, config, weights: model.init(config, random(3)) } as unknown as Trained;
/** 12 test patients, of whom every third has a label. */
const dataset: Dataset = {
	...smallDataset(
		[1, 1, 1],
		Array.from({ length: 12 }, (_, i) => ({ split: "test", tokens: [5 + (i % 3), 6, 5, 7] })),
	),
	labels: async () =>
		[0, 3, 6, 9].map((patient) => ({ patient, time: 2, events: 2, value: patient > 3 })),
};
const summary = (labels: unknown[]) => ({ labels }) as unknown as DatasetSummary;
const labelled = summary([{ task: "insulin", splits: { test: { labels: 4, positive: 2 } } }]);

const drawn = (whose: DatasetSummary, options: { most?: number }, of = dataset) => {
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const request = { runtime, trained, dataset: of, summary: whose, seed: 0, onStage: () => {} };
	return patientMap(request, options.most);
};

const shown = async (...given: Parameters<typeof drawn>) => {
	const { map, of } = await drawn(...given);
	return [map.patients.length, of];
};

test("a map of patients says from how many they were drawn", async () => {
	expect(await shown(summary([]), {})).toEqual([12, 12]);
	expect(await shown(summary([]), { most: 7 })).toEqual([7, 12]);
	expect(await shown(labelled, {})).toEqual([4, 4]);
	expect(await shown(labelled, { most: 3 })).toEqual([3, 4]);
});

test("of the patients nearest to a patient, so many have the same sex", async () => {
	async function agreement(sexes: readonly ("female" | "male")[]) {
		const people = Array.from({ length: 24 }, (_, i) => {
			const sex = sexes[i % 2];
			return { split: "test", tokens: [5 + (i % 2), 6, 7], ...(sex && { sex }) } as const;
		});
		return (await drawn(summary([]), {}, smallDataset([1, 1, 1], people))).agreement;
	}
	expect(await agreement([])).toBeUndefined();
	expect(await agreement(["female"])).toBeUndefined();
	// Of each sex there are twelve with the same history.
	expect(await agreement(["female", "male"])).toEqual({
		...{ neighbours: 10, share: 1, byChance: 11 / 23 },
	});
});

test("the caption of the patient map says whether all patients are shown", () => {
	expect(patientCaption(2000, 19_966, false)).toBe(
		"Each mark is one of 2,000 test patients, drawn at random from 19,966, represented by the history up to the last record.",
	);
	expect(patientCaption(600, 600, false)).toBe(
		"Each mark is a test patient, represented by the history up to the last record.",
	);
	expect(patientCaption(600, 600, true)).toContain(
		"Each mark is a test patient, represented by the history up to the time of the label. ",
	);
});

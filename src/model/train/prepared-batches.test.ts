import { describe, expect, test } from "vitest";
import { datasetView, splitBatches } from "../../data/cohort/index.js";
import { prepared } from "../../data/cohort/testing/prepared.js";
import { sourceOf } from "../../data/cohort/testing/source-of.js";
import { modelById } from "../index.js";
import { smallSettings } from "../testing/small-settings.js";
import { type PreparedBatches, preparedHere, readAhead } from "./prepared-batches.js";

describe("reading ahead", () => {
	test("keeps the order, and at most so many under way", async () => {
		let underWay = 0;
		let most = 0;
		const read = async (i: number) => {
			most = Math.max(most, ++underWay);
			// Later ones are ready first.
			for (let turn = i; turn < 12; turn++) await null;
			underWay--;
			return i;
		};
		const got: number[] = [];
		for await (const i of readAhead(3, 10, 2, read)) got.push(i);
		expect(got).toEqual([3, 4, 5, 6, 7, 8, 9]);
		expect(most).toBe(3);
	});

	test("reports a failure when its turn has come", async () => {
		const read = async (i: number) => {
			if (i === 2) throw new Error("the third");
			return i;
		};
		const got: number[] = [];
		await expect(async () => {
			for await (const i of readAhead(0, 5, 4, read)) got.push(i);
		}).rejects.toThrow("the third");
		expect(got).toEqual([0, 1]);
	});
});

test("other threads prepare the same batches, of the same part of a dataset", async () => {
	const histories = Array.from({ length: 60 }, (_, p) => [`p${p}`, "abcab".repeat(1 + (p % 3))]);
	const { dataset: whole } = await prepared(sourceOf(Object.fromEntries(histories)));
	const view = { trainPatients: 20 };
	const dataset = await datasetView(whole, view);
	expect([...dataset.patients("train")].length).toBe(20);
	const model = modelById("trajgpt");
	const config = model.config.parse({ ...smallSettings.trajgpt, vocab: dataset.vocabulary.size });
	const plan = { maxLength: 6, cut: "windows", size: { slots: 24 }, seed: 3 } as const;
	const objective = { objective: "horizon", horizon: 3 } as const;
	const shared = { accumulate: 2, seed: 3 };
	const use = { config, objective, devices: 2 };
	const here = preparedHere(
		{
			...shared,
			batches: splitBatches(dataset, "train", plan),
			checks: splitBatches(dataset, "valid", plan),
		},
		{ ...use, model },
	);
	// Threads need the built files.
	const built = new URL("../../../dist/model/train/prepared-batches.js", import.meta.url).href;
	const { preparedByThreads }: typeof import("./prepared-batches.js") = await import(built);
	const threads: PreparedBatches = preparedByThreads(
		{ ...shared, ...use, dataset: dataset.folder, view, model: model.id, plan },
		2,
	);
	try {
		for (const step of [1, 2, 3]) {
			const place = { epoch: 1, stepInEpoch: step - 1, step };
			const expected = await here.ofStep(place);
			expect(expected.length).toBe(2);
			expect(await threads.ofStep(place)).toEqual(expected);
		}
		expect(await threads.ofValidation(0)).toEqual(await here.ofValidation(0));
	} finally {
		await threads.dispose();
	}
});

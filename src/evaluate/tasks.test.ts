import { describe, expect, test } from "vitest";
import type { Dataset, Label } from "../data/cohort/index.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { tooFewText } from "./bootstrap.js";
import { evaluateDefaults } from "./evaluation.js";
import { labelledTasks } from "./labelled/task-labels.js";
import * as tasks from "./tasks.js";
import { smallDataset } from "./testing/small-dataset.js";

/** 60 test patients, of whom every fifth has a label, beside 20 others. */
const people = Array.from({ length: 80 }, (_, i) => ({
	split: i % 4 === 3 ? ("train" as const) : ("test" as const),
	tokens: [5, 6, 5, 6],
}));
const labels: Label[] = people.flatMap((_, patient) =>
	patient % 5 === 0 ? [{ patient, time: 2, events: 2, value: patient % 2 === 0 }] : [],
);
const dataset: Dataset = {
	...smallDataset([3, 1], people),
	manifest: {
		labels: [{ task: "mine" }],
		contentHash: "0",
		source: { path: "none" },
	} as unknown as Dataset["manifest"],
	labels: async () => labels,
};
const split = "test";
const all = [...dataset.patients(split)];

const numbers = async (task: string, options: { patients?: number | "all"; most?: number }) => {
	const { people, sample } = await tasks.evaluatedPatients(task, dataset, { split, ...options });
	expect(people.patients("train")).toEqual(dataset.patients("train"));
	return { patients: [...people.patients(split)], sample };
};

describe("the patients of an evaluation", () => {
	test("are all, if there are no more than the limit", async () => {
		for (const options of [{}, { most: 60 }, { patients: 60 }, { patients: 1000 }])
			expect(await numbers("next", options)).toEqual({ patients: all, sample: undefined });
		expect(await numbers("next", { patients: "all", most: 7 })).toEqual({
			patients: all,
			sample: undefined,
		});
	});

	test("are drawn at random from a larger split, fewer as a part of more", async () => {
		const { patients, sample } = await numbers("next", { most: 20 });
		expect(sample).toEqual({ patients: 20, of: 60, how: "random" });
		expect(patients).toHaveLength(20);
		expect(new Set(patients).size).toBe(20);
		for (const patient of patients) expect(all).toContain(patient);
		expect(patients).toEqual(patients.toSorted((a, b) => a - b));
		expect(patients).not.toEqual(all.slice(0, 20));
		// Spread over the whole split, not over its beginning.
		expect(patients.filter((patient) => patient < 40).length).toBeGreaterThan(4);
		expect(patients.filter((patient) => patient >= 40).length).toBeGreaterThan(4);
		expect(await numbers("forecast", { most: 20 })).toEqual({ patients, sample });
		const fewer = await numbers("next", { most: 10 });
		for (const patient of fewer.patients) expect(patients).toContain(patient);
	});

	test("are the first, if a number is given", async () => {
		expect(await numbers("next", { patients: 3, most: 2 })).toEqual({
			patients: all.slice(0, 3),
			sample: { patients: 3, of: 60, how: "first" },
		});
	});

	test("are drawn from those with a label, where the dataset has labels", async () => {
		const labelled = all.filter((patient) => patient % 5 === 0);
		expect(labelled).toHaveLength(12);
		expect(await numbers("mine", { most: 12 })).toEqual({ patients: all, sample: undefined });
		const { patients, sample } = await numbers("mine", { most: 5 });
		expect(sample).toEqual({ patients: 5, of: 12, how: "random" });
		for (const patient of patients) expect(labelled).toContain(patient);
	});
});

test("an evaluation of a part says so, and how to evaluate all", async () => {
	const { people, sample } = await tasks.evaluatedPatients("next", dataset, { split, most: 20 });
	const maker = { versions: {}, clock: () => 0 };
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const options = { ...evaluateDefaults, draws: 5 };
	const evaluate = await tasks.openTask("next", people, { ...options, sample: sample! }, maker);
	const evaluation = await evaluate(runtime);
	expect(evaluation).toMatchObject({ patients: 20, sample: { patients: 20, of: 60 } });
	expect(evaluation.notes[0]).toBe(
		'sample: 20 of 60 patients, drawn at random, the same in every evaluation of this dataset; `patients: "all"` evaluates all',
	);
	const ofAll = await (await tasks.openTask("next", dataset, options, maker))(runtime);
	expect(ofAll.patients).toBe(60);
	expect(ofAll).not.toHaveProperty("sample");
	expect(ofAll.notes.join()).not.toContain("sample:");
});

test("as many patients, drawn and the first, are different inputs", async () => {
	const hash = (how?: "random" | "first") =>
		tasks.evaluationInputsHash("next", dataset, {
			...evaluateDefaults,
			...(how && { sample: { patients: 20, of: 60, how } }),
		});
	expect(await hash("random")).not.toBe(await hash("first"));
	// The number of patients in the dataset is hashed; evaluations before samples were drawn keep their hash.
	expect(await hash("first")).toBe(await hash());
});

describe("baselines of a sample", () => {
	/** Of the validation patients, the first alone repeats its code. Every third training label is positive. */
	const taught = Array.from({ length: 40 }, (_, i) => ({
		split: i < 30 ? ("train" as const) : ("valid" as const),
		tokens: i === 30 ? [5, 5, 5, 5] : [5, 6, 7, 8],
	}));
	const whole: Dataset = {
		...smallDataset([1, 1, 1, 1], taught),
		manifest: dataset.manifest,
		labels: async () =>
			taught.map((_, patient) => ({ patient, time: 2, events: 2, value: patient % 3 === 0 })),
	};
	const maker = { versions: {}, clock: () => 0 };
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	const measure = async (task: string, split: "train" | "valid", patients: number | "all") => {
		const { people, sample } = await tasks.evaluatedPatients(task, whole, { split, patients });
		const options = { ...evaluateDefaults, draws: 5, split };
		const opened = { ...options, ...(sample && { sample, fullDataset: whole }) };
		return (await tasks.openTask(task, people, opened, maker))(runtime);
	};

	test("are smoothed on all validation patients", async () => {
		const text = "on the validation patients it did not help";
		expect((await measure("next", "valid", "all")).notes.join()).toContain(text);
		const first = await measure("next", "valid", 1);
		expect(first.patients).toBe(1);
		expect(first.notes.join()).toContain(text);
	});

	test("learn from all training patients", async () => {
		const { patients, notes } = await measure("mine", "train", 4);
		expect(patients).toBe(4);
		expect(notes.join()).toContain("from 30 training labels and ");
	});
});

describe("tooFewText", () => {
	test.each([
		[{ split: "test", patients: 5 }, "5 test patients: no conclusion"],
		[{ split: "valid", patients: 1 }, "1 validation patient: no conclusion"],
		[{ split: "test", patients: 29, labels: { positive: 14, all: 29 } }, /^29 test patients/],
		[
			{ split: "test", patients: 300, labels: { positive: 9, all: 300 } },
			"9 positive labels of 300 test patients: no conclusion",
		],
		[
			{ split: "train", patients: 300, labels: { positive: 299, all: 300 } },
			"1 negative label of 300 training patients: no conclusion",
		],
	] as const)("says why %j allows no conclusion", (evaluated, text) => {
		expect(tooFewText(evaluated)).toEqual(
			typeof text === "string" ? text : expect.stringMatching(text),
		);
	});

	test.each([
		{ split: "test", patients: 30 },
		{ split: "test", patients: 30, labels: { positive: 10, all: 30 } },
		{ split: "test", patients: 30, labels: { positive: 20, all: 30 } },
	] as const)("says nothing of %j", (evaluated) => {
		expect(tooFewText(evaluated)).toBeUndefined();
	});
});

test("the tasks with labels are those that come from labels of a dataset, not futures", () => {
	const dataset: Dataset = {
		...smallDataset([3, 1], []),
		manifest: { labels: [{ task: "mine" }] } as unknown as Dataset["manifest"],
	};
	const known = tasks.knownTasks(dataset);
	expect(known).toEqual(["onset", "next", "forecast", "mine", "futures"]);
	expect(known.filter(tasks.isLabelledTask)).toEqual(["mine"]);
	expect(labelledTasks(dataset)).toEqual(["mine"]);
});

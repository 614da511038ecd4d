import { describe, expect, test } from "vitest";
import { type Dataset, datasetBefore, datasetOf, datasetView } from "./dataset.js";
import type { PatientColumns } from "./dataset-files.js";
import type { Period } from "./history.js";
import type { Manifest } from "./manifest.js";
import { periods } from "./testing/source-of.js";
import { vocabularyOf } from "./vocabulary.js";

const inMemory = (
	patients: Omit<PatientColumns, "sex">,
	times: Float64Array,
	tokens: Int32Array,
	periodsOf: (patient: number) => Period[],
): Dataset =>
	datasetOf({
		folder: "memory",
		manifest: { source: { axis: "dates" } } as Manifest,
		vocabulary: vocabularyOf([]),
		patients: { ...patients, sex: patients.id.map(() => null) },
		events: {
			read: async (first, count) => ({
				times: times.subarray(first, first + count),
				tokens: tokens.subarray(first, first + count),
			}),
		},
		periodsOf,
		labels: async () => [],
	});

const [a, b] = [5, 6];
const dataset = inMemory(
	{
		id: ["early", "late"],
		birth: [0, null],
		death: [20, 60],
		split: ["train", "train"],
		first: Int32Array.of(0, 3),
		count: Int32Array.of(3, 2),
	},
	Float64Array.of(10, 20.9, 21, 30, 40),
	Int32Array.of(a, b, a, b, a),
	(patient) => periods(patient === 0 ? "0..15 18..50 55..60" : "25..50"),
);

describe("a dataset at the end of a day", () => {
	test("has records, observation and deaths up to that day", async () => {
		const past = await datasetBefore(dataset, 20);
		expect([...past.patients("train")]).toEqual([0]);
		const { tokens, times, observed, death } = await past.read(0);
		expect([...tokens].slice(1)).toEqual([a, b]);
		expect([...times]).toEqual([0, 10, 20.9]);
		expect(observed).toEqual(periods("0..15 18..20"));
		expect(past.observedOf(0)).toEqual(observed);
		expect([death, past.deathOf(0), past.deathOf(1)]).toEqual([20, 20, null]);
		expect(past.lengthOf(0)).toBe(3);
		for await (const { id } of past.histories("train")) expect(id).toBe("early");
	});

	test("forgets later deaths, and has no labels, which may depend on later records", async () => {
		const past = await datasetBefore(dataset, 19);
		expect((await past.read(0)).death).toBeNull();
		await expect(past.labels("chf")).rejects.toThrow("may depend on records after 1970-01-20");
	});

	test("needs dates", async () => {
		const undated = { ...dataset, manifest: { source: { axis: "days" } } as Manifest };
		await expect(datasetBefore(undated, 20)).rejects.toThrow("has no dates");
	});
});

const people = Array.from({ length: 100 }, (_, number) => number);
const unknown = people.map(() => null);
const many = inMemory(
	{
		id: people.map((number) => `p${number}`),
		birth: unknown,
		death: unknown,
		split: people.map((number) => (number % 10 === 0 ? "valid" : "train")),
		first: Int32Array.from(people),
		count: Int32Array.from(people, () => 1),
	},
	Float64Array.from(people),
	new Int32Array(100).fill(a),
	() => [],
);
const all = [...many.patients("train")];
const drawn = async (trainPatients: number) => {
	const view = await datasetView(many, { trainPatients });
	return [...view.patients("train")];
};

test("some of the training patients: fewer are a part of more, in the order of the file", async () => {
	const [few, more] = [await drawn(5), await drawn(40)];
	expect([few.length, more.length]).toEqual([5, 40]);
	expect(more).toEqual(all.filter((patient) => more.includes(patient)));
	expect(few).toEqual(more.filter((patient) => few.includes(patient)));
	expect(more).not.toEqual(all.slice(0, 40));
	expect(await drawn(all.length)).toEqual(all);
});

test("histories are those of the patients; other splits stay", async () => {
	const view = await datasetView(many, { trainPatients: 3 });
	const ids: string[] = [];
	for await (const { id } of view.histories("train")) ids.push(id);
	expect(ids).toEqual([...view.patients("train")].map((patient) => many.idOf(patient)));
	expect(view.patients("valid")).toEqual(many.patients("valid"));
});

test("more than there are is refused", async () => {
	await expect(drawn(all.length + 1)).rejects.toThrow(
		`has ${all.length} training patients; give at most as many`,
	);
});

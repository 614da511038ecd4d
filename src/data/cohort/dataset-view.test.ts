import { expect, test } from "vitest";
import { datasetOf, datasetView } from "./dataset.js";
import type { Manifest } from "./manifest.js";
import { vocabularyOf } from "./vocabulary.js";

const people = Array.from({ length: 100 }, (_, number) => number);
const dataset = datasetOf({
	folder: "memory",
	manifest: {} as Manifest,
	vocabulary: vocabularyOf([]),
	patients: {
		id: people.map((number) => `p${number}`),
		...{ birth: people.map(() => null), sex: people.map(() => null) },
		death: people.map(() => null),
		split: people.map((number) => (number % 10 === 0 ? "valid" : "train")),
		...{ first: Int32Array.from(people), count: Int32Array.from(people, () => 1) },
	},
	events: {
		read: async (first, count) => ({
			...{ times: new Float64Array(count).fill(first), tokens: new Int32Array(count).fill(5) },
		}),
	},
	periodsOf: () => [],
	labels: async () => [],
});
const all = [...dataset.patients("train")];
const drawn = async (trainPatients: number) => {
	const view = await datasetView(dataset, { trainPatients });
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
	const view = await datasetView(dataset, { trainPatients: 3 });
	const ids: string[] = [];
	for await (const { id } of view.histories("train")) ids.push(id);
	expect(ids).toEqual([...view.patients("train")].map((patient) => dataset.idOf(patient)));
	expect(view.patients("valid")).toEqual(dataset.patients("valid"));
});

test("more than there are is refused", async () => {
	await expect(drawn(all.length + 1)).rejects.toThrow(
		`has ${all.length} training patients; give at most as many`,
	);
});

import { describe, expect, test } from "vitest";
import { smallDataset } from "../testing/small-dataset.js";
import { onsetLabels } from "./onset-labels.js";

const [disease, other] = [5, 6];

describe("labels of onset", () => {
	const observed = [{ start: 0, end: 1000 }]; // index days from 365 to 700
	const long = [{ start: 0, end: 10_000 }];
	const person = { split: "train" as const, birth: -9000, tokens: [other], times: [10] };
	const dataset = smallDataset(
		[9, 9],
		[
			{ ...person, observed, tokens: [other, disease], times: [10, 900] },
			{ ...person, observed },
			{ ...person, observed: long },
			{ ...person, observed, tokens: [disease], times: [100] },
			{ ...person, observed, death: 800 },
			{ ...person, observed: long, split: "test", tokens: [other, disease], times: [10, 9000] },
			{ ...person, observed: [{ start: 0, end: 300 }] },
		],
	);

	test("are of patients at risk whose outcome is known: onset yes, death or later no", async () => {
		const { labels, censored } = await onsetLabels(dataset, [disease]);
		expect(labels.map(({ patient, value, events }) => [patient, value, events])).toEqual([
			[0, true, 1],
			[2, false, 1],
			[4, false, 1],
			[5, false, 1],
		]);
		expect(censored).toEqual({ train: 1, valid: 0, test: 0 });
		for (const { time, patient } of labels)
			if (patient !== 2 && patient !== 5) {
				expect(time).toBeGreaterThanOrEqual(365);
				expect(time).toBeLessThanOrEqual(700);
			}
	});

	test("have weights that make up for those who were censored", async () => {
		const { labels } = await onsetLabels(dataset, [disease]);
		const train = labels.filter(({ patient }) => patient < 5);
		// Four training patients are at risk; the censored one is represented by those observed longer.
		expect(train.reduce((sum, { weight = 0 }) => sum + weight, 0)).toBeCloseTo(4, 12);
		expect(train.find(({ patient }) => patient === 2)!.weight).toBeGreaterThan(1);
		expect(labels.at(-1)!.weight).toBe(1);
	});
});

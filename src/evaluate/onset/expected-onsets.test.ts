import { expect, test } from "vitest";
import { smallDataset } from "../testing/small-dataset.js";
import { expectedOnsets, expectedRates } from "./expected-onsets.js";
import { indexCohort } from "./index-days.js";

const disease = 5;
const year = 365;
const horizon = { horizonDays: year, lookBackDays: 0 };

/** 100 training patients, observed for ten years from day 0; every second gets the disease on a day of their own. */
const training = Array.from({ length: 100 }, (_, i) => ({
	split: "train" as const,
	observed: [{ start: 0, end: 10 * year }],
	...(i % 2 === 0
		? { tokens: [6, disease], times: [0, 36 * (i + 1)] }
		: { tokens: [6], times: [0] }),
}));

async function expectedOf(
	tests: readonly {
		readonly end: number;
		readonly tokens: readonly number[];
		readonly times: readonly number[];
	}[],
) {
	const dataset = smallDataset(
		[50, 100],
		[
			...training,
			...tests.map(({ end, ...records }) => ({
				...records,
				split: "test" as const,
				observed: [{ start: 0, end }],
			})),
		],
	);
	const rates = await expectedRates(dataset, "train", horizon);
	const rule = { kind: "date", day: 100 } as const;
	const { patients } = await indexCohort(dataset, "test", rule, { seed: 0, lookBackDays: 0 });
	return expectedOnsets(rates, patients, dataset.vocabulary.size)[disease] as number;
}

const well = { end: 10 * year, tokens: [6], times: [0] };

test("expected onsets follow from the training patients' rate, and not from what came after the index day", async () => {
	const one = await expectedOf([well]);
	// 50 onsets in 100 · 10 years, less the years after each onset and the first, which counts by half.
	const years = training.reduce((sum, { times }) => sum + (times[1] ?? 10 * year) / year - 0.5, 0);
	expect(one).toBeCloseTo(1 - Math.exp(-50 / years), 2);
	const ill = { end: 10 * year, tokens: [6, disease], times: [0, 150] };
	expect(await expectedOf([well, ill])).toBeCloseTo(2 * one, 10);
});

test("nobody counts who has the code by then, and others only while they are observed", async () => {
	const one = await expectedOf([well]);
	const before = { end: 10 * year, tokens: [6, disease], times: [0, 50] };
	expect(await expectedOf([well, before])).toBeCloseTo(one, 10);
	const short = { ...well, end: 100 + year / 5 };
	expect(await expectedOf([short])).toBeCloseTo(1 - (1 - one) ** 0.2, 4);
});

import { describe, expect, test } from "vitest";
import { onsetSums } from "./age-sex-rates.js";
import type { History } from "./history.js";
import { historiesDataset } from "./testing/histories-dataset.js";
import { periods } from "./testing/source-of.js";

const vocab = 8;
/** The first day at the age of 30: between the bands 5 and 6. */
const thirty = Math.ceil(30 * 365.25);

/** Someone born on day 0, at risk from 100 days before the age of 30 to 200 days after it. */
const person = (id: string, more: Partial<History> = {}): History => ({
	...{ id, sex: "female", birthEvents: 1, death: null },
	tokens: Int32Array.of(3),
	times: Float64Array.of(0),
	observed: [{ start: thirty - 465, end: thirty + 200 }],
	...more,
});
const recorded = (token: number, day: number) => ({
	tokens: Int32Array.of(3, token),
	times: Float64Array.of(0, day),
});
/** The horizon is so short that every day counts in full. */
const options = { lookBackDays: 365, horizonDays: 1e-6 };

/** Onsets and days of an output in the bands 5 and 6: `0 in 100, 1 in 50`. */
async function sumsOf(people: History[], output: number, sex: 0 | 1 = 0, more = {}) {
	const { width, onsets, days } = await onsetSums(historiesDataset(people, vocab), "train", {
		...{ ...options, ...more },
	});
	const text = (band: number) => {
		const at = (band * 2 + sex) * width + (output < 0 ? width + output : output);
		return `${onsets[at]} in ${Number(days[at].toFixed(3))}`;
	};
	return `${text(5)}, ${text(6)}`;
}

describe("first records by age and sex", () => {
	test("count in the band of the day, and time at risk in every band that it touches", async () => {
		expect(await sumsOf([person("a")], 5)).toBe("0 in 100, 0 in 200");
		expect(await sumsOf([person("a", recorded(5, thirty + 50))], 5)).toBe("0 in 100, 1 in 50");
		expect(await sumsOf([person("a", recorded(5, thirty - 40))], 5)).toBe("1 in 60, 0 in 0");
	});

	test("count by the share of the horizon in which there can be an index day", async () => {
		const horizon = { horizonDays: 150 };
		// 100 days that rise from 0 to 100/150, then 50 that rise to 1, and 150 in full.
		expect(await sumsOf([person("a", recorded(6, thirty + 20))], 5, 0, horizon)).toBe(
			"0 in 33.333, 0 in 191.667",
		);
		const onset = await sumsOf([person("a", recorded(5, thirty + 20))], 5, 0, horizon);
		expect(onset).toContain(`, ${120 / 150} in `);
	});

	test("need somebody who does not have the code", async () => {
		const before = person("a", recorded(5, thirty - 300));
		expect(await sumsOf([before], 5)).toBe("0 in 0, 0 in 0");
		expect(await sumsOf([before], 6)).toMatch(/, 0 in 200$/);
		// Records of the first day at risk are history.
		expect(await sumsOf([person("a", recorded(5, thirty - 100))], 5)).toMatch(/, 0 in 0$/);
	});

	test("count groups and deaths, by sex", async () => {
		const groups = { groups: [[5, 6]] };
		const people = [
			person("a", recorded(6, thirty + 10)),
			person("b", { sex: "male", death: thirty + 20 }),
		];
		expect(await sumsOf(people, vocab, 0, groups)).toMatch(/, 1 in 10$/);
		expect(await sumsOf(people, -1, 0, groups)).toMatch(/, 0 in 200$/);
		expect(await sumsOf(people, -1, 1, groups)).toMatch(/, 1 in 20$/);
	});

	test("begin anew after a gap, for what is not recorded yet", async () => {
		const observed = periods(`${thirty}..${thirty + 400} ${thirty + 500}..${thirty + 900}`);
		const gap = person("a", { observed, ...recorded(5, thirty + 450) });
		expect(await sumsOf([gap], 5)).toMatch(/, 0 in 35$/);
		expect(await sumsOf([gap], 6)).toMatch(/, 0 in 70$/);
	});

	test("leave out patients who do not count, and the time of those never at risk", async () => {
		const short = person("c", { observed: [{ start: thirty, end: thirty + 100 }] });
		const people = [person("a"), person("b", { sex: "male" }), short];
		const dataset = historiesDataset(people, vocab);
		expect((await onsetSums(dataset, "train", options)).patients).toBe(2);
		const men = { ...options, counts: ({ sex }: History) => sex === "male" };
		expect((await onsetSums(dataset, "train", men)).patients).toBe(1);
	});
});

import { describe, expect, test } from "vitest";
import { landmarkValues, pastFeatures, writePast } from "./landmarks.js";
import { hazardSettings, outputsOf } from "./settings.js";
import { historyWith } from "./testing/histories.js";

const vocab = 9;
const settings = hazardSettings.parse({ groups: [{ name: "five or six", tokens: [5, 6] }] });
const outputs = outputsOf(settings, vocab);
const group = outputs.group(0);

/** Token 5 twice before the landmark on day 3000, 6 on that day; then 7, 5 and 7 again. */
const history = historyWith([
	[2000, 5],
	[2900, 5],
	[3000, 6],
	[3010, 7],
	[3050, 5],
	[3100, 7],
]);

const fill = (atRisk: { until: number; died: boolean; onset: boolean }, own = history) => {
	const { features, outcomes, observe, follow } = landmarkValues(settings, vocab, 1);
	observe(0, own, 3000);
	follow(0, own, 3000, atRisk);
	return { ...features, ...outcomes };
};
const open = { until: 4000, died: false, onset: true };

describe("what is known at a landmark", () => {
	const { counts, recent, since, sinceAny, ages } = fill(open);

	test("records of the day itself count; groups count their members", () => {
		expect([counts[5], counts[6], counts[7], counts[group]]).toEqual([2, 1, 0, 3]);
		expect([recent[5], recent[6], recent[group]]).toEqual([1, 1, 2]);
		expect([since[5], since[6], since[7], since[8], since[group]]).toEqual([100, 0, -1, -1, 0]);
		expect(sinceAny[0]).toBe(0);
	});

	test("days with records, records, codes and years are counted", () => {
		const numbers = fill(open).past.map((own) => Math.round(Math.expm1(own)));
		expect([...numbers]).toEqual([2, 2, 3, 2, 3]);
		const ofDay = new Float32Array(pastFeatures);
		const twice = historyWith([
			[2000, 5],
			[3000, 5],
			[3000, 6],
			[3000, 7],
		]);
		writePast(ofDay, twice, 4, 3000);
		expect([...ofDay].map((own) => Math.round(Math.expm1(own)))).toEqual([1, 2, 2, 2, 3]);
	});

	test("age lies between two knots, and its sign by sex", () => {
		const whole = ages.subarray(0, 12).reduce((a, b) => a + b, 0);
		expect(whole).toBeCloseTo(1, 6);
		for (let i = 0; i < 12; i++) expect(ages[12 + i]).toBeCloseTo(-ages[i], 9);
	});

	test("without a birth, age says nothing", () => {
		const { ages } = fill(open, {
			...history,
			birthEvents: 0,
			tokens: history.tokens.subarray(1),
			times: history.times.subarray(1),
		});
		expect(ages.every((x) => x === 0)).toBe(true);
	});
});

describe("what happens after a landmark", () => {
	test("first records after the day are onsets, later ones of known codes come again", () => {
		const { risk, visitRisk } = fill(open);
		expect([risk[5], risk[6], risk[7], risk[8]]).toEqual([-50, 1000, -10, 1000]);
		expect([risk[group], risk[outputs.death], visitRisk[0]]).toEqual([-50, 1000, -10]);
		expect(Array.from(risk.subarray(0, 5))).toEqual([0, 0, 0, 0, 0]);
	});

	test("time at risk ends with observation: a record of the last day counts, later ones do not", () => {
		expect(fill({ ...open, until: 3010 }).risk[7]).toBe(-10);
		expect(fill({ ...open, until: 3009 }).risk[7]).toBe(9);
	});

	test("death ends the time at risk, and is an event of its own", () => {
		const { risk } = fill({ until: 3020, died: true, onset: true });
		expect([risk[outputs.death], risk[5], risk[7]]).toEqual([-20, 20, -10]);
	});

	test("of the next visit, records and new codes are counted; death is at risk up to its day", () => {
		const visit = historyWith([
			[2900, 5],
			[3010, 5],
			[3010, 7],
			[3010, 8],
			[3020, 6],
		]);
		const of = (until: number, died: boolean) => {
			const own = fill({ until, died, onset: true }, visit);
			return [own.visitRisk, own.visitDeathRisk, own.visitRecords, own.newRecords].map(
				([value]) => value,
			);
		};
		expect(of(4000, false)).toEqual([-10, 10, 3, 2]);
		expect(of(3015, true)).toEqual([-10, 10, 3, 2]);
		expect(of(3010, true)).toEqual([-10, -10, 3, 2]);
		expect(of(3004, true)).toEqual([4, -4, 0, 0]);
		expect(of(3004, false)).toEqual([4, 4, 0, 0]);
	});

	test("a new code counts once per visit, and a death record does not count as a visit", () => {
		type Events = Parameters<typeof historyWith>[0];
		const of = (events: Events, deathToken: number | null) => {
			const { outcomes, observe, follow } = landmarkValues({ ...settings, deathToken }, vocab, 1);
			const own = historyWith(events);
			observe(0, own, 3000);
			follow(0, own, 3000, { until: 3010, died: true, onset: true });
			const { visitRisk, visitDeathRisk, visitRecords, newRecords } = outcomes;
			return [visitRisk, visitDeathRisk, visitRecords, newRecords].map(([value]) => value);
		};
		const visit: Events = [
			[2900, 5],
			[3010, 7],
			[3010, 7],
			[3010, 8],
		];
		expect(of(visit, null)).toEqual([-10, -10, 3, 2]);
		expect(of(visit, 8)).toEqual([-10, -10, 2, 1]);
		expect(of([[3010, 8]], 8)).toEqual([10, -10, 0, 0]);
	});

	test("without look-back only codes that are known are at risk", () => {
		const { risk } = fill({ ...open, onset: false });
		expect([risk[5], risk[6], risk[7], risk[8]]).toEqual([-50, 1000, 0, 0]);
	});
});

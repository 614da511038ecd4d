import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { drawLandmark, drawRecord, knownAt, landmarkWeights } from "./draw-landmarks.js";
import { hazardSettings } from "./settings.js";
import { historyWith, wholeRow } from "./testing/histories.js";

const settings = hazardSettings.parse({});
const history = historyWith(
	Array.from({ length: 40 }, (_, n) => [1200 + 100 * Math.floor(n / 2), 5 + (n % 3)] as const),
);

describe("a landmark", () => {
	test("lies in observed time, after the look-back, and before death", () => {
		fc.assert(
			fc.property(fc.nat(1e6), fc.boolean(), (seed, afterRecord) => {
				const own = { ...history, death: 4000 };
				const found = drawLandmark(settings, wholeRow(own), random(seed), afterRecord);
				if (!found) return;
				expect(found.day).toBeGreaterThanOrEqual(1000);
				expect(found.day).toBeLessThan(4000);
				expect(found).toMatchObject({ until: 4000, died: true, onset: found.day >= 1365 });
				if (!afterRecord) expect(found.day).toBeGreaterThanOrEqual(1365);
			}),
			{ seed: 1 },
		);
	});

	test("of a part of a history lies where the part holds the latest records", () => {
		fc.assert(
			fc.property(fc.nat(1e6), fc.boolean(), (seed, afterRecord) => {
				const source = { history, from: 11, to: 25 };
				const found = drawLandmark(settings, source, random(seed), afterRecord);
				if (!found) return;
				expect(found.day).toBeGreaterThanOrEqual(history.times[11] as number);
				expect(found.day).toBeLessThan(history.times[25] as number);
				const known = history.times.filter((time) => time <= found.day).length;
				// The birth, and the events from number 11 on.
				expect(knownAt(source, found.day)).toBe(1 + known - 11);
			}),
			{ seed: 1 },
		);
	});

	const parts = [
		[1, 11],
		[11, 25],
		[25, 41],
	] as const;
	// The look-back ends on day 1365; the parts begin on days 1200, 1700 and 2400; observation ends on day 6000.
	const days = [1700 - 1365, 700, 6001 - 2400];
	/** The mean weight of draws from a part, times their number. */
	const total = (kind: "codes" | "visit", afterRecord: boolean, [from, to]: readonly number[]) => {
		const source = { history, from: from as number, to: to as number };
		const [landmarks, draws] = [40, 4000];
		let sum = 0;
		for (let seed = 0; seed < draws; seed++) {
			const drawn = drawLandmark(settings, source, random(seed), afterRecord);
			if (drawn) sum += landmarkWeights(settings, source, landmarks, drawn, afterRecord)[kind];
		}
		return (landmarks * sum) / draws;
	};

	test("weighs by the time it stands for, as a day or as the visit after a gap", () => {
		for (const [i, part] of parts.entries()) {
			const time = total("codes", false, part) * settings.daysPerLandmark;
			expect(time).toBeCloseTo(days[i] as number, 6);
			// Visits are 100 days apart; the first of all weighs as one after a year.
			const visits = total("codes", true, part) * settings.daysPerLandmark;
			expect(visits / ([465 + 300, 700, 800][i] as number)).toBeCloseTo(1, 1);
		}
	});

	test("weighs for the next visit as one visit, however many the row has", () => {
		for (const [i, part] of parts.entries()) {
			const visits = total("visit", true, part) * settings.slotsPerLandmark;
			expect(visits / ([5, 7, 8][i] as number)).toBeCloseTo(1, 6);
		}
	});

	test("of a long time weighs no more than eight", () => {
		const row = wholeRow(history);
		const short = { ...settings, daysPerLandmark: 1 };
		for (const afterRecord of [false, true])
			expect(landmarkWeights(short, row, 4, { day: 3000 }, afterRecord).codes).toBe(8);
	});

	test("falls on every observed day alike", () => {
		const own = {
			...history,
			observed: [
				{ start: 0, end: 1000 },
				{ start: 2000, end: 5000 },
			],
		};
		const days = Array.from(
			{ length: 4000 },
			(_, seed) => drawLandmark(settings, wholeRow(own), random(seed), false)?.day as number,
		);
		// 636 days of the first period are past the look-back (its last has no time at risk), 2636 of the second.
		const first = days.filter((day) => day <= 1000).length / days.length;
		expect(first).toBeCloseTo(636 / (636 + 2636), 1);
	});

	test("counts no onset where no period is as long as the look-back", () => {
		const own = { ...history, observed: [{ start: 1200, end: 1400 }] };
		expect(drawLandmark(settings, wholeRow(own), random(1), false)?.onset).toBe(false);
	});

	test("is not drawn where the patient is never observed", () => {
		const own = { ...history, observed: [] };
		expect(drawLandmark(settings, wholeRow(own), random(1), false)).toBeUndefined();
	});
});

test("a record knows whether its day goes on", () => {
	const seen = new Set<string>();
	for (let seed = 0; seed < 200; seed++) {
		const { time, known, sameDay, isLast } = drawRecord(wholeRow(history), random(seed));
		expect(history.times[known - 1]).toBe(time);
		expect(isLast).toBe(sameDay === 2);
		seen.add(`${sameDay}`);
	}
	expect(seen).toEqual(new Set(["1", "2"]));
});

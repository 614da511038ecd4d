import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	firstRecordAfter,
	indexPeriods,
	lastRecordBefore,
	nthDay,
	observedDays,
	outcomeOf,
	recordDays,
	timeAtRisk,
	usualLookBack,
	whyNotAtRisk,
} from "./at-risk.js";
import { historyOf, type Period } from "./history.js";
import { periods } from "./testing/source-of.js";

const facts = (observed: string, death: number | null = null) => ({
	observed: periods(observed),
	death,
});
const untilEnd = (from: number, until: number) => ({
	from,
	until,
	endedBy: "end of observation" as const,
});

describe("time at risk", () => {
	test("lies in the period of the index day and ends with it: a gap censors", () => {
		const twice = facts("0..1000 1100..3000");
		expect(timeAtRisk(twice, 400)).toEqual(untilEnd(400, 1000));
		expect(timeAtRisk(twice, 2000)).toMatchObject({ from: 2000, until: 3000 });
		expect(whyNotAtRisk(twice, 1050)).toBe("not observed at the index day");
		expect(timeAtRisk(twice, 1050)).toBeNull();
	});

	test("needs a look-back in the same period", () => {
		const twice = facts("0..1000 1002..3000");
		expect(whyNotAtRisk(twice, usualLookBack - 1)).toBe("look-back not covered");
		expect(whyNotAtRisk(twice, usualLookBack)).toBeNull();
		expect(whyNotAtRisk(twice, 1200)).toBe("look-back not covered");
		expect(whyNotAtRisk(twice, 1200, 198)).toBeNull();
		expect(whyNotAtRisk(twice, 0, 0)).toBeNull();
	});

	test("ends with death, which precedes the end of observation on the same day", () => {
		expect(timeAtRisk(facts("0..900", 500.7), 400)).toEqual({
			from: 400,
			until: 500,
			endedBy: "death",
		});
		expect(timeAtRisk(facts("0..900", 900), 400)?.endedBy).toBe("death");
		expect(timeAtRisk(facts("0..900", 901), 400)).toEqual(untilEnd(400, 900));
		expect(whyNotAtRisk(facts("0..900", 400), 400)).toBe("dead");
		expect(whyNotAtRisk(facts("0..900", 399), 2000)).toBe("dead");
	});

	test("is empty on the last day of observation, and takes a time of day as its day", () => {
		expect(timeAtRisk(facts("0..900"), 900)).toMatchObject({ from: 900, until: 900 });
		expect(timeAtRisk(facts("0..900"), 900.9)).toMatchObject({ from: 900, until: 900 });
		expect(timeAtRisk({ observed: [], death: null }, 0, 0)).toBeNull();
	});

	test("ends with onset, which precedes death and the end of observation on the same day", () => {
		const dies = { from: 10, until: 50, endedBy: "death" } as const;
		expect(outcomeOf(dies, 50)).toEqual({ what: "onset", after: 40 });
		expect(outcomeOf(dies, 51)).toEqual({ what: "death", after: 40 });
		expect(outcomeOf(dies, 11)).toEqual({ what: "onset", after: 1 });
		const leaves = untilEnd(10, 50);
		expect(outcomeOf(leaves, 50)).toEqual({ what: "onset", after: 40 });
		expect(outcomeOf(leaves, Infinity)).toEqual({ what: "end of observation", after: 40 });
	});
});

/** Ordered, disjoint periods with gaps of at least one day. */
const observed = fc
	.array(fc.tuple(fc.integer({ min: 2, max: 60 }), fc.nat(80)), { maxLength: 4 })
	.map((steps) => {
		const disjoint: Period[] = [];
		let day = -50;
		for (const [gap, length] of steps) {
			disjoint.push({ start: day + gap, end: day + gap + length });
			day += gap + length;
		}
		return disjoint;
	});
const death = fc.option(fc.double({ min: -60, max: 500, noNaN: true }));
const day = fc.integer({ min: -60, max: 520 });
const lookBack = fc.nat(40);

test("any time at risk is observed, alive and preceded by the look-back, and ends as late as it can", () => {
	fc.assert(
		fc.property(observed, death, day, lookBack, (observed, death, index, lookBack) => {
			const one = { observed, death };
			const isObserved = (day: number) =>
				observed.some(({ start, end }) => start <= day && day <= end);
			const isAlive = (day: number) => death === null || day < Math.floor(death);
			const found = timeAtRisk(one, index, lookBack);
			expect(found === null).toBe(whyNotAtRisk(one, index, lookBack) !== null);
			const isIndexDay = indexPeriods(one, lookBack).some(
				({ start, end }) => start <= index && index <= end,
			);
			expect(found !== null).toBe(isIndexDay);
			if (!found) return;
			for (let day = index - lookBack; day <= found.until; day++)
				expect(isObserved(day)).toBe(true);
			for (let day = index; day < found.until; day++) expect(isAlive(day)).toBe(true);
			if (found.endedBy === "death") expect(isAlive(found.until)).toBe(false);
			else expect(isObserved(found.until + 1)).toBe(false);
		}),
	);
});

test("observed days are counted with both ends", () => {
	expect(observedDays([])).toBe(0);
	expect(observedDays(periods("3..3 10..19"))).toBe(11);
});

test("days of periods are numbered from the first to the last", () => {
	const two = periods("3..3 10..19");
	expect([0, 1, 10, 11].map((n) => nthDay(two, n))).toEqual([3, 10, 19, undefined]);
});

const size = 9;
const history = fc
	.record({
		birth: fc.option(fc.constant(-100)),
		events: fc.array(
			fc.tuple(fc.integer({ min: 5, max: size - 1 }), fc.double({ min: -3, max: 12, noNaN: true })),
			{ maxLength: 20 },
		),
	})
	.map(({ birth, events }) => {
		const sorted = [...events].sort((a, b) => a[1] - b[1]);
		return historyOf(
			{ id: "p", sex: null, birth, death: null },
			{
				tokens: Int32Array.from(sorted, ([token]) => token),
				times: Float64Array.from(sorted, ([, time]) => time + 0), // no -0
			},
		);
	});

test("records before and after an index day agree with a plain search, births aside", () => {
	fc.assert(
		fc.property(
			history,
			fc.double({ min: -4, max: 13, noNaN: true }),
			fc.uniqueArray(fc.integer({ min: 0, max: size - 1 })),
			(one, index, members) => {
				const days = (token: number) =>
					[...one.tokens.keys()]
						.filter((at) => at >= one.birthEvents && one.tokens[at] === token)
						.map((at) => Math.floor(one.times[at]));
				const upTo = (token: number) => days(token).filter((day) => day <= Math.floor(index));
				const later = (token: number) => days(token).filter((day) => day > Math.floor(index));
				const tokens = Array.from({ length: size }, (_, token) => token);
				const { before, after } = recordDays(one, size, index);
				expect([...before]).toEqual(tokens.map((token) => Math.max(...upTo(token))));
				expect([...after]).toEqual(tokens.map((token) => Math.min(...later(token))));
				const group = new Set(members);
				expect(firstRecordAfter(one, group, index)).toBe(Math.min(...members.flatMap(later)));
				expect(lastRecordBefore(one, group, index)).toBe(Math.max(...members.flatMap(upTo)));
			},
		),
	);
});

test("a record of the index day is history, at any time of that day", () => {
	const one = historyOf(
		{ id: "p", sex: null, birth: null, death: null },
		{ tokens: Int32Array.of(5, 5), times: Float64Array.of(3.9, 4.1) },
	);
	const { before, after } = recordDays(one, 6, 3.2);
	expect([before[5], after[5]]).toEqual([3, 4]);
	expect(one.observed).toEqual([{ start: 3, end: 4 }]);
});

test("a patient of whom only the birth is known was never observed", () => {
	const events = { tokens: new Int32Array(0), times: new Float64Array(0) };
	const { observed } = historyOf({ id: "p", sex: "male", birth: -9, death: 4 }, events);
	expect(observed).toEqual([]);
});

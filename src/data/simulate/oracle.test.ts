import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { oracle } from "./oracle.js";
import { simulatedHistory } from "./patients.js";
import { isCovered } from "./person.js";
import { population, visitsOf } from "./testing/population.js";

const truth = oracle();
const few = population(21, 12);
const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);

describe("the next record", () => {
	test("has probabilities that sum to one, on a later day and on the same day", () => {
		for (const patient of few) {
			const visits = visitsOf(patient);
			const { day } = visits[Math.floor(visits.length / 2)]!;
			const history = simulatedHistory(patient, day);
			for (const later of [1, 30, 4000])
				expect(sum(truth.next(history, day + later))).toBeCloseTo(1, 12);
			const began = { ...history, events: history.events.filter((e) => e.day < day) };
			const reason = history.events.find((e) => e.day === day)!;
			began.events.push(reason);
			const companions = truth.next(began, day);
			expect(sum(companions)).toBeCloseTo(1, 12);
			expect(companions[truth.codes.indexOf(reason.code)]).toBe(0);
		}
	});

	test("is the same when followed record by record, whatever queries come between", () => {
		for (const patient of few.slice(0, 4)) {
			const { person } = patient;
			const { events } = simulatedHistory(patient);
			const follower = truth.follow(person);
			for (const [i, { day, code }] of events.slice(0, 40).entries()) {
				follower.next(day + 700);
				if (i % 7 === 0)
					expect(follower.next(day)).toEqual(
						truth.next({ ...person, events: events.slice(0, i) }, day),
					);
				follower.observe(day, code);
				follower.next(day + 1);
			}
		}
	});

	test("rejects times out of order and codes outside the catalogue", () => {
		const person = { birth: 0, sex: "female" as const };
		const events = [{ day: 10_000, code: "250" }];
		expect(() => truth.next({ ...person, events }, 9_999)).toThrow(InputError);
		expect(() => truth.next({ ...person, events: [{ day: 1, code: "999" }] }, 9)).toThrow(
			/"999" is not in the simulator's catalogue/,
		);
	});

	test("without policies equals that of a person covered from birth", () => {
		const person = { birth: 0, sex: "male" as const, events: [{ day: 15_000, code: "401" }] };
		const coverage = [[0, 30_000]] as const;
		expect(truth.next(person, 15_090)).toEqual(truth.next({ ...person, coverage }, 15_090));
		expect(sum(truth.intensity({ ...person, coverage: [[0, 15_050]] }, 15_090))).toBe(0);
		expect(sum(truth.intensity(person, 15_090))).toBeGreaterThan(0);
	});
});

describe("the oracle's risk", () => {
	test("grows with time, is reproducible, and is over any of several codes", () => {
		const patient = few.find(({ claims }) => claims.length > 60)!;
		const known = visitsOf(patient)[30]!.day;
		const history = simulatedHistory(patient, known);
		const days = [90, 365, 730].map((days) => known + days);
		const options = { samples: 300, seed: 1 };
		const one = truth.risk(history, "465", days, options);
		const any = truth.risk(history, ["465", "745", "760"], days, options);
		expect(one[0]).toBeLessThanOrEqual(one[1]!);
		expect(one[1]).toBeLessThanOrEqual(one[2]!);
		expect(truth.risk(history, "465", days, options)).toEqual(one);
		for (const i of days.keys()) expect(any[i]).toBeGreaterThanOrEqual(one[i]!);
		const all = truth.risks(history, days, options);
		const at = truth.codes.indexOf("465");
		expect(all.slice(3 * at, 3 * at + 3)).toEqual(one);
		expect(isCovered(patient.person, known)).toBe(true);
	});
});

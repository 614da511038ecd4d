import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { addExpectedRecords, companionChances, rates } from "./hazards.js";
import { oracle } from "./oracle.js";
import { simulatedHistory } from "./patients.js";
import { isCovered } from "./person.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { size } from "./tables.js";
import { population, visitsOf } from "./testing/population.js";

const truth = oracle();
const few = population(21, 12);
const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);

describe("the next record", () => {
	test("has probabilities that sum to one, on a later day and on the same day", () => {
		for (const patient of few) {
			const visits = visitsOf(patient);
			const { day } = visits[Math.floor(visits.length / 2)];
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
		const known = visitsOf(patient)[30].day;
		const history = simulatedHistory(patient, known);
		const days = [90, 365, 730].map((days) => known + days);
		const options = { samples: 300, seed: 1 };
		const one = truth.risk(history, "465", days, options);
		const any = truth.risk(history, ["465", "745", "760"], days, options);
		expect(one[0]).toBeLessThanOrEqual(one[1]);
		expect(one[1]).toBeLessThanOrEqual(one[2]);
		expect(truth.risk(history, "465", days, options)).toEqual(one);
		for (const i of days.keys()) expect(any[i]).toBeGreaterThanOrEqual(one[i]);
		const all = truth.risks(history, days, options);
		const at = truth.codes.indexOf("465");
		expect(all.slice(3 * at, 3 * at + 3)).toEqual(one);
		expect(isCovered(patient.person, known)).toBe(true);
	});
});

const patients = population(5, 60).filter(({ claims }) => claims.length >= 90);

/** The state after so many records, on the day after the last. */
function stateAfter({ person, claims }: (typeof patients)[0], count: number) {
	const state = new State();
	state.begin(person);
	const days = new Set(claims.slice(0, count).map(({ day }) => day));
	for (const day of days) {
		const visit = claims.filter((claim) => claim.day === day).map(({ at }) => at);
		state.enter(day);
		state.record(day, visit, visit.length);
	}
	const next = Math.max(...days) + 1;
	state.enter(next);
	return { state, next };
}

describe("addExpectedRecords", () => {
	test("is the sum over the reasons of a visit and the companions of each", () => {
		for (const patient of patients.slice(0, 5)) {
			const { state, next } = stateAfter(patient, 50);
			const [reasons, chances] = [new Float64Array(size), new Float64Array(size)];
			const expected = new Float64Array(size);
			const total = rates(state, next, reasons);
			for (let x = 0; x < size; x++) {
				const visit = (1 - Math.exp(-total)) * (reasons[x] / total);
				companionChances(state, next, x, chances);
				expected[x] += visit;
				for (let d = 0; d < size; d++) expected[d] += visit * chances[d];
			}
			const actual = new Float64Array(size);
			addExpectedRecords(state, next, actual);
			for (let d = 0; d < size; d++)
				expect(actual[d] / (expected[d] || 1)).toBeCloseTo(expected[d] ? 1 : 0, 9);
		}
	});
});

/** The history up to and including so many records. */
const upTo = (patient: (typeof patients)[0], records: number) => {
	const history = simulatedHistory(patient);
	return { ...history, events: history.events.slice(0, records) };
};

describe("records ahead", () => {
	test("equals the share of each code among the records of a day in simulated lives", () => {
		const patient = patients[0];
		const { state, next } = stateAfter(patient, 50);
		const [from, width, lives] = [next + 200, 60, 4000];
		const seen = new Float64Array(size);
		const one = new State();
		for (let i = 0; i < lives; i++) {
			one.copy(state);
			simulateLife(one, random(1).fork(i), next, from + width, (day, visit, length) => {
				if (day >= from) for (let at = 0; at < length; at++) seen[visit[at]] += 1;
			});
		}
		const total = seen.reduce((a, b) => a + b);
		// The visit of the last record is complete: the mean over a few days stands for them all.
		const days = Array.from({ length: 6 }, (_, i) => from + 5 + i * 10);
		const p = truth.ahead(simulatedHistory(patient, next - 1), days, { samples: 500 });
		const mean = Float64Array.from(
			{ length: size },
			(_, at) => days.reduce((sum, _, i) => sum + p[i * size + at]!, 0) / days.length,
		);
		const common = [...seen.keys()].sort((a, b) => seen[b] - seen[a]).slice(0, 8);
		for (const at of common) {
			expect(mean[at] / (seen[at] / total)).toBeGreaterThan(0.8);
			expect(mean[at] / (seen[at] / total)).toBeLessThan(1.25);
		}
		expect(mean.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
	});

	test("agrees with the exact probabilities of the reason at the next visit", () => {
		const patient = patients[1];
		const history = simulatedHistory(patient, patient.claims[49].day);
		const day = patient.claims[49].day + 1;
		const exact = truth.next(history, day);
		const ahead = truth.ahead(history, [day], { samples: 1 });
		// Companions come on top; the reason of a visit keeps its part of all records.
		const best = exact.indexOf(Math.max(...exact));
		expect(ahead[best]).toBeGreaterThan(exact[best] / 4);
		expect(ahead.reduce((a, b) => a + b)).toBeCloseTo(1, 9);
	});

	test("allows only later companions on the day of the last record", () => {
		const patient = patients.find(({ claims }) => claims[50].day === claims[49].day)!;
		const { claims } = patient;
		const records = claims.slice(0, 50);
		const { day, at: last } = claims[49];
		const p = truth.ahead(upTo(patient, 50), [day, day + 30]);
		const reason = records.find((record) => record.day === day)!.at;
		const listed = records.filter((record) => record.day === day).length;
		for (let at = 0; at < size; at++)
			if (at === reason || (listed > 1 && at <= last)) expect(p[at]).toBe(0);
		expect(p[claims[50].at]).toBeGreaterThan(0);
	});

	test("is reproducible, and rejects days before the last record", () => {
		const history = upTo(patients[2], 50);
		const { day } = patients[2].claims[49];
		const ask = () => truth.ahead(history, [day + 9, day + 99], { samples: 4 });
		expect(ask()).toEqual(ask());
		expect(() => truth.ahead(history, [day - 1])).toThrow(`${day} → ${day - 1}`);
		expect(() => truth.ahead(history, [day + 3, day + 2])).toThrow("must not decrease");
	});
});

import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { companionChances, rates } from "./hazards.js";
import { follow } from "./next-codes.js";
import { drawPerson, isCovered } from "./person.js";
import {
	drawRecurrence,
	recurrenceHazard,
	summedRecurrenceHazard,
	survival,
} from "./recurrence.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { positionOf as at, codes, size } from "./tables.js";
import { kolmogorov, population, report, scale, visitsOf } from "./testing/population.js";

const same = (a: Float64Array, b: Float64Array) => a.every((value, i) => value === b[i]);

describe("the state", () => {
	test("rebuilt from the records has exactly the simulator's intensities", () => {
		const state = new State();
		const own = new Float64Array(size);
		let visits = 0;
		let different = 0;
		for (let number = 1; number <= 12; number++) {
			const stream = random(3).fork(number);
			const person = drawPerson(stream);
			state.begin(person);
			const follower = follow(person);
			const [from, until] = [person.coverage[0][0], person.coverage.at(-1)![1] + 1];
			simulateLife(state, stream, from, until, (day, visit, length) => {
				rates(state, day, own);
				if (!same(follower.intensity(day), own)) different++;
				for (let i = 0; i < length; i++) follower.observe(day, codes[visit[i]]);
				visits++;
			});
		}
		expect(different).toBe(0);
		expect(visits).toBeGreaterThan(500);
	});

	test("keeps the sums of its rates", () => {
		const state = new State();
		const out = new Float64Array(size);
		const stream = random(4);
		const person = drawPerson(stream);
		state.begin(person);
		const [from, until] = [person.coverage[0][0], person.coverage.at(-1)![1] + 1];
		simulateLife(state, stream, from, until, (day) => {
			const total = rates(state, day, out);
			expect(state.totalOnset()).toBeLessThanOrEqual(total * (1 + 1e-12));
			let chronic = 0;
			for (const rate of state.onset) chronic += rate;
			let acute = 0;
			for (const rate of state.acuteOnset) acute += rate;
			expect(state.chronicOnset + acute).toBeCloseTo(chronic, 12);
		});
	});
});

/**
 * Day by day through the covered days of patients, as the law reads: the reference for the clocks.
 * Gives, for each day that may have a visit, the rates and the visit.
 */
function walk(
	patients: ReturnType<typeof population>,
	onDay: (state: State, day: number, visit: readonly number[] | undefined) => void,
): void {
	const state = new State();
	for (const patient of patients) {
		const { person, death } = patient;
		state.begin(person);
		const visits = new Map(visitsOf(patient).map(({ day, records }) => [day, records]));
		const last = Math.min(person.coverage.at(-1)![1], death === null ? Infinity : death);
		for (let day = person.coverage[0][0]; day <= last; day++) {
			state.enter(day);
			const visit = visits.get(day);
			// On the day of death only the part before it counts; days with a visit are whole.
			if (isCovered(person, day) && (day !== death || visit)) onDay(state, day, visit);
			if (visit) state.record(day, visit, visit.length);
		}
	}
}

describe("the simulator", () => {
	const patients = population(11, Math.round(30 * scale));

	test("makes visits with the total intensity, and reasons with theirs (time rescaling)", () => {
		const stream = random(6);
		const out = new Float64Array(size);
		const increments: number[] = [];
		const expected = new Float64Array(size);
		const variance = new Float64Array(size);
		const seen = new Float64Array(size);
		let sum = 0;
		walk(patients, (state, day, visit) => {
			const total = rates(state, day, out);
			const any = 1 - Math.exp(-total);
			for (let at = 0; at < size; at++) {
				const p = (any * out[at]) / total;
				expected[at] += p;
				variance[at] += p * (1 - p);
			}
			if (visit) {
				// When within the day: an exponential, given that it came.
				increments.push(sum - Math.log(1 - stream.uniform() * any));
				sum = 0;
				seen[visit[0]] += 1;
			} else sum += total;
		});
		const distance = kolmogorov(increments, (x) => 1 - Math.exp(-x));
		const scores = [...seen.keys()]
			.filter((at) => expected[at] >= 5)
			.map((at) => (seen[at] - expected[at]) / Math.sqrt(variance[at]));
		const squares = scores.reduce((a, z) => a + z * z, 0) / scores.length;
		report("time rescaling", {
			visits: increments.length,
			"sqrt(n) D (1 % point 1.63)": distance,
			"codes with 5 expected": scores.length,
			"mean z^2 of reasons": squares,
			"largest |z|": Math.max(...scores.map(Math.abs)),
		});
		expect(distance).toBeLessThan(1.63);
		expect(squares).toBeGreaterThan(1 - 4 * Math.sqrt(2 / scores.length));
		expect(squares).toBeLessThan(1 + 4 * Math.sqrt(2 / scores.length));
	});

	test("lists companions with their probabilities", () => {
		const out = new Float64Array(size);
		// By chance, in tenths: [expected, seen, variance].
		const cells = Array.from({ length: 10 }, () => [0, 0, 0]);
		let impossible = 0;
		let unsorted = 0;
		walk(patients, (state, day, visit) => {
			if (!visit) return;
			companionChances(state, day, visit[0], out);
			for (let at = 0; at < size; at++) {
				const p = out[at];
				if (p === 0) {
					impossible += Number(visit.indexOf(at) > 0);
					continue;
				}
				const cell = cells[Math.floor(10 * p)];
				cell[0] += p;
				cell[1] += Number(visit.indexOf(at) > 0);
				cell[2] += p * (1 - p);
			}
			unsorted += Number(visit.some((at, i) => i > 1 && at <= visit[i - 1]));
		});
		expect({ impossible, unsorted }).toEqual({ impossible: 0, unsorted: 0 });
		for (const [expected, seen, variance] of cells as [number, number, number][])
			if (expected > 10) expect(Math.abs(seen - expected) / Math.sqrt(variance)).toBeLessThan(3.5);
	});

	test("records only living, covered people, in order of time", () => {
		for (const { person, death, claims } of patients) {
			const days = claims.map(({ day }) => day);
			expect(days).toEqual(days.toSorted((a, b) => a - b));
			expect(days[0] ?? Infinity).toBeGreaterThanOrEqual(person.birth);
			expect(days.at(-1) ?? -Infinity).toBeLessThanOrEqual(death ?? Infinity);
			expect(days.every((day) => isCovered(person, day))).toBe(true);
		}
	});
});

describe("the recurrence distribution", () => {
	test.each([
		["401", 1],
		["401", 0.4],
		["465", 0.14],
	])("of %s with p = %d: hazards sum to −ln(1 − p + p S)", (code, p) => {
		let sum = 0;
		for (let gap = 1; gap <= 900; gap++) {
			sum += recurrenceHazard(at(code), gap, p);
			expect(sum).toBeCloseTo(-Math.log(1 - p + p * survival(at(code), gap)), 9);
			const quarter = recurrenceHazard(at(code), gap, p) / 4;
			expect(summedRecurrenceHazard(at(code), gap + 0.75, p)).toBeCloseTo(sum - quarter, 9);
		}
		expect(recurrenceHazard(at(code), 0, p)).toBe(0);
	});

	test("of an acute condition ends after five times the mean gap", () => {
		expect(recurrenceHazard(at("465"), 31, 0.14)).toBe(0);
		expect(recurrenceHazard(at("465"), 30, 0.14)).toBeGreaterThan(0);
	});

	test.each([
		["250", 1, 0],
		["250", 0.7, 200],
		["401", 1, 2000],
		["760", 0.48, 3],
	])("of %s with p = %d, %d days on: draws have that hazard", (code, p, elapsed) => {
		const stream = random(5).fork(code);
		const draws = Array.from({ length: 4000 }, () =>
			drawRecurrence(at(code), elapsed, p, -Math.log(1 - stream.uniform())),
		);
		for (const draw of draws) expect(draw).toBeGreaterThanOrEqual(elapsed + 1);
		const start = 1 - p + p * survival(at(code), elapsed);
		// Linear within a day on the scale of the cumulative hazard: constant hazard.
		const cdf = (x: number) => {
			if (x === Infinity) return 1;
			const gap = Math.floor(x);
			const before = Math.log(start / (1 - p + p * survival(at(code), gap - 1)));
			return 1 - Math.exp(-before - (x - gap) * recurrenceHazard(at(code), gap, p));
		};
		const finite = draws.filter((draw) => draw < Infinity);
		const returning = 1 - (1 - p) / start;
		expect(finite.length / draws.length).toBeCloseTo(p === 1 ? 1 : returning, 1);
		const share = (x: number) => cdf(x) / (p === 1 ? 1 : returning);
		expect(kolmogorov(finite, share)).toBeLessThan(1.63); // 1 % point
	});
});

import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { companionChances, rates } from "./hazards.js";
import { follow } from "./next-code-oracle.js";
import { drawPerson, isCovered } from "./person.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { codes, size } from "./tables.js";
import { population, visitsOf } from "./testing/population.js";
import { report, scale } from "./testing/scale.js";
import { kolmogorov } from "./testing/statistics.js";

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
			const [from, until] = [person.coverage[0]![0], person.coverage.at(-1)![1] + 1];
			simulateLife(state, stream, from, until, (day, visit, length) => {
				rates(state, day, own);
				if (!same(follower.intensity(day), own)) different++;
				for (let i = 0; i < length; i++) follower.observe(day, codes[visit[i]!]!);
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
		const [from, until] = [person.coverage[0]![0], person.coverage.at(-1)![1] + 1];
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
		for (let day = person.coverage[0]![0]; day <= last; day++) {
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
				const p = (any * out[at]!) / total;
				expected[at]! += p;
				variance[at]! += p * (1 - p);
			}
			if (visit) {
				// When within the day: an exponential, given that it came.
				increments.push(sum - Math.log(1 - stream.uniform() * any));
				sum = 0;
				seen[visit[0]!]! += 1;
			} else sum += total;
		});
		const distance = kolmogorov(increments, (x) => 1 - Math.exp(-x));
		const scores = [...seen.keys()]
			.filter((at) => expected[at]! >= 5)
			.map((at) => (seen[at]! - expected[at]!) / Math.sqrt(variance[at]!));
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
			companionChances(state, day, visit[0]!, out);
			for (let at = 0; at < size; at++) {
				const p = out[at]!;
				if (p === 0) {
					impossible += Number(visit.indexOf(at) > 0);
					continue;
				}
				const cell = cells[Math.floor(10 * p)]!;
				cell[0]! += p;
				cell[1]! += Number(visit.indexOf(at) > 0);
				cell[2]! += p * (1 - p);
			}
			unsorted += Number(visit.some((at, i) => i > 1 && at <= visit[i - 1]!));
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

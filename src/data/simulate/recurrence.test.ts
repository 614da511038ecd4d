import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import {
	drawRecurrence,
	recurrenceHazard,
	summedRecurrenceHazard,
	survival,
} from "./recurrence.js";
import { positionOf as at } from "./tables.js";
import { kolmogorov } from "./testing/statistics.js";

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

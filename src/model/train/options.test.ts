import { expect, test } from "vitest";
import { learningRateAt } from "./options.js";

const settings = { learningRate: 0.2, warmup: 0.1 };
const at = (step: number, total: number, more = {}) =>
	learningRateAt(step, total, { ...settings, ...more });

test("it rises in a straight line and is highest where the rise ends", () => {
	expect([1, 2, 5, 9, 10].map((step) => at(step, 100))).toEqual([0.02, 0.04, 0.1, 0.18, 0.2]);
	expect(at(11, 100)).toBeLessThan(0.2);
});

test("then half a cosine falls to a tenth", () => {
	expect(at(55, 100)).toBeCloseTo(0.2 * (0.1 + 0.45), 12); // halfway down
	expect(at(100, 100)).toBeCloseTo(0.02, 12);
	const falling = Array.from({ length: 91 }, (_, i) => at(10 + i, 100));
	expect(falling).toEqual([...falling].sort((a, b) => b - a));
	expect(new Set(falling).size).toBe(91);
});

test.each([
	["no rise", 0, 1, 10],
	["a rise that rounds to none", 0.05, 1, 4],
	["nothing but a rise", 1, 5, 5],
	["a single step", 0.05, 1, 1],
	["a single step, all rise", 1, 1, 1],
])("%s: every step has a rate above 0", (_, warmup, first, total) => {
	for (let step = first; step <= total; step++) {
		const rate = at(step, total, { warmup });
		expect(rate).toBeGreaterThan(0);
		expect(rate).toBeLessThanOrEqual(0.2);
	}
	if (warmup === 1) expect(at(total, total, { warmup })).toBe(0.2);
});

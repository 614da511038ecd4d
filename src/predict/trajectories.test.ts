import { expect, test } from "vitest";
import { beforeEnd, surgesOf } from "./trajectories.js";

const none = { tokens: [], times: [] };

/** Surges of a risk told at times 0, 1, 2 … */
function surges(risk: readonly number[], history: { tokens: number[]; times: number[] } = none) {
	const growth = risk.map((value, i) => (i === 0 ? 0 : value - risk[i - 1]));
	const times = risk.map((_, i) => i);
	return surgesOf(history, times, risk, growth, beforeEnd);
}

test("a jump is a surge, with the events in it", () => {
	const history = { tokens: [5, 6, 7, 8], times: [1, 3, 3.5, 4] };
	const [surge, ...others] = surges([0.1, 0.11, 0.1, 0.11, 0.5, 0.49, 0.5], history);
	expect(others).toEqual([]);
	expect(surge).toMatchObject({ from: 3, to: 4, events: [1, 2] });
	expect(surge?.growth).toBeCloseTo(0.39, 12);
});

test("steps in a row are one surge", () => {
	const risk = [0.1, 0.1, 0.1, 0.3, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6];
	expect(surges(risk)).toEqual([{ from: 2, to: 4, growth: expect.closeTo(0.5, 12), events: [] }]);
});

test("steady growth, falls, and a rise that is small beside the largest risk are none", () => {
	expect(surges([0.1, 0.2, 0.3, 0.4, 0.5])).toEqual([]);
	expect(surges([0.9, 0.9, 0.9, 0.2, 0.2])).toEqual([]);
	expect(surges([0.9, 0.9, 0.1, 0.1, 0.1, 0.18, 0.18])).toEqual([]);
	expect(surges([0.3])).toEqual([]);
	expect(surges([])).toEqual([]);
});

test("returns the five largest in order of time", () => {
	const heights = [0.2, 0.9, 0.3, 0.5, 0.4, 0.8, 0.6];
	const risk = heights.flatMap((height) => [0, 0, height, 0, 0, 0]);
	expect(surges(risk).map(({ growth }) => growth)).toEqual([0.9, 0.5, 0.4, 0.8, 0.6]);
});

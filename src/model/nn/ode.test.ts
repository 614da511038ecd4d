import { describe, expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { filled, gradients, input, sub, type Tensor } from "../../engine/tensor/index.js";
import { type Drive, exponentialEuler, rungeKutta4, type Solver } from "./ode.js";

// dy/ds = y (1 − y), whose solution is y0 eˢ / (1 − y0 + y0 eˢ).
const logistic: Drive = (y) => y.mul(sub(1, y));
const solution = (y0: number, s: number) => (y0 * Math.exp(s)) / (1 - y0 + y0 * Math.exp(s));
const slopeOfSolution = (y0: number, s: number) => Math.exp(s) / (1 - y0 + y0 * Math.exp(s)) ** 2;

const starts = [0.1, 0.3, 0.8];
const spans = [0.5, 1.5, 2];

/** The largest errors of the end, and of its slope by the start, over rows with spans of their own. */
async function errors(solver: Solver, drive: Drive, steps: number) {
	const y = input("y", [3, 1], "float64");
	const end = solver(drive, y, input("span", [3, 1], "float64"), steps);
	const [slope] = gradients(end.sum(), [y]) as [Tensor];
	const found = await evaluate({ end, slope }, { y: starts, span: spans });
	const largest = (got: readonly number[], wanted: (y0: number, s: number) => number) =>
		Math.max(...got.map((x, i) => Math.abs(x - wanted(starts[i], spans[i]))));
	return [largest(found.end, solution), largest(found.slope, slopeOfSolution)] as const;
}

describe.each([
	["rungeKutta4", rungeKutta4, logistic, 4],
	["exponentialEuler", exponentialEuler, ((y, at) => logistic(y, at).add(y)) as Drive, 1],
] as const)("%s", (_, solver, drive, order) => {
	test(`errs to the order ${order}, in values and gradients`, async () => {
		const [coarse, fine] = [await errors(solver, drive, 32), await errors(solver, drive, 64)];
		for (const i of [0, 1] as const) {
			expect(fine[i]).toBeLessThan(0.1);
			expect(Math.log2(coarse[i] / fine[i])).toBeGreaterThan(order - 0.1);
			expect(Math.log2(coarse[i] / fine[i])).toBeLessThan(order + 0.1);
		}
	});

	test("a span of 0 leaves everything as it is", async () => {
		const y = input("y", [2, 3], "float64");
		const values = [1, -2, 3, 0.5, 0, 7];
		const { end } = await evaluate(
			{ end: solver(drive, y, filled(0, [2, 1], "float64"), 3) },
			{ y: values },
		);
		expect(end).toEqual(values.map((x) => expect.closeTo(x, 12)));
	});

	test("steps are counted in whole numbers", () => {
		const y = input("y", [1, 1]);
		for (const steps of [0, 1.5]) expect(() => solver(drive, y, y, steps)).toThrow(`${steps}`);
	});
});

test("what drives it may change along the way, which Runge and Kutta follow exactly up to cubes", async () => {
	const y = input("y", [2, 1], "float64");
	const span = input("span", [2, 1], "float64");
	const cube: Drive = (state, passed) => state.mul(0).add(passed ** 3);
	const { end } = await evaluate(
		{ end: rungeKutta4(cube, y, span, 3) },
		{ y: [1, 2], span: [4, 8] },
	);
	expect(end).toEqual([expect.closeTo(2, 12), expect.closeTo(4, 12)]);
});

test("toward a target that stands still the exponential rule is exact in one step", async () => {
	const y = input("y", [2, 1], "float64");
	const still: Drive = (state) => state.mul(0).add(3);
	const span = input("span", [2, 1], "float64");
	const { end } = await evaluate(
		{ end: exponentialEuler(still, y, span, 1) },
		{ y: [1, 2], span: [0.7, 900] },
	);
	expect(end[0]).toBeCloseTo(3 - 2 * Math.exp(-0.7), 12);
	expect(end[1]).toBe(3);
});

test("the exponential rule stays between start and targets over any span, where Runge and Kutta's leaves", async () => {
	const y = input("y", [4, 1], "float64");
	const span = input("span", [4, 1], "float64");
	const toward: Drive = (state) => state.mul(-5).tanh();
	const away: Drive = (state, at) => toward(state, at).sub(state);
	const { bounded, unbounded } = await evaluate(
		{ bounded: exponentialEuler(toward, y, span, 3), unbounded: rungeKutta4(away, y, span, 3) },
		{ y: [0.9, -0.4, 1, 0.01], span: [1, 10, 1e3, 1e6] },
	);
	for (const x of bounded) expect(Math.abs(x)).toBeLessThanOrEqual(1);
	expect(Math.max(...unbounded.map(Math.abs))).toBeGreaterThan(1e6);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type FloatType, input } from "../graph/index.js";
import { evaluatorOf, relativeError } from "../runtime/testing/evaluate.js";
import { adamW, adamWDefaults, adamWScalars } from "./adamw.js";

interface Golden {
	readonly initial: readonly number[];
	readonly gradients: readonly (readonly number[])[];
	/** The parameter after each step, by PyTorch. */
	readonly after: readonly (readonly number[])[];
}

const golden: Golden = JSON.parse(
	readFileSync(new URL("fixtures/adamw.json", import.meta.url), "utf8"),
);
const learningRate = 0.01;

/** One update as a program: parameter, first, second, gradient and the scalars of the step in. */
async function update(dtype: FloatType, size: number, decays: boolean) {
	const vector = (name: string) => input(name, [size], dtype);
	const scalar = (name: string) => input(name, [], dtype);
	const state = {
		parameter: vector("parameter"),
		first: vector("first"),
		second: vector("second"),
	};
	const scalars = {
		rate: scalar("rate"),
		epsilon: scalar("epsilon"),
		shrink: scalar("shrink"),
	};
	const after = adamW(state, vector("gradient"), scalars, adamWDefaults, decays);
	const program = await evaluatorOf({
		newParameter: after.parameter,
		newFirst: after.first,
		newSecond: after.second,
	});
	return async (
		{ parameter, first, second }: Record<"parameter" | "first" | "second", readonly number[]>,
		gradient: readonly number[],
		step: number,
	) => {
		const { rate, epsilon, shrink } = adamWScalars(step, learningRate, adamWDefaults);
		const out = await program.run({
			...{ parameter, first, second, gradient },
			...{ rate: [rate], epsilon: [epsilon], shrink: [shrink] },
		});
		return { parameter: out.newParameter, first: out.newFirst, second: out.newSecond };
	};
}

test.each([
	["float32", 1e-6],
	["float64", 1e-11],
] as const)("every step is PyTorch's, in %s within %f", async (dtype, tolerance) => {
	const size = golden.initial.length;
	const step = await update(dtype, size, true);
	const zeros = new Array<number>(size).fill(0);
	let state = { parameter: [...golden.initial], first: zeros, second: zeros };
	for (const [i, gradient] of golden.gradients.entries()) {
		state = await step(state, gradient, i + 1);
		const expected = golden.after[i] as number[];
		for (const [j, value] of expected.entries())
			expect(relativeError([state.parameter[j] as number], [value])).toBeLessThan(tolerance);
	}
});

test("without decay only the gradient moves a parameter", async () => {
	const step = await update("float64", 2, false);
	const state = { parameter: [3, -5], first: [0, 0], second: [0, 0] };
	const after = await step(state, [0, 2], 1);
	expect(after.parameter[0]).toBe(3);
	expect(after.parameter[1]).toBeCloseTo(-5.01, 9); // the first step is the rate times the sign
	expect(after.first).toEqual([0, 2]);
	expect(after.second).toEqual([0, 4]);
});

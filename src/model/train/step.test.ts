import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Token, vocabularyOf } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { type FloatType, input, parameter } from "../../engine/tensor/index.js";
import {
	type AdamWOptions,
	adamW,
	adamWDefaults,
	adamWScalars,
	codeNumbers,
	learnTogether,
	startTogether,
} from "./step.js";

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
async function update(
	dtype: FloatType,
	size: number,
	decays: boolean,
	options: AdamWOptions = adamWDefaults,
) {
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
	const after = adamW(state, vector("gradient"), scalars, options, decays);
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
		const { rate, epsilon, shrink } = adamWScalars(step, learningRate, options);
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
			expect(relativeError([state.parameter[j]], [value])).toBeLessThan(tolerance);
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

test("the rate of events that most steps do not see is learned without bias", async () => {
	const every = 50;
	const steps = 2000;
	const truth = -Math.log(every - 1);
	const learnedWith = async (beta2: number) => {
		const step = await update("float32", 1, false, { ...adamWDefaults, beta2 });
		let state = { parameter: [truth], first: [0], second: [0] };
		let sum = 0;
		for (let n = 1; n <= steps; n++) {
			const [logOdds] = state.parameter as [number];
			const gradient = 1 / (1 + Math.exp(-logOdds)) - Number(n % every === 0);
			state = await step(state, [gradient], n);
			if (n > steps / 2) sum += logOdds;
		}
		return sum / (steps / 2);
	};
	expect(Math.abs((await learnedWith(adamWDefaults.rareBeta2)) - truth)).toBeLessThan(0.1);
	expect((await learnedWith(adamWDefaults.beta2)) - truth).toBeLessThan(-0.3);
});

const token = (code: string, quantile?: number): Token => ({
	...{ kind: "other", system: "events", name: code, category: null, count: 1 },
	code: quantile ? `${code} Q${quantile}` : code,
	...(quantile && {
		value: { code, name: code, unit: null, low: null, high: null, quantile, of: 2 },
	}),
});

const plain = vocabularyOf([token("a"), token("b")]);
const codes = codeNumbers(vocabularyOf([token("a", 1), token("b"), token("a", 2)])) as Int32Array;

test("tokens of one code have one number", () => {
	expect(codeNumbers(plain)).toBeUndefined();
	expect([...codes]).toEqual([0, 1, 2, 3, 4, 5, 6, 5]);
});

test("rows of one code start near to each other, other weights as they were", () => {
	const data = Float32Array.from({ length: 16 }, (_, at) => at);
	const weights = new Map([
		["embedding", { shape: [8, 2], data }],
		["other", { shape: [8, 2], data }],
	]);
	const started = startTogether(weights, codes);
	const rows = started.get("embedding")?.data as Float32Array;
	expect([...rows.slice(0, 14)]).toEqual([...data.slice(0, 14)]);
	expect(rows[14]).toBeCloseTo(10 + 0.3 * 14, 5);
	expect(rows[15]).toBeCloseTo(11 + 0.3 * 15, 5);
	expect(started.get("other")?.data).toEqual(data);
});

describe("gradients", () => {
	const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
	test("of one code are added to those of its tokens", async () => {
		const gradient = parameter("gradient", [8, 1]);
		const program = await runtime.compile({
			outputs: { mixed: learnTogether("embedding", gradient, codes) },
		});
		const resident = runtime.resident(
			new Map([["gradient", { shape: [8, 1], data: Float32Array.of(0, 0, 0, 0, 0, 1, 10, 100) }]]),
		);
		const { mixed } = await program.run({}, resident);
		expect([...(mixed as Float32Array)]).toEqual([0, 0, 0, 0, 0, 102, 20, 201]);
		expect(learnTogether("decay", gradient, codes)).toBe(gradient);
	});
});

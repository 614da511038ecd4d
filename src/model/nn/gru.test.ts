import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, parameter, type Tensor } from "../../engine/tensor/index.js";
import { gruInput, gruStep, gruWeights } from "./layers.js";
import { drawWeights, weightsOf } from "./weights.js";

const [rows, inside, width] = [2, 3, 4];
type Values = Readonly<Record<string, readonly number[]>>;

const draw = random(4);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());
const weights: Values = Object.fromEntries(
	[...drawWeights(gruWeights(inside, width), random(1))].map(([name, { data }]) => [
		name,
		Array.from(data, (x) => x + 0.1 * draw.normal()),
	]),
);
const given: Values = { ...weights, state: numbers(rows * width), input: numbers(rows * inside) };

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** One row at a time, one unit at a time. */
function plainCell(v: Values): number[] {
	return Array.from({ length: rows }, (_, row) => {
		const h = v.state.slice(row * width, (row + 1) * width);
		const x = v.input.slice(row * inside, (row + 1) * inside);
		const times = (name: string, unit: number, by: readonly number[]) =>
			by.reduce((total, value, i) => total + v[name][unit * by.length + i] * value, 0);
		const from = (unit: number) => times("input.weight", unit, x) + v["input.bias"][unit];
		const gate = (unit: number) => sigmoid(from(unit) + times("gates.weight", unit, h));
		const reset = h.map((value, i) => gate(width + i) * value);
		return h.map((value, i) => {
			const z = gate(i);
			const candidate = Math.tanh(from(2 * width + i) + times("candidate.weight", i, reset));
			return (1 - z) * value + z * candidate;
		});
	}).flat();
}

const symbols: Record<string, Tensor> = Object.fromEntries(
	Object.entries(gruWeights(inside, width)).map(([name, { shape }]) => [
		name,
		parameter(name, shape, "float64"),
	]),
);
const state = input("state", [rows, width], "float64");
const x = input("input", [rows, inside], "float64");
const p = weightsOf(symbols);
const next = gruStep(p, state, gruInput(p, x));

test("gates and candidate as written", async () => {
	expect(next.shape).toEqual([rows, width]);
	const found = await evaluate({ next }, given);
	expect(relativeError(found.next, plainCell(given))).toBeLessThan(1e-12);
});

test("gradients of every weight, of the state and of the input", async () => {
	const scale = numbers(rows * width);
	const loss = next.mul(input("scale", [rows, width], "float64")).sum();
	const names = [...Object.keys(symbols), "state", "input"];
	const slopes = gradients(loss, [...Object.values(symbols), state, x]);
	const found = await evaluate(Object.fromEntries(slopes.map((g, i) => [`d ${names[i]}`, g])), {
		...given,
		scale,
	});
	for (const name of names) {
		const lossOf = (values: Values) =>
			plainCell(values).reduce((total, value, i) => total + value * scale[i], 0);
		const wanted = given[name].map((_, i) => {
			const moved = (by: number) => ({
				...given,
				[name]: given[name].map((value, j) => (i === j ? value + by : value)),
			});
			return (lossOf(moved(1e-5)) - lossOf(moved(-1e-5))) / 2e-5;
		});
		expect(relativeError(found[`d ${name}`], wanted), name).toBeLessThan(1e-7);
	}
});

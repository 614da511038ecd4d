import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input } from "../../engine/tensor/index.js";
import { gruInput, gruStep, gruWeights } from "./layers.js";
import { dot, plainWeights, sigmoid, type Vector } from "./testing/plain.js";

const [rows, inside, width] = [2, 3, 4];
type Values = Readonly<Record<string, Vector>>;

const draw = random(4);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());
const { p, symbols, values } = plainWeights(gruWeights(inside, width), {
	noise: 0.1,
	dtype: "float64",
});
const given: Values = { ...values, state: numbers(rows * width), input: numbers(rows * inside) };

/** One row at a time, one unit at a time. */
function plainCell(v: Values): number[] {
	return Array.from({ length: rows }, (_, row) => {
		const h = v.state.slice(row * width, (row + 1) * width);
		const x = v.input.slice(row * inside, (row + 1) * inside);
		const times = (name: string, unit: number, by: Vector) =>
			dot(v[name].slice(unit * by.length, (unit + 1) * by.length), by);
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

const state = input("state", [rows, width], "float64");
const x = input("input", [rows, inside], "float64");
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

import { expect, it } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { anyLength, parallel } from "./sra.js";
import { reference } from "./testing/sra-reference.js";

const [batch, heads, key, value] = [2, 3, 4, 5];

for (const length of [2, 32, 33, 100])
	for (const fromNothing of [false, true])
		it(`is the parallel form, of ${length} slots${fromNothing ? " from nothing" : ""}`, async () => {
			const shapes = {
				q: [batch, heads, length, key],
				k: [batch, heads, length, key],
				v: [batch, heads, length, value],
				logDecay: [batch, heads, length],
				initialState: [batch, heads, key, value],
			};
			const draw = random(length);
			const values = Object.fromEntries(
				Object.entries(shapes).map(([name, shape]) => {
					const size = shape.reduce((product, n) => product * n, 1);
					const one = () => (name === "logDecay" ? -draw.uniform() : draw.normal());
					return [name, Float32Array.from({ length: size }, one)];
				}),
			);
			const given = (name: keyof typeof shapes) => input(name, shapes[name]);
			const inputs = {
				q: given("q"),
				k: given("k"),
				v: given("v"),
				logDecay: given("logDecay"),
				initialState: fromNothing ? undefined : given("initialState"),
			};
			const form = anyLength(inputs);
			const wanted = parallel(inputs);
			const got = await evaluate(
				{
					output: form.output,
					state: form.finalState,
					wantedOutput: wanted.output,
					wantedState: wanted.finalState,
				},
				values,
			);
			expect(relativeError(got.output, got.wantedOutput)).toBeLessThan(1e-5);
			expect(relativeError(got.state, got.wantedState)).toBeLessThan(1e-5);
		});

for (const length of [31, 65, 400])
	it(`is the plain loop, of ${length} slots with no gap, the least and very long ones`, async () => {
		const draw = random(length);
		const normal = (size: number) => Float32Array.from({ length: size }, () => draw.normal());
		const gaps = [0, 1e-9, 1e4, 0.1, 1];
		const values = {
			q: normal(length * key),
			k: normal(length * key),
			v: normal(length * value),
			logDecay: Float32Array.from({ length }, () => -(gaps[draw.integer(10)] ?? 0.05)),
			initialState: normal(key * value),
		};
		const form = anyLength({
			q: input("q", [1, 1, length, key]),
			k: input("k", [1, 1, length, key]),
			v: input("v", [1, 1, length, value]),
			logDecay: input("logDecay", [1, 1, length]),
			initialState: input("initialState", [1, 1, key, value]),
		});
		const wanted = reference({ length, key, value, ...values });
		const got = await evaluate({ output: form.output, state: form.finalState }, values);
		expect(relativeError(got.output, wanted.output)).toBeLessThan(1e-5);
		expect(relativeError(got.state, wanted.finalState)).toBeLessThan(1e-5);
	});

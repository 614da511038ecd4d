import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { input, parameter } from "../../engine/tensor/index.js";
import { drawWeights, nested, weightsOf, within } from "../nn/weights.js";
import { clockOf, flowWeights, readings, trajectories } from "./contiformer-curves.js";
import { followed } from "./testing/plain-attention.js";

const [rows, places, width] = [1, 4, 3];
const draw = random(2);
const drawn = drawWeights(nested("flow", flowWeights(width, 6)), random(1));
for (const [, { data }] of drawn)
	for (let i = 0; i < data.length; i++) data[i] += 0.4 * draw.normal();
const p = weightsOf(
	Object.fromEntries(
		[...drawn].map(([name, { shape }]) => [name, parameter(name, shape, "float64")]),
	),
);
const weights = Object.fromEntries([...drawn].map(([name, { data }]) => [name, data]));
const fed = {
	...weights,
	start: Array.from({ length: places * width }, () => draw.normal()),
	gaps: [0, 20, 300, 4],
	mask: [1, 1, 1, 1],
	at: [0, 0.1, 0.33, 0.5, 0.77, 0.98, 1.2],
};
const clock = clockOf({
	gaps: input("gaps", [rows, places], "float64"),
	mask: input("mask", [rows, places], "float64"),
});
const start = input("start", [rows, places, width], "float64");
const at = input("at", [rows, fed.at.length], "float64");

test("trajectories are read everywhere, before and after their start, with an error of the fourth order", async () => {
	const solved = async (steps: number) => {
		const read = readings(clock, at, steps).matmul(
			trajectories(within(p, "flow"), start, clock, steps),
		);
		return (await evaluate({ read }, fed)).read;
	};
	const { places: from } = await evaluate({ places: clock.places }, fed);
	const fine = from.flatMap((time, place) => {
		const own = fed.start.slice(place * width, (place + 1) * width);
		return fed.at.flatMap((to) => followed(weights, "flow", own, time, to, 400));
	});
	const errors = await Promise.all(
		[4, 8, 16].map(async (steps) =>
			(await solved(steps)).reduce((most, y, i) => Math.max(most, Math.abs(y - fine[i])), 0),
		),
	);
	expect(errors[0]).toBeLessThan(5e-3);
	for (const [i, error] of errors.slice(1).entries()) expect(errors[i] / error).toBeGreaterThan(10);
});

import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { averages, decompose, paddedAverages } from "./series.js";

const draw = random(3);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());

/** The mean of the `width` values around each; the ends repeat. */
function plainAverage(x: readonly number[], width: number): number[] {
	const before = Math.floor((width - 1) / 2);
	return x.map((_, i) => {
		let total = 0;
		for (let j = i - before; j < i - before + width; j++)
			total += x[Math.min(Math.max(j, 0), x.length - 1)];
		return total / width;
	});
}

test.each([
	[10, 3],
	[10, 4],
	[6, 25],
	[1, 5],
])("%i places are their average over %i and what is left", async (places, width) => {
	const x = input("x", [1, places, 1], "float64");
	const values = numbers(places);
	const { seasonal, trend } = await evaluate(
		decompose(x, averages(places, width, "float64")) as Record<"seasonal" | "trend", Tensor>,
		{ x: values },
	);
	const wanted = plainAverage(values, width);
	expect(relativeError(trend, wanted)).toBeLessThan(1e-12);
	expect(values.map((value, i) => value - wanted[i])).toEqual(
		seasonal.map((value) => expect.closeTo(value, 12)),
	);
});

test("padding before a row has no effect: its first event is repeated", async () => {
	const [places, width, counts] = [8, 5, [8, 3, 1, 0]];
	const x = input("x", [counts.length, places, 1], "float64");
	const mask = input("mask", [counts.length, places], "float64");
	const values = numbers(counts.length * places);
	const maskValues = counts.flatMap((count) =>
		Array.from({ length: places }, (_, i) => Number(i >= places - count)),
	);
	const weights = numbers(values.length);
	const { trend: averaged } = decompose(x, paddedAverages(mask, width));
	const loss = averaged.mul(input("weights", averaged.shape, "float64")).sum();
	const [dx] = gradients(loss, [x]) as [Tensor];
	const got = await evaluate({ trend: averaged, dx }, { x: values, mask: maskValues, weights });
	const wanted = counts.flatMap((count, row) => {
		const own = values.slice((row + 1) * places - count, (row + 1) * places);
		return [...Array<number>(places - count).fill(0), ...plainAverage(own, width)];
	});
	expect(relativeError(got.trend, wanted)).toBeLessThan(1e-12);
	// It is linear: its gradient is the weight of each value in the sum.
	const direction = numbers(values.length);
	const along = counts.flatMap((count, row) => {
		const own = direction.slice((row + 1) * places - count, (row + 1) * places);
		return [...Array<number>(places - count).fill(0), ...plainAverage(own, width)];
	});
	const slope = got.dx.reduce((total, g, i) => total + g * direction[i], 0);
	expect(slope).toBeCloseTo(
		along.reduce((total, value, i) => total + value * weights[i], 0),
		10,
	);
});

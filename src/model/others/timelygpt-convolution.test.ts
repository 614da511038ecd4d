import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input, parameter } from "../../engine/tensor/index.js";
import {
	at,
	type Matrix,
	matrix,
	plainNorm,
	plainSilu,
	product,
	range,
} from "../nn/testing/plain-retention.js";
import { drawWeights } from "../nn/weights.js";
import { convolution, convolutionWeights } from "./timelygpt.js";

const [places, width, kernel] = [7, 4, 3];

const weights = drawWeights(convolutionWeights(width, kernel), random(2));
const dataOf = (name: string) => weights.get(name)?.data as Float32Array;

async function convolved(x: Matrix): Promise<Matrix> {
	const p = (name: string) => parameter(name, weights.get(name)?.shape ?? []);
	const { output: y } = convolution(p, input("x", [1, places, width]));
	const feeds = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
	return matrix((await evaluate({ y }, { ...feeds, x: x.flat() })).y, width);
}

const draw = random(4);
const x = range(places, () => range(width, () => draw.normal()));

test("is pointwise with a gate, then over the places before, norm, SiLU, and pointwise", async () => {
	const both = product(x, matrix(dataOf("gated.weight"), width));
	const gated = both.map((row) => range(width, (c) => row[c] / (1 + Math.exp(-row[c + width]))));
	const taps = matrix(dataOf("depthwise"), kernel);
	const local = range(places, (n) =>
		range(width, (c) =>
			range(kernel, (back) =>
				n < back ? 0 : at(gated, n - back, c) * at(taps, c, kernel - 1 - back),
			).reduce((sum, part) => sum + part, 0),
		),
	);
	const expected = product(
		local.map((row) => plainNorm(row).map(plainSilu)),
		matrix(dataOf("out.weight"), width),
	);
	expect(relativeError((await convolved(x)).flat(), expected.flat())).toBeLessThan(1e-5);
});

test("a position changes its own output and the kernel − 1 after it, never one before", async () => {
	const moved = x.map((row, n) => (n === 3 ? row.map((value) => value + 1) : row));
	const [one, two] = [await convolved(x), await convolved(moved)];
	const felt = one.map((row, n) => row.some((value, c) => Math.abs(value - at(two, n, c)) > 1e-6));
	expect(felt).toEqual([false, false, false, true, true, true, false]);
});

import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, parameter, type Tensor } from "../../engine/tensor/index.js";
import { batchNorm, batchNormWeights } from "./layers.js";
import { weightsOf } from "./weights.js";

const [rows, places, width] = [2, 3, 2];
const draw = random(1);
const values = {
	x: Array.from({ length: rows * places * width }, () => 3 + 2 * draw.normal()),
	/** The last place is padding. */
	counts: [1, 1, 1, 1, 1, 0],
	"norm.scale": [1.5, 0.5],
	"norm.shift": [0.1, -0.2],
	"norm.mean": [0.3, 0.6],
	"norm.variance": [1.2, 0.8],
};
const symbols = {
	x: parameter("x", [rows, places, width], "float64"),
	counts: parameter("counts", [rows, places], "float64"),
	...Object.fromEntries(
		Object.keys(batchNormWeights(width)).map((name) => [
			`norm.${name}`,
			parameter(`norm.${name}`, [width], "float64"),
		]),
	),
};
const { x, counts } = symbols;
const build = (moving?: Record<string, Tensor>) =>
	batchNorm(weightsOf(symbols), "norm", x, { counts, moving });

/** Of a column, over the rows that count. */
function statistics(column: number, given = values.x) {
	const kept = values.counts.flatMap((c, row) => (c ? [given[row * width + column]] : []));
	const mean = kept.reduce((a, b) => a + b) / kept.length;
	const squares = kept.reduce((a, b) => a + (b - mean) ** 2, 0);
	return { mean, variance: squares / kept.length, unbiased: squares / (kept.length - 1) };
}

const wanted = (given = values.x) =>
	given.map((value, i) => {
		const { mean, variance } = statistics(i % width, given);
		const z = (value - mean) / Math.sqrt(variance + 1e-5);
		return z * values["norm.scale"][i % width] + values["norm.shift"][i % width];
	});

describe("while it is learned from", () => {
	const moving: Record<string, Tensor> = {};
	const y = build(moving);
	const after = {
		y,
		mean: moving["norm.mean"],
		variance: moving["norm.variance"],
	};

	test("what counts alone makes the statistics, and the running averages move towards them", async () => {
		const got = await evaluate(after, values);
		expect(relativeError(got.y, wanted())).toBeLessThan(1e-12);
		for (const column of [0, 1]) {
			const { mean, unbiased } = statistics(column);
			const towards = (name: "mean" | "variance", now: number) =>
				expect(got[name][column]).toBeCloseTo(0.9 * values[`norm.${name}`][column] + 0.1 * now, 12);
			towards("mean", mean);
			towards("variance", unbiased);
		}
	});

	test("gradients pass through the statistics", async () => {
		const cotangent = parameter("g", [rows, places, width], "float64");
		const g = values.x.map((_, i) => Math.sin(i));
		const [dx] = gradients(y.mul(cotangent).sum(), [x]) as [Tensor];
		const got = await evaluate({ dx }, { ...values, g });
		const loss = (given: number[]) => wanted(given).reduce((a, v, i) => a + v * g[i], 0);
		const numeric = values.x.map((_, i) => {
			const moved = (by: number) => values.x.map((v, k) => (k === i ? v + by : v));
			return (loss(moved(1e-5)) - loss(moved(-1e-5))) / 2e-5;
		});
		expect(relativeError(got.dx, numeric)).toBeLessThan(1e-7);
	});

	test("where nothing counts nothing moves, and all stays finite", async () => {
		const got = await evaluate(after, { ...values, counts: [0, 0, 0, 0, 0, 0] });
		expect(got.y.every(Number.isFinite)).toBe(true);
		expect(got.mean).toEqual(values["norm.mean"]);
		expect(got.variance).toEqual(values["norm.variance"]);
	});
});

test("otherwise the running averages are used", async () => {
	const got = await evaluate({ y: build() }, values);
	const expected = values.x.map((value, i) => {
		const of = (name: "mean" | "variance" | "scale" | "shift") => values[`norm.${name}`][i % width];
		return ((value - of("mean")) / Math.sqrt(of("variance") + 1e-5)) * of("scale") + of("shift");
	});
	expect(relativeError(got.y, expected)).toBeLessThan(1e-12);
});

import { expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { evaluate, relativeError } from "../../../engine/runtime/testing/evaluate.js";
import { input, type Tensor } from "../../../engine/tensor/index.js";
import { weightsOf } from "../../nn/weights.js";
import { decomposeMixed, mixedAverages } from "./mixture.js";

test("each position weights its own moving averages; padding has no effect", async () => {
	const draw = random(2);
	const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());
	const [places, dim, widths, counts] = [6, 2, [1, 3, 7], [6, 4]];
	const rows = counts.length;
	const values = {
		x: numbers(rows * places * dim),
		weight: numbers(widths.length * dim),
		bias: numbers(widths.length),
		mask: counts.flatMap((n) => Array.from({ length: places }, (_, t) => Number(t >= places - n))),
	};
	const p = weightsOf({
		weight: input("weight", [widths.length, dim], "float64"),
		bias: input("bias", [widths.length], "float64"),
	});
	const averages = mixedAverages(input("mask", [rows, places], "float64"), widths);
	const { seasonal, trend } = await evaluate(
		decomposeMixed(p, input("x", [rows, places, dim], "float64"), averages) as Record<
			"seasonal" | "trend",
			Tensor
		>,
		values,
	);
	const at = (row: number, t: number, c: number) => values.x[(row * places + t) * dim + c]!;
	for (const [row, count] of counts.entries())
		for (let t = places - count; t < places; t++) {
			const scores = widths.map((_, n) => {
				const own = Array.from(
					{ length: dim },
					(_, c) => values.weight[n * dim + c]! * at(row, t, c),
				);
				return Math.exp(own.reduce((a, b) => a + b, values.bias[n]!));
			});
			const total = scores.reduce((a, b) => a + b);
			for (let c = 0; c < dim; c++) {
				const wanted = widths.reduce((sum, width, n) => {
					const around = Array.from({ length: width }, (_, i) => t + i - (width - 1) / 2);
					const mean = around.reduce((s, place) => {
						const inside = Math.min(Math.max(place, places - count), places - 1);
						return s + at(row, inside, c) / width;
					}, 0);
					return sum + (scores[n]! / total) * mean;
				}, 0);
				const i = (row * places + t) * dim + c;
				expect(trend[i]).toBeCloseTo(wanted, 10);
				expect(seasonal[i]).toBeCloseTo(values.x[i]! - wanted, 10);
			}
		}
	expect(relativeError(trend.slice(places * dim, (places + 2) * dim), [0, 0, 0, 0])).toBe(0);
});

import { expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { parameter } from "../../engine/tensor/index.js";
import { timeEncoding } from "./time-encoding.js";

test("a time is the sines and cosines of it at scales in equal ratios", async () => {
	const encoded = timeEncoding(parameter("t", [1, 2], "float64"), { width: 6, longest: 10_000 });
	expect(encoded.shape).toEqual([1, 2, 6]);
	const { y } = await evaluate({ y: encoded }, { t: [0, 250] });
	const wave = (t: number) => [
		...[1, 100, 10_000].map((scale) => Math.sin(t / scale)),
		...[1, 100, 10_000].map((scale) => Math.cos(t / scale)),
	];
	for (const [i, value] of [...wave(0), ...wave(250)].entries())
		expect(y[i]).toBeCloseTo(value, 10);
});

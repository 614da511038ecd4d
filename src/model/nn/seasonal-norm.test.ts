import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { seasonalNorm } from "./series.js";

test("normalises each position, then subtracts the mean over the events", async () => {
	const [places, width, padding] = [5, 3, 2];
	const draw = random(13);
	const rows = Array.from({ length: places }, () =>
		Array.from({ length: width }, () => draw.normal()),
	);
	const [scale, shift] = [
		[1, 2, 0.5],
		[0.3, -1, 2],
	];
	const x = input("x", [1, places, width], "float64");
	const mask = input("mask", [1, places], "float64");
	const p = (name: string) => input(name, [width], "float64");
	const { y } = await evaluate(
		{ y: seasonalNorm(p, "norm", x, mask) },
		{
			x: rows.flat(),
			mask: rows.map((_, t) => Number(t >= padding)),
			"norm.scale": scale,
			"norm.shift": shift,
		},
	);
	const normed = rows.map((row) => {
		const mean = row.reduce((a, b) => a + b) / width;
		const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
		return row.map(
			(value, c) => ((value - mean) / Math.sqrt(variance + 1e-5)) * scale[c] + shift[c],
		);
	});
	const wanted = normed.map((row) =>
		row.map((value, c) => {
			const events = normed.slice(padding).map((other) => other[c]);
			return value - events.reduce((a, b) => a + b) / events.length;
		}),
	);
	expect(y).toEqual(wanted.flat().map((value) => expect.closeTo(value, 10)));
});

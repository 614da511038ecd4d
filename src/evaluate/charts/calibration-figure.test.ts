import { describe, expect, test } from "vitest";
import { calibrationFigure } from "./calibration-figure.js";
import { drawn } from "./testing/drawn.js";

const bin = (predicted: number, observed: number, count: number) => ({
	predicted,
	observed,
	low: Math.max(0, observed - 0.05),
	high: Math.min(1, observed + 0.05),
	count,
});

describe("calibration", () => {
	test("of two kinds of predictions", async () => {
		const figure = calibrationFigure([
			{
				name: "every code",
				error: "weighted calibration error 1.23 points",
				bins: [bin(0.05, 0.06, 12_000), bin(0.2, 0.18, 90)],
			},
			{
				name: "first choice",
				error: "calibration error 0.40 points",
				bins: [bin(0.3, 0.29, 40), bin(0.9, 0.93, 50)],
			},
		]);
		const svg = drawn(figure);
		await expect(svg).toMatchFileSnapshot("testing/calibration.svg");
		expect(svg).toContain("by predicted probability; log scale");
	});

	test("of a single bin at 0, and of many kinds", () => {
		expect(drawn(calibrationFigure([{ name: "a", bins: [bin(0, 0, 1)] }]))).toContain("1 answer");
		const kinds = ["a", "b", "c", "d"].map((name) => ({ name, bins: [bin(1, 1, 5)] }));
		expect(calibrationFigure(kinds).rows.map((row) => row.length)).toEqual([2, 2, 2, 2]);
		drawn(calibrationFigure(kinds));
	});
});

import { describe, expect, test } from "vitest";
import { learningCurveFigure } from "./model-figures.js";
import { drawn } from "./testing/drawn.js";

const step = (at: number, next: unknown, horizon: unknown) => ({
	step: at,
	epoch: 1,
	next,
	horizon,
	gradientNorm: 1,
	learningRate: 0.001,
	tokensPerSecond: 1000,
});

describe("learning curves", () => {
	test("by term, with the best epoch", async () => {
		const figure = learningCurveFigure([
			step(1, 4, 4.5),
			step(2, 3, 3.4),
			{ step: 2, epoch: 1, valid: { next: 2.9, horizon: 3.2 } },
			step(3, 2.5, 3.1),
			{ step: 3, epoch: 2, valid: { next: 2.6, horizon: 3 } },
			step(4, 2.1, 2.9),
			{ step: 4, epoch: 3, valid: { next: 2.7, horizon: 3.05 } },
		]);
		await expect(drawn(figure)).toMatchFileSnapshot("testing/learning-curve.svg");
		expect(figure.rows.flat().map(({ title }) => title)).toEqual(["next", "horizon"]);
	});

	test("of one step, of losses that are not numbers, and of an empty log", () => {
		expect(drawn(learningCurveFigure([step(1, 4, 4)]))).toContain("0 epochs validated");
		expect(drawn(learningCurveFigure([step(1, 4, "NaN"), step(2, 3, 2)]))).toContain(
			">horizon</text>",
		);
		expect(drawn(learningCurveFigure([]))).toContain("no step yet");
	});

	test("of a long run draws no more points than are visible", () => {
		const events = Array.from({ length: 20_000 }, (_, at) => ({
			step: at + 1,
			next: 1 + 1 / (at + 1),
		}));
		expect(drawn(learningCurveFigure(events)).length).toBeLessThan(12_000);
	});
});

import { describe, expect, test } from "vitest";
import { decayFigure } from "./model-figures.js";
import { drawn } from "./testing/drawn.js";

describe("the memory of heads", () => {
	test("by category", async () => {
		const figure = decayFigure({
			categories: ["circulatory system", null],
			heads: [
				{ layer: 1, head: 1, halfLives: [0.5, 3] },
				{ layer: 1, head: 2, halfLives: [45, 200] },
				{ layer: 2, head: 1, halfLives: [1000, Number.POSITIVE_INFINITY] },
			],
		});
		const svg = drawn(figure);
		await expect(svg).toMatchFileSnapshot("testing/decay.svg");
	});

	test("in panels of whole layers", () => {
		const heads = Array.from({ length: 96 }, (_, at) => ({
			layer: 1 + Math.floor(at / 8),
			head: 1 + (at % 8),
			halfLives: [at + 1],
		}));
		const figure = decayFigure({ categories: ["a"], heads });
		expect(figure.rows.flat().map(({ title }) => title)).toEqual(
			[1, 3, 5, 7, 9, 11].map((first) => `Layers ${first} to ${first + 1}`),
		);
		drawn(figure);
	});

	test("in events, all equal, and of no heads", () => {
		const heads = [{ layer: 1, head: 1, halfLives: [5, 5] }];
		const figure = decayFigure({ categories: ["a", "b"], heads, unit: "events" });
		expect(drawn(figure)).toContain("in events, all 5;");
		expect(drawn(decayFigure({ categories: [], heads: [] }))).toContain("No half-lives");
	});
});

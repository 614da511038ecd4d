import { describe, expect, test } from "vitest";
import { distributionOf, recallByWindowFigure, shareDensity } from "./recall-figure.js";
import { drawn } from "./testing/drawn.js";

const row = (label: string, recall: readonly number[]) => ({
	who: "model" as const,
	label,
	recall: [...recall],
});

describe("recall by window", () => {
	test("as distributions", async () => {
		const figure = recallByWindowFigure({
			split: "test",
			windows: [
				{
					window: "1–20",
					rows: [
						{ ...row("TrajGPT, time-specific", [0.5, 0.7, 0.9]), method: "time-specific" },
						{ ...row("own history", [0.2, 0.4, 0.4]), who: "history" },
					],
				},
				{ window: "21–50", rows: [row("nobody", [])] },
			],
		});
		const svg = drawn(figure);
		await expect(svg).toMatchFileSnapshot("testing/recall.svg");
		expect(svg).toContain(">70.0 % (47.4–92.6)</text>"); // 0.2/√3 · 1.96 to each side
		expect(svg).not.toContain("21–50");
	});

	test("of one patient, of equal ones, and of none", () => {
		const of = (...recall: number[]) =>
			drawn(
				recallByWindowFigure({
					split: "valid",
					windows: [{ window: "1–20", rows: [row("a", recall)] }],
				}),
			);
		expect(of(1)).toContain(">100.0 % (100.0–100.0)</text>");
		expect(of(0, 0, 0)).toContain(">0.0 % (0.0–0.0)</text>");
		expect(drawn(recallByWindowFigure({ split: "test" }))).toContain("No patient has events");
	});

	test("uses quartiles, and densities within [0, 1]", () => {
		expect(distributionOf([0, 0.25, 0.5, 0.75, 1])).toMatchObject({
			mean: 0.5,
			quartiles: [0.25, 0.5, 0.75],
		});
		expect(distributionOf([])).toBeUndefined();
		const density = shareDensity([0, 0, 1]);
		expect(density.at(0)).toEqual({ share: 0, thickness: 1 });
		expect(density.at(-1)?.thickness).toBeCloseTo(0.5, 2); // one value there, two at the other end
	});
});

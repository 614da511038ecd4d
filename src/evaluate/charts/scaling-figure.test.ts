import { expect, test } from "vitest";
import { columnsOf } from "../compare/cells.js";
import type { Line } from "../compare/comparison.js";
import { scalingFigure } from "./scaling-figure.js";
import { drawn } from "./testing/drawn.js";

const columns = columnsOf(["onset"], []).slice(0, 2);
const training = (parameters: number) => ({
	...{ parameters, epochs: 1, bestEpoch: 1, cpuSecondsPerEpoch: 1, peakBytes: 1 },
});
const measure = (value: number) => ({ value, low: value - 0.01, high: value + 0.01 });
const places = ["tiny", "large"].flatMap((preset) =>
	[2000, 8000].map((trainPatients) => ({
		...{ preset, trainPatients, entry: { label: `${preset}, ${trainPatients} patients` } },
	})),
);
const lineOf = (label: string, value: number, parameters?: number): Line => ({
	...{ label, group: "", seeds: parameters ? 1 : 0 },
	values: [measure(value), undefined],
	...(parameters && { training: training(parameters) }),
});
const lines = [
	lineOf("tiny, 2000 patients", 0.61, 130_000),
	lineOf("tiny, 8000 patients", 0.64, 130_000),
	lineOf("large, 8000 patients", 0.66, 4_200_000),
	lineOf("code frequencies (onset: age and sex)", 0.6),
	lineOf("a constant", 0.3),
];

test("curves over patients, one per size, with baselines; what is missing is left out", async () => {
	const figure = scalingFigure({ columns, lines }, places, true);
	expect(figure.rows.flat().map(({ title }) => title)).toEqual(["Onset within 1 y: AUROC"]);
	expect(figure.rows[0]?.[0]?.subtitle).toBe("higher is better; a constant 0.300");
	const svg = drawn(figure);
	await expect(svg).toMatchFileSnapshot("testing/scaling.svg");
});

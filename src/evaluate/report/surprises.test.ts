import { expect, test } from "vitest";
import type { Evaluation } from "../evaluation.js";
import { surprises } from "./surprises.js";
import { exampleForecast, exampleInsulin, exampleOnset } from "./testing/example-report.js";

const around = (value: number, half = 0.01) => ({ value, low: value - half, high: value + half });

const forecast = (more: Readonly<Record<string, readonly number[]>>): Evaluation => {
	const evaluation = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 });
	const rows = evaluation.rows.map((row, at) => ({
		...row,
		metrics: {
			...row.metrics,
			...Object.fromEntries(
				Object.entries(more).map(([name, values]) => [name, around(values[at])]),
			),
		},
	}));
	return { ...evaluation, rows };
};

test("nothing to explain where the order is as expected", () => {
	expect(surprises(forecast({}), ["recall@10"])).toEqual([]);
	expect(
		surprises(exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }), ["auroc 5y"]),
	).toEqual([]);
});

test("a model ahead of the reference model: by chance, or because futures are sampled", () => {
	const chance = exampleForecast({ model: 0.6, history: 0.5, steps: 0.5, oracle: 0.595 });
	expect(surprises(chance, ["recall@10"])).toEqual([
		"“time-specific” is ahead of “reference model” in recall@10 (60.0 % against 59.5 %). That is within chance on these patients.",
	]);
	const clear = exampleForecast({ model: 0.6, history: 0.5, steps: 0.5, oracle: 0.55 });
	expect(surprises({ ...clear, notes: ["by 32 sampled futures"] }, ["recall@10"])).toEqual([
		"“time-specific” is ahead of “reference model” in recall@10 (60.0 % against 55.0 %). The reference model predicts from 32 sampled futures, which costs it a little.",
	]);
});

test("a baseline ahead of the model, in words for a reader", () => {
	const onset = exampleOnset({ model: 0.61, regression: 0.65 });
	expect(surprises(onset, ["auroc 5y"])).toEqual([
		"“regression per code” is ahead of “TrajGPT” in AUROC within 5 years (0.650 against 0.610). That is more than chance: here the simpler method is better.",
	]);
});

test("the best of several model rows is compared", () => {
	const insulin = exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5, history: 0.4 });
	expect(surprises(insulin, ["auprc"])).toEqual([]);
});

test("parts of recall, and calibration, have reasons of their own; windows are left out", () => {
	const evaluation = forecast({
		"recall@10 new": [0.1, 0.1, 0.2, 0.15],
		"recall@5 new": [0.1, 0.1, 0.2, 0.15],
		"recall@10 21–50 new": [0.1, 0.1, 0.2, 0.15],
		calibrationError: [0.1, 0.1, 0.01, 0.05],
	});
	const said = surprises(evaluation, Object.keys(evaluation.rows[0]?.metrics ?? {}));
	expect(said).toHaveLength(2);
	expect(said[0]).toContain("in recall@10 new (20.0 % against 15.0 %)");
	expect(said[0]).toContain("The same holds for 2 more numbers. A list of codes has few places");
	expect(said[1]).toContain("(1.00 against 5.00)");
	expect(said[1]).toContain("predicts nearly the same for everybody");
});

test("numbers that print alike are no surprise, nor are those of too few patients", () => {
	const alike = exampleForecast({ model: 0.60001, history: 0.5, steps: 0.5, oracle: 0.6 });
	expect(surprises(alike, ["recall@10"])).toEqual([]);
	const behind = exampleForecast({ model: 0.4, history: 0.5, steps: 0.3 });
	expect(surprises(behind, ["recall@10"])).toHaveLength(1);
	expect(surprises({ ...behind, tooFew: "5 patients" }, ["recall@10"])).toEqual([]);
});

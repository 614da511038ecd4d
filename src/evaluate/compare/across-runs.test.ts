import { describe, expect, test } from "vitest";
import type { Evaluation } from "../evaluation.js";
import { acrossRuns } from "./comparison.js";

const at = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });

const evaluation = (recall: number, more: Partial<Evaluation> = {}): Evaluation => ({
	kind: "trajgpt-evaluation",
	version: 3,
	task: "forecast",
	split: "test",
	patients: 3,
	events: 12,
	seed: 0,
	draws: 1000,
	notes: [],
	rows: [
		{ who: "model", label: "TrajGPT", metrics: { recall: at(recall) } },
		{ who: "history", label: "own history", metrics: { recall: at(0.5) } },
	],
	differences: [{ row: "TrajGPT", than: "own history", metrics: { recall: at(recall - 0.5) } }],
	made: { versions: {}, dataset: "abc", step: 7, seconds: 1 },
	...more,
});

describe("acrossRuns", () => {
	test("gives the model's mean and t-interval, and leaves other rows unchanged", () => {
		const { runs, rows, differences } = acrossRuns([0.6, 0.7, 0.8].map((one) => evaluation(one)));
		const half = (4.3027 * 0.1) / Math.sqrt(3);
		expect(runs).toBe(3);
		const measure = rows[0]?.metrics.recall;
		expect(measure?.value).toBeCloseTo(0.7, 12);
		expect(measure?.low).toBeCloseTo(0.7 - half, 9);
		expect(measure?.high).toBeCloseTo(0.7 + half, 9);
		expect(rows[1]?.metrics.recall).toEqual(at(0.5));
		expect(differences[0]?.metrics.recall?.value).toBeCloseTo(0.2, 12);
		expect(differences[0]?.metrics.recall?.low).toBeCloseTo(0.2 - half, 9);
	});

	test("approximates Student's t beyond its table", () => {
		const values = Array.from({ length: 21 }, (_, i) => i / 100);
		const { rows } = acrossRuns(values.map((one) => evaluation(one)));
		const error = Math.sqrt((21 * 22) / 12 / 21) / 100; // variance of 0 … 20 is 38.5
		expect((rows[0].metrics.recall.high - 0.1) / error).toBeCloseTo(2.086, 3);
	});

	test("rejects a single run, and runs measured on different data", () => {
		expect(() => acrossRuns([evaluation(0.6)])).toThrow("1 runs; expected at least two");
		expect(() => acrossRuns([evaluation(0.6), evaluation(0.6, { patients: 4 })])).toThrow(
			"3 patients of abc, and forecast of 4",
		);
	});
});

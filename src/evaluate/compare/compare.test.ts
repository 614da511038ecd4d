import { describe, expect, test } from "vitest";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import type { Cell, Entry } from "./cell.js";
import { columnsOf } from "./columns.js";
import { comparisonOf, type Difference, leaders, type Way } from "./comparison.js";
import { csv, latex, markdown, textRows } from "./render.js";

const about = (value: number) => ({ value, low: value - 0.01, high: value + 0.02 });

const evaluation = (task: string, rows: readonly EvaluationRow[]): Evaluation => ({
	...{ kind: "trajgpt-evaluation", version: 1, task, split: "test", patients: 9, events: 99 },
	...{ seed: 0, draws: 100, notes: [], rows: [...rows] },
	made: { versions: {}, dataset: "abc", step: 1, seconds: 1 },
});

const recalls = (five: number) => ({ "recall@5": about(five), "recall@10": about(five + 0.1) });
const training = {
	...{ parameters: 131_000, epochs: 4, bestEpoch: 3, secondsPerEpoch: 12.34, peakBytes: 2 ** 28 },
};

const entry = (id: string, label: string): Entry => ({
	...{ id, label, group: id, model: id, settings: {}, options: {} },
});
const [one, two] = [entry("one", "One"), entry("two", "Two")];

/** "one" forecasts in both ways and is pre-trained; "two" in one way, and is not. */
const cell = (own: Entry, seed: number, five: number): Cell => ({
	...{ kind: "trajgpt-cell", version: 1, entry: own.id, seed, training, left: {}, seconds: 1 },
	evaluations: {
		forecast: evaluation("forecast", [
			{ who: "model", label: "a", method: "time-specific", metrics: recalls(five) },
			...(own === one
				? ([
						{ who: "model", label: "b", method: "auto-regressive", metrics: recalls(five - 0.05) },
					] as const)
				: []),
		]),
		chf: evaluation("chf", [
			...(own === one
				? ([
						{
							who: "model",
							label: "c",
							setting: "zero-shot prototype",
							metrics: { auprc: about(0.1) },
						},
						{ who: "model", label: "d", setting: "5-shot", metrics: { auprc: about(0.2) } },
					] as const)
				: []),
			{ who: "model", label: "e", setting: "fine-tuned", metrics: { auprc: about(0.3) } },
		]),
	},
});

const opponents: Cell = {
	...{
		kind: "trajgpt-cell",
		version: 1,
		entry: null,
		seed: 0,
		training: null,
		left: {},
		seconds: 1,
	},
	evaluations: {
		forecast: evaluation("forecast", [
			{ who: "history", label: "own history", metrics: recalls(0.9) },
		]),
		chf: evaluation("chf", [
			{ who: "history", label: "own history, all labels", metrics: { auprc: about(0.25) } },
			{ who: "history", label: "own history, related records", metrics: { auprc: about(0.15) } },
		]),
	},
};

const ways: Way[] = [
	{ entry: one, method: "time-specific", first: true, label: "One (time-specific)" },
	{ entry: one, method: "auto-regressive", first: false, label: "One (auto-regressive)" },
	{ entry: two, method: "time-specific", first: true, label: "Two" },
];
const columns = columnsOf(["forecast", "chf"], [5, 10]);
const table = comparisonOf(
	columns,
	ways,
	[cell(one, 1, 0.5), cell(one, 2, 0.52), cell(two, 1, 0.6), opponents],
	[],
);
const paired = comparisonOf(
	columns,
	ways.map((way) => (way.entry === two ? { ...way, against: one } : way)),
	[cell(one, 1, 0.5), cell(one, 2, 0.52), cell(two, 1, 0.6), cell(two, 2, 0.622)],
	[],
);
const values = table.lines.map((line) => line.values.map((measure) => measure?.value));

describe("a comparison", () => {
	test("puts each number where the paper does, and nothing where there is none", () => {
		expect(columns.map(({ group, title }) => `${group} ${title}`)).toEqual([
			...["Forecasting K = 5", "Forecasting K = 10", "CHF S = 0", "CHF 5", "CHF all"],
		]);
		const close = (x: number) => expect.closeTo(x, 9);
		expect(values).toEqual([
			[close(0.51), close(0.61), close(0.1), close(0.2), close(0.3)],
			[close(0.46), close(0.56), undefined, undefined, undefined],
			[0.6, 0.7, undefined, undefined, 0.3],
			[0.9, 1, 0.15, undefined, 0.25],
		]);
		expect(table.lines.map(({ seeds }) => seeds)).toEqual([2, 2, 1, 0]);
	});

	test("of several seeds has the interval of the seeds, of one that of the patients", () => {
		// Two values 0.02 apart: half the width is 12.706 · 0.01414 / √2.
		const { low, high } = table.lines[0]!.values[0]!;
		expect((high - low) / 2).toBeCloseTo(12.7062 * 0.01, 4);
		expect(table.lines[2]!.values[0]).toEqual(about(0.6));
	});

	test("holds lines against each other seed by seed", () => {
		const [{ line, than, seeds, values }] = paired.differences as [Difference];
		expect([line, than, seeds]).toEqual(["Two", "One (time-specific)", 2]);
		expect(values[0]!.value).toBeCloseTo(0.101, 9);
		expect(values[0]!.high - values[0]!.value).toBeCloseTo(12.7062 * 0.001, 6);
		expect(values[2]).toBeUndefined(); // "two" has no zero-shot
		expect(table.differences).toEqual([]);
		expect(markdown(paired)).toContain(
			"Two − One (time-specific), paired by 2 seeds: Forecasting K = 5 +10.1 [+8.8, +11.4]",
		);
	});

	test("names the best and the second of what was trained; counts do not compete", () => {
		expect(leaders(table)[0]).toEqual({ best: 2, second: 0 });
	});
});

describe("its forms", () => {
	test("Markdown, LaTeX, CSV and the terminal say the same", () => {
		expect(markdown(table)).toContain(
			"| Two | **60.0** [59.0, 62.0] | **70.0** [69.0, 72.0] | — | — |",
		);
		expect(latex(table)).toContain("Two & \\textbf{60.0}\\,{\\scriptsize $\\pm$ 1.5} & ");
		expect(latex(table)).toContain("\\begin{tabular}{l|cc|ccc|r}");
		expect(csv(table).split("\n")).toContain("Two,two,forecast,,recall@5,0.6,0.59,0.62,1");
		expect(csv(table)).toContain("Two,two,training,,parameters,131000,,,1");
		const { header, rows } = textRows(table);
		expect(header[0].slice(0, 4)).toEqual(["", "Forecasting, %", "", "CHF, %"]);
		expect(rows[2]).toEqual([
			...["Two", "60.0 ±1.5", "70.0 ±1.5", "—", "—", "30.0 ±1.5"],
			...["1", "131k", "12.3", "256"],
		]);
	});
});

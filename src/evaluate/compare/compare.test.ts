import { describe, expect, test } from "vitest";
import { mapValues } from "../../base/map-values.js";
import { random } from "../../base/random.js";
import { meanOverSeeds, measureOf, possible, type RowName, toText } from "../bootstrap.js";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import {
	type Cell,
	type ComparedMethod,
	type ComparedModel,
	cellSchema,
	columnsOf,
	keepsDraws,
} from "./cells.js";
import { acrossRuns, bestOfColumns, type Comparison, comparisonOf, partsOf } from "./comparison.js";
import { comparisonFormats, comparisonText } from "./render.js";

/** Distances of draws from their value, the same for all rows, so that paired differences are exact. */
const scatter = (() => {
	const stream = random(5);
	return Float64Array.from({ length: 200 }, () => 0.02 * stream.normal());
})();
const drawnAbout = (value: number) => ({ value, drawn: scatter.map((by) => value + by) });
const interval = (metric: string, value: number) => possible(metric, measureOf(drawnAbout(value)));
const row = (name: RowName, values: Readonly<Record<string, number>>): EvaluationRow => ({
	...name,
	metrics: mapValues(values, (value, metric) => interval(metric, value)),
	byDraw: mapValues(values, (value) => toText(drawnAbout(value).drawn)),
});
const evaluation = (task: string, rows: EvaluationRow[]): Evaluation => ({
	kind: "trajgpt-evaluation",
	version: 4,
	task,
	split: "test",
	patients: 40,
	events: 99,
	seed: 0,
	draws: scatter.length,
	notes: [],
	rows,
	made: { versions: {}, dataset: "abc", step: 1, seconds: 1 },
});

const training = {
	parameters: 131_000,
	epochs: 4,
	bestEpoch: 3,
	cpuSecondsPerEpoch: 12.34,
	peakBytes: 2 ** 28,
};
const entry = (id: string, label: string): ComparedModel => ({
	id,
	label,
	group: id,
	model: id,
	settings: {},
	options: {},
});
const [one, two] = [entry("one", "One"), entry("two", "Two")];
const cellOf = (
	compared: ComparedModel | null,
	seed: number,
	evaluations: Cell["evaluations"],
): Cell => ({
	kind: "trajgpt-cell",
	version: 2,
	entry: compared?.id ?? null,
	seed,
	training: compared && training,
	evaluations,
	left: {},
	seconds: 1,
	cpuSeconds: 1,
});

const recalls = (five: number) => ({ "recall@5": five, "recall@10": five + 0.1 });
const forecast = (method: NonNullable<RowName["method"]>, five: number) =>
	row({ who: "model", label: `a ${method}`, method }, recalls(five));
const labelled = (setting: NonNullable<RowName["setting"]>, auprc: number) =>
	row({ who: "model", label: setting, setting }, { auprc });

/** "one" forecasts in two ways and is pre-trained; "two" in one way, and is not. */
const cell = (compared: ComparedModel, seed: number, five: number): Cell => {
	const [forecasts, labels] =
		compared === one
			? [
					[forecast("time-specific", five), forecast("auto-regressive", five - 0.05)],
					[
						labelled("zero-shot prototype", 0.3),
						labelled("5-shot", 0.4),
						labelled("fine-tuned", 0.5),
					],
				]
			: [[forecast("by-order", five)], [labelled("fine-tuned", 0.6)]];
	return cellOf(compared, seed, {
		forecast: evaluation("forecast", forecasts),
		chf: evaluation("chf", labels),
	});
};
const baselines = cellOf(null, 0, {
	forecast: evaluation("forecast", [row({ who: "history", label: "own history" }, recalls(0.8))]),
	chf: evaluation("chf", [
		row({ who: "history", label: "ridge regression", setting: "fine-tuned" }, { auprc: 0.55 }),
	]),
});

const ways: ComparedMethod[] = [
	{ entry: one, method: "time-specific", first: true, label: "One (time-specific)" },
	{
		entry: one,
		method: "auto-regressive",
		first: false,
		label: "One (auto-regressive)",
		against: one,
	},
	{ entry: two, method: "by-order", first: true, label: "Two", against: one },
];
const columns = columnsOf(["forecast", "chf"], [5, 10]);
const cells = [cell(one, 1, 0.5), cell(one, 2, 0.52), cell(two, 1, 0.6), baselines];
const table = comparisonOf(columns, ways, cells, []);
const close = (x: number) => expect.closeTo(x, 9);
const pairsOf = ({ differences }: Comparison) =>
	differences.map(({ line, than }) => `${line} − ${than}`);

const {
	csv,
	md: markdown,
	tex: latex,
} = comparisonFormats as Record<"csv" | "md" | "tex", (comparison: Comparison) => string>;
/** The cells of each line for the terminal; empty ones of a header are left out. */
const textRows = (comparison: Comparison) =>
	comparisonText(comparison)
		.split("\n")
		.map((line) => line.trim().split(/ {2,}/));

describe("a comparison", () => {
	test("has the recall of known and of new codes in a part of its own", () => {
		const [all, apart] = partsOf(table);
		expect(all!.columns).toEqual(columns.filter(({ novelty }) => novelty === undefined));
		expect(apart!.columns.map(({ group, metric }) => `${group}: ${metric}`)).toEqual([
			"Forecasting, known codes: recall@5 known",
			"Forecasting, known codes: recall@10 known",
			"Forecasting, new codes: recall@5 new",
			"Forecasting, new codes: recall@10 new",
		]);
		expect(apart!.lines[0]!.values).toHaveLength(4);
		expect(textRows(apart!)[1]).not.toContain("seeds");
		expect(partsOf(comparisonOf(columnsOf(["next"], [5]), ways, cells, []))).toHaveLength(1);
	});

	test("puts each number where the paper does, and leaves other cells empty", () => {
		const [shown] = partsOf(table);
		expect(shown!.columns.map(({ group, title }) => `${group} ${title}`)).toEqual([
			"Forecasting K = 5",
			"Forecasting K = 10",
			"CHF S = 0",
			"CHF 5",
			"CHF all",
		]);
		expect(shown!.lines.map((line) => line.values.map((measure) => measure?.value))).toEqual([
			[close(0.51), close(0.61), 0.3, 0.4, 0.5],
			[close(0.46), close(0.56), undefined, undefined, undefined],
			[0.6, 0.7, undefined, undefined, 0.6],
			[0.8, 0.9, undefined, undefined, 0.55],
		]);
		expect(table.lines.map(({ seeds }) => seeds)).toEqual([2, 2, 1, 0]);
	});

	test("has intervals over patients and seeds, for one seed equal to those of its evaluation", () => {
		const [first, , second, history] = table.lines;
		expect(second!.values[0]).toEqual(interval("recall@5", 0.6));
		expect(second!.values[4]).toEqual(interval("auprc", 0.6));
		expect(history!.values[4]).toEqual(interval("auprc", 0.55));
		const { low, high, seedDeviation } = first!.values[0]!;
		const overSeeds = measureOf(meanOverSeeds([drawnAbout(0.5), drawnAbout(0.52)], "one"));
		expect([low, high]).toEqual([close(overSeeds.low), close(overSeeds.high)]);
		// Two values 0.02 apart.
		expect(table.notes.join()).toContain("are not in these intervals: Two");
		expect(seedDeviation).toBeCloseTo(0.01 * Math.SQRT2, 9);
	});

	test("compares every line with the first, paired by patient", () => {
		expect(pairsOf(table)).toEqual([
			"One (auto-regressive) − One (time-specific)",
			"Two (by-order) − One (time-specific)",
			"own history − One (time-specific)",
		]);
		const [, two, history] = table.differences;
		// The scatter of patients is the same in all: nothing is left of it. Both seeds of "one" have the same AUPRC.
		expect(two!.values[4]).toEqual({ value: close(0.1), low: close(0.1), high: close(0.1) });
		const { value, low, high } = two!.values[0]!;
		expect(value).toBeCloseTo(0.09, 9);
		expect(high - low).toBeCloseTo(0.02, 9);
		expect(history!.values[1]!.value).toBeCloseTo(0.29, 9);
		expect(two!.values[2]).toBeUndefined(); // "two" has no zero-shot
		expect(two!.verdicts).toEqual(columns.map(() => undefined)); // and no column has a margin
	});

	test("compares a forecast method with the same method of the other line, if it has it", () => {
		const three = entry("three", "Three");
		const stepping = cellOf(three, 1, {
			forecast: evaluation("forecast", [forecast("auto-regressive", 0.44)]),
			chf: evaluation("chf", [labelled("fine-tuned", 0.7)]),
		});
		const way = { entry: three, method: "auto-regressive", first: true } as const;
		const { differences } = comparisonOf(
			columns,
			[...ways, { ...way, label: "Three", against: one }],
			[cell(one, 1, 0.5), stepping],
			[],
		);
		const [, difference] = differences;
		expect([difference!.line, difference!.than]).toEqual(["Three", "One (auto-regressive)"]);
		expect(difference!.values[0]!.value).toBeCloseTo(0.44 - 0.45, 9);
		// What is no forecast is the line's own, whatever its way.
		expect(difference!.values[4]!.value).toBeCloseTo(0.7 - 0.5, 9);
		// Without forecasts there are no ways to name.
		const labels = comparisonOf(columnsOf(["chf"], []), ways, cells, []);
		expect(labels.lines.map(({ label }) => label)).toEqual(["One", "Two", "own history"]);
		expect(pairsOf(labels)).toEqual(["Two − One", "own history − One"]);
	});

	test("notes missing differences, missing tasks and training on other devices", () => {
		const [first, , second, others] = cells as [Cell, Cell, Cell, Cell];
		const unmeasured = { ...second, left: { next: "no labels" } };
		const alone = comparisonOf(columns, ways, [unmeasured, others], []);
		expect(alone.differences).toEqual([]);
		expect(alone.notes).toContain("no differences from One, which has no result: Two, own history");
		expect(alone.notes).toContain("next not measured of Two: no labels");
		expect(table.notes.join()).not.toMatch(/no differences|not measured|trained on/);

		const elsewhere = cellSchema.parse({
			...second,
			training: { ...training, provider: "xla", seconds: 77.4 },
		});
		const shown = comparisonOf(columns, ways, [first, elsewhere], []);
		const rows = textRows(shown).slice(2, 5);
		expect(rows.map((row) => row.slice(6))).toEqual([
			["1", "131k", "12.3", "—", "256"],
			["1", "—", "—", "—", "—"],
			["1", "131k", "—", "77", "—"],
		]);
		expect(csv(shown)).toContain("Two,two,training,,parameters,131000");
		expect(csv(shown)).not.toContain("Two,two,training,,peakBytes");
		expect(shown.notes.at(-1)).toMatch(/^trained on xla, .*: Two$/);
	});

	test("says what differences of first records mean", () => {
		const onset = columnsOf(["onset"], []);
		const onsetCell = (compared: ComparedModel, auroc: number) => {
			const values = { "auroc 1y": auroc, "logLoss 1y": 4.3 };
			const rows = [row({ who: "model", label: compared.label }, values)];
			return cellOf(compared, 1, { onset: evaluation("onset", rows) });
		};
		const shown = comparisonOf(onset, ways, [onsetCell(one, 0.6), onsetCell(two, 0.63)], []);
		expect(shown.differences[0]!.verdicts.slice(0, 2)).toEqual(["equivalent", "ahead"]);
		expect(markdown(shown)).toContain("| +0.030 [+0.030, +0.030] ahead |");
		expect(shown.notes.join()).toContain("±0.02 in log loss per onset, ±0.01 in AUROC, ±5 % of");
		expect(csv(shown)).toMatch(/^Two,,onset,,auroc 1y,.*,One,ahead$/m);
	});

	test("rejects lines measured on different data", () => {
		const other = structuredClone(cells[2]) as Cell;
		other.evaluations.forecast!.patients = 41;
		expect(() => comparisonOf(columns, ways, [cells[0] as Cell, other], [])).toThrow(
			/forecast was measured on different data: 40 patients .* and 41 patients/,
		);
	});

	test("refuses a row without draws, whose cell is measured again", () => {
		expect(keepsDraws(cells[0]!)).toBe(true);
		const without = structuredClone(cells[0]!);
		delete without.evaluations.forecast!.rows[0]!.byDraw;
		expect(keepsDraws(without)).toBe(false);
		expect(() => comparisonOf(columns, ways, [without], [])).toThrow(
			"has no draws of recall@5; evaluate it again",
		);
	});

	test("marks the best and second-best trained line, never a baseline", () => {
		expect(bestOfColumns(table)[0]).toEqual({ best: 2, second: 0 });
	});

	test("of onset has baselines of its own", () => {
		const onset = (who: "model" | "history", auroc: number) => ({
			onset: evaluation("onset", [row({ who, label: who }, { "auroc 1y": auroc })]),
		});
		const comparison = comparisonOf(
			columnsOf(["onset"], [5]),
			[
				{ entry: one, method: "time-specific", first: true, label: "One" },
				{ entry: two, method: "time-specific", first: true, label: "Two", against: one },
			],
			[
				cellOf(one, 1, onset("model", 0.7)),
				cellOf(two, 1, onset("model", 0.68)),
				cellOf(null, 0, onset("history", 0.65)),
			],
			[],
		);
		expect(comparison.columns.map(({ group, title }) => `${group}: ${title}`)).toEqual([
			"Onset within 1 y: log loss",
			"Onset within 1 y: AUROC",
			"Onset within 1 y: AP",
			"Onset within 5 y: log loss",
			"Onset within 5 y: AUROC",
			"Onset within 5 y: AP",
		]);
		expect(comparison.lines.map(({ label, values }) => [label, values[1]?.value])).toEqual([
			["One", 0.7],
			["Two", 0.68],
			["lasso regression", 0.65],
		]);
		expect(pairsOf(comparison)[0]).toBe("Two − One");
	});
});

describe("rendering a comparison", () => {
	test("gives the same numbers in Markdown, LaTeX, CSV and the terminal, and no draws", () => {
		const { value, low, high } = table.lines[2]!.values[0]!;
		const [from, to] = [(100 * low).toFixed(1), (100 * high).toFixed(1)];
		const half = (50 * (high - low)).toFixed(1);
		expect(markdown(table)).toContain(`| Two | **60.0** [${from}, ${to}] | **70.0** [`);
		expect(markdown(table)).toMatch(
			/\| One \(time-specific\) \| <u>51.0<\/u> \[[\d., ]+\] \(sd 1.4\) \|/,
		);
		expect(markdown(table)).toContain(
			"| One (auto-regressive) − One (time-specific) | −5.0 [−5.0, −5.0] | −5.0 [",
		);
		expect(latex(table)).toContain(`Two & \\textbf{60.0}\\,{\\scriptsize $\\pm$ ${half}} & `);
		expect(latex(table)).toContain("\\begin{tabular}{l|cc|ccc|r}");
		const lines = csv(table).split("\n");
		expect(lines).toContain(`Two,two,forecast,,recall@5,${value},${low},${high},1,,,`);
		expect(lines).toContain("Two,two,training,,parameters,131000,,,1,,,");
		expect(csv(table)).toMatch(
			/own history,,forecast,,recall@5,0.29\d*,[\d.]+,[\d.]+,,,One \(time-specific\),$/m,
		);
		const [groups, titles, , , two] = textRows(table);
		expect(groups).toEqual(["Forecasting", "CHF"]);
		expect(titles!.slice(0, 3)).toEqual(["K = 5, %", "K = 10, %", "S = 0, %"]);
		expect(two!.slice(0, 5)).toEqual(["Two", `60.0 ±${half}`, `70.0 ±${half}`, "—", "—"]);
		expect(two!.slice(6)).toEqual(["1", "131k", "12.3", "256"]);
		expect(JSON.stringify(table)).not.toContain("byDraw");
	});

	test("writes units in column titles, and escapes LaTeX", () => {
		const strange = { ...one, label: "fixed γ, τ 20 ± 1 − a_b" };
		const mixed = comparisonOf(
			columnsOf(["next", "forecast"], [5]),
			[{ entry: strange, method: "time-specific", first: true, label: strange.label }],
			[cells[0] as Cell],
			[],
		);
		const [groups, titles] = textRows(mixed);
		expect(groups).toEqual(["Next event", "Forecasting"]);
		expect(titles!.slice(0, 3)).toEqual(["nats", "accuracy, %", "K = 5, %"]);
		expect(latex(mixed)).toContain("\\multicolumn{2}{c|}{\\textbf{Next event}} & ");
		expect(latex(mixed)).toContain("& nats & accuracy, \\% & K = 5, \\% & parameters");
		expect(latex(mixed)).toContain("fixed $\\gamma$, $\\tau$ 20 $\\pm$ 1 $-$ a\\_b & --- & ");
		expect(latex(mixed)).toMatch(/^[ -~\n]*$/);
	});
});

describe("acrossRuns", () => {
	const metricsOf = (recall: number) => ({ recall: interval("recall", recall) });
	const run = (recall: number): Evaluation => ({
		...evaluation("forecast", [
			row({ who: "model", label: "TrajGPT" }, { recall }),
			row({ who: "history", label: "own history" }, { recall: 0.5 }),
		]),
		differences: [{ row: "TrajGPT", than: "own history", metrics: metricsOf(recall - 0.5) }],
	});

	test("gives the model's mean over patients and runs, and leaves other rows unchanged", () => {
		const { runs, rows, differences } = acrossRuns([0.6, 0.7, 0.8].map(run));
		expect(runs).toBe(3);
		const { value, low, high } = rows[0]!.metrics.recall!;
		expect(value).toBeCloseTo(0.7, 9);
		// Every draw is of one run: from below 0.6 to above 0.8.
		expect(low).toBeGreaterThan(0.55);
		expect(low).toBeLessThan(0.6);
		expect(high).toBeGreaterThan(0.8);
		expect(rows[1]?.metrics).toEqual(metricsOf(0.5));
		const difference = differences[0]!.metrics.recall!;
		// The scatter of patients is the same in both rows.
		expect(difference.value).toBeCloseTo(0.2, 9);
		expect(difference.high - difference.low).toBeCloseTo(0.2, 9);
	});

	test("adds the variances of patients and runs for a metric without draws", () => {
		const withoutDraws = [0.6, 0.7, 0.8].map((value) => {
			const measures = { tmap: { value, low: value - 0.03, high: value + 0.03 } };
			return evaluation("futures", [{ who: "model", label: "TrajGPT", metrics: measures }]);
		});
		const { value, low, high } = acrossRuns(withoutDraws).rows[0]!.metrics.tmap!;
		expect(value).toBeCloseTo(0.7, 9);
		expect((high - low) / 2).toBeCloseTo(Math.hypot(0.03, 1.959964 * 0.1), 6);
	});

	test("rejects a single run, and runs measured on different data", () => {
		expect(() => acrossRuns([run(0.6)])).toThrow("1 runs; expected at least two");
		expect(() => acrossRuns([run(0.6), { ...run(0.6), patients: 4 }])).toThrow(
			"40 patients of abc, and forecast of 4",
		);
	});
});

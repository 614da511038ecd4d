import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { bootstrap } from "../bootstrap.js";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import { rankStatistics } from "../labelled/label-set.js";
import {
	measureRows,
	type PatientRow,
	type RowName,
	ratioStatistics,
	type Statistics,
	toText,
} from "../rows.js";
import { meanOf } from "../testing/mean-of.js";
import {
	type Cell,
	type ComparedMethod,
	type ComparedModel,
	cellSchema,
	columnsOf,
	keepsDraws,
} from "./cells.js";
import { bestOfColumns, type Comparison, comparisonOf, partsOf } from "./comparison.js";
import { comparisonFormats, comparisonText } from "./render.js";

const patients = 40;
const drawing = { draws: 200, seed: 0 };

const evaluation = (task: string, rows: readonly PatientRow[]): Evaluation => ({
	kind: "trajgpt-evaluation",
	version: 3,
	task,
	split: "test",
	patients,
	events: 99,
	...{ ...drawing, notes: [] },
	...measureRows(rows, patients, { ...drawing, keepDraws: true }),
	made: { versions: {}, dataset: "abc", step: 1, seconds: 1 },
});

/** Recalls of each patient about a mean, the same scatter for all lines, so that differences are exact. */
const scatter = (() => {
	const stream = random(5);
	const drawn = Array.from({ length: patients }, () => 0.1 * stream.normal());
	const mean = drawn.reduce((a, b) => a + b) / patients;
	return drawn.map((value) => value - mean);
})();
const recallsAbout = (mean: number) => scatter.map((by) => mean + by);
const recalls = (five: number): Statistics => {
	const wholes = scatter.map(() => 1);
	return ratioStatistics({
		"recall@5": { parts: recallsAbout(five), wholes },
		"recall@10": { parts: recallsAbout(five + 0.1), wholes },
	});
};

const targets = Uint8Array.from(scatter, (_, at) => Number(at % 4 === 0));
const labels = { targets, patients: Int32Array.from(scatter.keys()), count: patients };
/** Scores that depend on the label by `much`. */
const knowing = (much: number): Statistics =>
	rankStatistics(
		labels,
		scatter.map((by, at) => by + much * (targets[at] as number)),
	);

const training = {
	...{
		parameters: 131_000,
		epochs: 4,
		bestEpoch: 3,
		cpuSecondsPerEpoch: 12.34,
		peakBytes: 2 ** 28,
	},
};
const entry = (id: string, label: string): ComparedModel => ({
	...{ id, label, group: id, model: id, settings: {}, options: {} },
});
const [one, two] = [entry("one", "One"), entry("two", "Two")];

const forecast = (method: RowName["method"], five: number): PatientRow => ({
	name: { who: "model", label: `a ${method}`, ...(method && { method }) },
	statistics: recalls(five),
});
const labelled = (setting: NonNullable<RowName["setting"]>, much: number): PatientRow => ({
	name: { who: "model", label: setting, setting },
	statistics: knowing(much),
});

/** "one" forecasts in two ways and is pre-trained; "two" in one way, and is not. */
const cell = (own: ComparedModel, seed: number, five: number): Cell => ({
	...{
		kind: "trajgpt-cell",
		version: 2,
		entry: own.id,
		seed,
		training,
		left: {},
		seconds: 1,
		cpuSeconds: 1,
	},
	evaluations: {
		forecast: evaluation(
			"forecast",
			own === one
				? [forecast("time-specific", five), forecast("auto-regressive", five - 0.05)]
				: [forecast("by-order", five)],
		),
		chf: evaluation("chf", [
			...(own === one ? [labelled("zero-shot prototype", 0.01), labelled("5-shot", 0.05)] : []),
			labelled("fine-tuned", own === one ? 0.1 : 0.2),
		]),
	},
});

const baselines: Cell = {
	...{ kind: "trajgpt-cell", version: 2, entry: null, seed: 0, training: null },
	...{ left: {}, seconds: 1, cpuSeconds: 1 },
	evaluations: {
		forecast: evaluation("forecast", [
			{ name: { who: "history", label: "own history" }, statistics: recalls(0.8) },
		]),
		chf: evaluation("chf", [
			{
				name: { who: "history", label: "counts of all codes", setting: "fine-tuned" },
				statistics: knowing(0.15),
			},
			{ name: { who: "history", label: "counts of some codes" }, statistics: knowing(0.02) },
		]),
	},
};

const ways: ComparedMethod[] = [
	{ entry: one, method: "time-specific", first: true, label: "One (time-specific)" },
	{
		...{ entry: one, method: "auto-regressive", first: false, label: "One (auto-regressive)" },
		against: one,
	},
	{ entry: two, method: "by-order", first: true, label: "Two", against: one },
];
const columns = columnsOf(["forecast", "chf"], [5, 10]);
const cells = [cell(one, 1, 0.5), cell(one, 2, 0.52), cell(two, 1, 0.6), baselines];
const table = comparisonOf(columns, ways, cells, []);
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
const close = (x: number) => expect.closeTo(x, 9);
const own = (of: Cell | undefined, task: string, row: number) =>
	of?.evaluations[task]?.rows[row]?.metrics;

const ofAllCodes = (all: ReturnType<typeof columnsOf>) =>
	all.filter(({ novelty }) => novelty === undefined);

describe("a comparison", () => {
	test("has the recall of known and of new codes in a part of its own", () => {
		const [all, apart] = partsOf(comparisonOf(columns, ways, cells, []));
		expect(all!.columns).toEqual(ofAllCodes(columns));
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
		expect(ofAllCodes(columns).map(({ group, title }) => `${group} ${title}`)).toEqual([
			...["Forecasting K = 5", "Forecasting K = 10", "CHF S = 0", "CHF 5", "CHF all"],
		]);
		const auprc = (of: Cell | undefined, row: number) => close(own(of, "chf", row)!.auprc!.value);
		const [shown] = partsOf(table);
		expect(shown!.lines.map((line) => line.values.map((measure) => measure?.value))).toEqual([
			[close(0.51), close(0.61), auprc(cells[0], 0), auprc(cells[0], 1), auprc(cells[0], 2)],
			[close(0.46), close(0.56), undefined, undefined, undefined],
			[close(0.6), close(0.7), undefined, undefined, auprc(cells[2], 0)],
			[close(0.8), close(0.9), auprc(baselines, 1), undefined, auprc(baselines, 0)],
		]);
		expect(table.lines.map(({ seeds }) => seeds)).toEqual([2, 2, 1, 0]);
	});

	test("has intervals over patients, for one seed equal to those of its evaluation", () => {
		const [first, , second, history] = table.lines;
		expect(second!.values[0]).toEqual(own(cells[2], "forecast", 0)!["recall@5"]);
		expect(second!.values[4]).toEqual(own(cells[2], "chf", 0)!.auprc);
		expect(history!.values[4]).toEqual(own(baselines, "chf", 0)!.auprc);
		const { mean } = bootstrap(patients, { mean: meanOf(recallsAbout(0.51)) }, drawing);
		const { low, high, seedDeviation } = first!.values[0]!;
		expect([low, high]).toEqual([close(mean.low), close(mean.high)]);
		// Two values 0.02 apart.
		expect(seedDeviation).toBeCloseTo(0.01 * Math.SQRT2, 9);
		expect(second!.values[0]).not.toHaveProperty("seedDeviation");
	});

	test("compares every line with the first, paired by patient", () => {
		expect(table.differences.map(({ line, than }) => `${line} − ${than}`)).toEqual([
			"One (auto-regressive) − One (time-specific)",
			"Two (by-order) − One (time-specific)",
			"own history − One (time-specific)",
		]);
		const [, two, history] = table.differences;
		// The scatter is the same in all: nothing is left of it.
		expect(two!.overPatients[0]).toEqual({
			value: close(0.09),
			low: close(0.09),
			high: close(0.09),
		});
		expect(history!.overPatients[1]!.value).toBeCloseTo(0.29, 9);
		expect(two!.overPatients[2]).toBeUndefined(); // "two" has no zero-shot
		expect(two!.overSeeds[0]).toBeUndefined(); // and one seed alone
		const auprc = two!.overPatients[4]!;
		expect(auprc.value).toBeCloseTo(
			own(cells[2], "chf", 0)!.auprc!.value - own(cells[0], "chf", 2)!.auprc!.value,
			9,
		);
		expect(auprc.high).toBeGreaterThan(auprc.low);
	});

	test("compares a forecast method with the same method of the other line, if it has it", () => {
		const three = entry("three", "Three");
		const stepping: Cell = {
			...cell(one, 1, 0),
			entry: three.id,
			evaluations: {
				forecast: evaluation("forecast", [forecast("auto-regressive", 0.44)]),
				chf: evaluation("chf", [labelled("fine-tuned", 0.3)]),
			},
		};
		const way = { entry: three, method: "auto-regressive", first: true } as const;
		const { differences } = comparisonOf(
			columns,
			[...ways, { ...way, label: "Three", against: one }],
			[cell(one, 1, 0.5), stepping],
			[],
		);
		const [, held] = differences;
		expect([held!.line, held!.than]).toEqual(["Three", "One (auto-regressive)"]);
		expect(held!.overPatients[0]!.value).toBeCloseTo(0.44 - 0.45, 9);
		// What is no forecast is the line's own, whatever its way.
		expect(held!.overPatients[4]!.value).toBeCloseTo(
			own(stepping, "chf", 0)!.auprc!.value - own(cells[0], "chf", 2)!.auprc!.value,
			9,
		);
		// Without forecasts there are no ways to name.
		const labels = comparisonOf(columnsOf(["chf"], []), ways, cells, []);
		expect(labels.lines.map(({ label }) => label)).toEqual(["One", "Two", "own history"]);
		expect(labels.differences.map(({ line, than }) => `${line} − ${than}`)).toEqual([
			...["Two − One", "own history − One"],
		]);
	});

	test("notes missing differences, missing tasks and training on other devices", () => {
		const [, , second, others] = cells as [Cell, Cell, Cell, Cell];
		const alone = comparisonOf(
			columns,
			ways,
			[{ ...second, left: { next: "no labels" } }, others],
			[],
		);
		expect(alone.differences).toEqual([]);
		expect(alone.notes).toContain("no differences from One, which has no result: Two, own history");
		expect(alone.notes).toContain("next not measured of Two: no labels");
		expect(table.notes.join()).not.toMatch(/no differences|not measured|trained on/);

		const elsewhere = cellSchema.parse({
			...second,
			training: { ...training, provider: "xla", seconds: 77.4 },
		});
		const shown = comparisonOf(columns, ways, [cells[0] as Cell, elsewhere], []);
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

	test("compares seed by seed if both lines have several seeds", () => {
		const paired = comparisonOf(columns, ways, [...cells, cell(two, 2, 0.622)], []);
		const [, { overSeeds, seeds }] = paired.differences as [unknown, Comparison["differences"][0]];
		expect(seeds).toBe(2);
		expect(overSeeds[0]!.value).toBeCloseTo(0.101, 9);
		expect(overSeeds[0]!.high - overSeeds[0]!.value).toBeCloseTo(12.7062 * 0.001, 6);
		expect(markdown(paired)).toContain(
			"| Two (by-order) − One (time-specific) (2 seeds) | +10.1 [+8.8, +11.4] |",
		);
	});

	test("rejects lines measured on different data", () => {
		const other = structuredClone(cells[2]) as Cell;
		other.evaluations.forecast!.patients = 41;
		expect(() => comparisonOf(columns, ways, [cells[0] as Cell, other], [])).toThrow(
			/forecast was measured on different data: 40 patients .* and 41 patients/,
		);
	});

	test("marks the best and second-best trained line, never a baseline", () => {
		expect(bestOfColumns(table)[0]).toEqual({ best: 2, second: 0 });
	});
});

describe("rendering a comparison", () => {
	test("gives the same numbers in Markdown, LaTeX, CSV and the terminal, and no patient data", () => {
		const { low, high } = table.lines[2]!.values[0]!;
		const [from, to] = [(100 * low).toFixed(1), (100 * high).toFixed(1)];
		const half = (50 * (high - low)).toFixed(1);
		expect(markdown(table)).toContain(`| Two | **60.0** [${from}, ${to}] | **70.0** [`);
		expect(markdown(table)).toMatch(
			/\| One \(time-specific\) \| <u>51.0<\/u> \[[\d., ]+\] \(sd 1.4\) \|/,
		);
		expect(markdown(table)).toContain(
			"| Two (by-order) − One (time-specific) | +9.0 [+9.0, +9.0] | +9.0 [",
		);
		expect(latex(table)).toContain(`Two & \\textbf{60.0}\\,{\\scriptsize $\\pm$ ${half}} & `);
		expect(latex(table)).toContain("\\begin{tabular}{l|cc|ccc|r}");
		const lines = csv(table).split("\n");
		const { value } = table.lines[2]!.values[0]!;
		expect(lines).toContain(`Two,two,forecast,,recall@5,${value},${low},${high},1,,,patients`);
		expect(lines).toContain("Two,two,training,,parameters,131000,,,1,,,");
		expect(csv(table)).toMatch(
			/own history,,forecast,,recall@5,0.29\d*,[\d.]+,[\d.]+,,,One \(time-specific\),patients/,
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

describe("task onset, measured on the draws of each evaluation", () => {
	const labels = { model: "TrajGPT", history: "regression per code" };
	const onset = (who: keyof typeof labels, auroc: number): Evaluation => {
		const drawn = Float64Array.from({ length: drawing.draws }, (_, draw) => auroc + draw / 1e4);
		const measured = { value: auroc, low: auroc, high: auroc };
		return {
			...evaluation("onset", []),
			rows: [
				{
					...{ who, label: labels[who], metrics: { "auroc 1y": measured } },
					byDraw: { "auroc 1y": toText(drawn) },
				},
			],
		};
	};
	const cellOf = (own: ComparedModel | null, measured: Evaluation): Cell => ({
		...cell(one, 1, 0.5),
		entry: own?.id ?? null,
		evaluations: { onset: measured },
	});
	const ways: ComparedMethod[] = [
		{ entry: one, method: "time-specific", first: true, label: "One" },
		{ entry: two, method: "time-specific", first: true, label: "Two", against: one },
	];
	const cells = [
		cellOf(one, onset("model", 0.7)),
		cellOf(two, onset("model", 0.68)),
		cellOf(null, onset("history", 0.65)),
	];
	const comparison = comparisonOf(columnsOf(["onset"], [5]), ways, cells, []);

	test("has its own baselines, and differences on the same draws", () => {
		expect(comparison.columns.map(({ group, title }) => `${group}: ${title}`)).toEqual([
			...["Onset within 1 y: AUROC", "Onset within 1 y: AP"],
			...["Onset within 5 y: AUROC", "Onset within 5 y: AP"],
		]);
		expect(comparison.lines.map(({ label, values }) => [label, values[0]?.value])).toEqual([
			...[
				["One", 0.7],
				["Two", 0.68],
			],
			...[["regression per code", 0.65]],
		]);
		const [difference] = comparison.differences;
		expect(difference).toMatchObject({ line: "Two", than: "One" });
		const { value, low, high } = difference!.overPatients[0]!;
		for (const one of [value, low, high]) expect(one).toBeCloseTo(-0.02, 9);
	});

	test("a row without draws is refused, and its cell measured again", () => {
		expect(keepsDraws(cells[1]!)).toBe(true);
		const [{ byDraw: _, ...row }] = cells[1]!.evaluations.onset!.rows as [EvaluationRow];
		const without = {
			...cells[1]!,
			evaluations: { onset: { ...onset("model", 0.68), rows: [row] } },
		};
		expect(keepsDraws(without)).toBe(false);
		expect(() => comparisonOf(columnsOf(["onset"], [5]), ways, [cells[0]!, without], [])).toThrow(
			"has no draws of auroc 1y; evaluate it again",
		);
	});
});

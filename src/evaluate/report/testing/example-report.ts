import type { Manifest } from "../../../data/cohort/index.js";
import type { Evaluation, EvaluationRow } from "../../evaluation.js";
import type { DrawnFigure, Report } from "../index.js";

/** A value with an interval of its own width round it. */
export const around = (value: number, half = 0.01) => ({
	value,
	low: value - half,
	high: value + half,
});

const base: Omit<Evaluation, "task" | "rows"> = {
	kind: "trajgpt-evaluation",
	version: 3,
	split: "test",
	patients: 40,
	events: 900,
	seed: 0,
	draws: 200,
	notes: [],
	made: { versions: { trajgpt: "0.1.0" }, dataset: "abc", step: 10, seconds: 2 },
};

const row = (
	who: EvaluationRow["who"],
	label: string,
	metrics: EvaluationRow["metrics"],
	more: Pick<EvaluationRow, "method" | "setting"> = {},
): EvaluationRow => ({ who, label, metrics, ...more });

/** The difference of two rows by a measure. */
const difference = (row: string, than: string, metric: string, value: number, half?: number) => ({
	row,
	than,
	metrics: { [metric]: around(value, half) },
});

export interface ForecastNumbers {
	readonly model: number;
	readonly history: number;
	readonly steps: number;
	readonly oracle?: number;
}

/** Recall@10 of each; differences are those of the values, ± 1 point. */
export function exampleForecast({ model, history, steps, oracle }: ForecastNumbers): Evaluation {
	const metric = "recall@10";
	const recall = (value: number) => ({ [metric]: around(value) });
	const rows = [
		row("model", "time-specific", recall(model), { method: "time-specific" }),
		row("model", "step by step", recall(steps), { method: "auto-regressive" }),
		row("history", "own history", recall(history)),
		...(oracle ? [row("oracle", "reference model", recall(oracle))] : []),
	];
	return {
		...base,
		task: "forecast",
		notes: ["50 <events> are known"],
		rows,
		differences: rows
			.slice(1)
			.map(({ label, metrics }) =>
				difference("time-specific", label, metric, model - metrics[metric].value),
			),
	};
}

export const exampleNext = (model: number, history: number, off: number): Evaluation => ({
	...base,
	task: "next",
	rows: [
		row("model", "TrajGPT", {
			nats: around(model),
			accuracy: around(0.3),
			topCalibrationError: around(off, 0.001),
		}),
		row("history", "own history", { nats: around(history), accuracy: around(0.2) }),
	],
	differences: [difference("TrajGPT", "own history", "nats", model - history)],
});

/** AUPRC of each setting, ± 0.05. */
export function exampleInsulin(values: {
	readonly zero: number;
	readonly few: number;
	readonly tuned?: number;
	readonly history?: number;
}): Evaluation {
	const { zero, few, tuned, history } = values;
	const setting = (name: NonNullable<EvaluationRow["setting"]>, value: number) =>
		row("model", name, { auprc: around(value, 0.05), auroc: around(0.7) }, { setting: name });
	const apart = (one: string, other: string, value: number) =>
		difference(one, other, "auprc", value, 0.05);
	return {
		...base,
		task: "insulin",
		events: 0,
		rows: [
			setting("zero-shot risk", zero),
			setting("5-shot", few),
			...(tuned === undefined ? [] : [setting("fine-tuned", tuned)]),
			...(history === undefined
				? []
				: [
						row(
							"history",
							"own history",
							{ auprc: around(history, 0.05) },
							{ setting: "fine-tuned" },
						),
					]),
		],
		differences: [
			apart("zero-shot risk", "5-shot", zero - few),
			apart("5-shot", "fine-tuned", few - (tuned ?? 0)),
			...(history === undefined
				? []
				: [apart("fine-tuned", "own history", (tuned ?? 0) - history)]),
		],
	};
}

/** AUROC within five years of each row; the model is ahead of the regression by their distance, ± 0.01. */
export function exampleOnset({
	model,
	regression,
	oracle,
}: {
	readonly model: number;
	readonly regression: number;
	readonly oracle?: number;
}): Evaluation {
	const scores = (auroc: number) =>
		Object.fromEntries(
			[1, 5].flatMap((years) => [
				[`auroc ${years}y`, around(auroc)],
				[`averagePrecision ${years}y`, around(auroc / 5)],
				[`observedToExpected ${years}y`, around(1.2, 0.1)],
				[`weightedCalibrationError ${years}y`, around(0.004, 0.001)],
			]),
		);
	const rows = [
		row("model", "TrajGPT", scores(model)),
		row("global", "age and sex", scores(0.6)),
		row("history", "regression per code", scores(regression)),
		...(oracle ? [row("oracle", "reference model", scores(oracle))] : []),
	];
	const score = { auroc: 0.64, averagePrecision: 0.12, observedToExpected: 1.08 };
	return {
		...base,
		task: "onset",
		notes: ["index: one random day"],
		rows,
		differences: [difference("TrajGPT", "regression per code", "auroc 5y", model - regression)],
		onset: {
			index: "random",
			lookBackDays: 365,
			horizons: [1, 5].map((years) => ({ years, codes: 32, calibration: [], decisions: [] })),
			subgroups: ["female", "male"].map((name) => ({
				name,
				years: 5,
				patients: 20,
				codes: 3,
				rows: rows.map(({ label }) => ({ label, ...score })),
			})),
			codes: [],
		},
	};
}

const drawn = (id: string): DrawnFigure => ({
	id: `figure-${id}`,
	title: id,
	svg: `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="10" viewBox="0 0 960 10"><title id="${id}-title">${id}</title></svg>\n`,
	caption: `about ${id}`,
});

const sizes = { train: 320, valid: 40, test: 40 };
const bySplit = <Value>(of: (patients: number) => Value) => ({
	train: of(sizes.train),
	valid: of(sizes.valid),
	test: of(sizes.test),
});
const splitSummary = (patients: number) => ({
	patients,
	events: 20 * patients,
	withBirth: patients,
	female: patients / 2,
	male: patients / 2,
	deaths: 0,
	periods: patients,
	totalObservedDays: 3650 * patients,
	observedDays: null,
	records: null,
	spanDays: null,
	gapDays: null,
	ageDays: null,
});

/** A report with made-up numbers; `more` goes over it. */
export const exampleReport = (more: Partial<Report> = {}): Report => ({
	name: "made up",
	model: { name: "TrajGPT", cite: "Somebody 2025", parameters: 12_345 },
	simulated: true,
	manifest: {
		counts: {
			patients: 400,
			events: 8000,
			tokens: 30,
			splits: bySplit((patients) => ({ patients, events: 20 * patients })),
		},
	} as Manifest,
	summary: {
		splits: bySplit(splitSummary),
		all: splitSummary(400),
		histograms: { records: null, span: null, gap: null, age: null },
		codes: [],
		categories: [],
		labels: [
			{
				task: "insulin",
				rule: "insulin within 183 days",
				labels: 400,
				positive: 40,
				excluded: {},
				patients: 400,
				splits: bySplit((labels) => ({ labels, positive: labels / 10 })),
			},
		],
	},
	split: "test",
	evaluations: [
		exampleOnset({ model: 0.65, regression: 0.63, oracle: 0.7 }),
		exampleForecast({ model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 }),
		exampleNext(3, 3.4, 0.011),
		exampleInsulin({ zero: 0.2, few: 0.3, tuned: 0.5 }),
	],
	missing: [],
	warnings: [],
	onsetPair: {
		rule: "At two percentiles.",
		horizon: "5 years",
		people: [
			{
				id: "p000008",
				sex: "female",
				target: "Heart failure",
				age: 61.8,
				risk: 0.08,
				peers: 0.022,
				truth: 0.089,
			},
			{
				id: "p000009",
				sex: null,
				target: "Heart failure",
				age: undefined,
				risk: 0.03,
				peers: undefined,
				truth: undefined,
			},
		],
		figure: { ...drawn("stories"), narrow: drawn("stories-narrow").svg },
	},
	figures: {
		onsetCalibration: drawn("onset-calibration"),
		byFifth: drawn("by-fifth"),
		decisions: drawn("decisions"),
		codeScores: drawn("code-scores"),
		dataset: drawn("dataset"),
		recall: drawn("recall"),
		calibration: drawn("calibration"),
		tokens: drawn("tokens"),
		patients: drawn("patients"),
		memory: drawn("memory"),
		learning: drawn("learning"),
	},
	stories: {
		rule: "Drawn with seed 0.",
		patients: [
			{
				id: "p000007",
				target: "Diabetes mellitus",
				trainedOn: false,
				later: 40,
				foreseen: 30,
				lookUp: 50,
				recorded: "age 61.8",
				risk: { first: 0.01, last: 0.04, horizon: "5 years" },
				trajectory: drawn("trajectory"),
				riskCurve: drawn("risk"),
			},
		],
	},
	agreement: {
		codes: { neighbours: 5, share: 0.2, byChance: 0.06 },
		patients: { neighbours: 10, share: 0.99, byChance: 0.5 },
	},
	memory: {
		shortest: { layer: 1, head: 1, halfLife: 60 },
		longest: { layer: 2, head: 4, halfLife: 3650 },
		unit: "days",
	},
	provenance: [{ title: "Data", facts: [["content hash", "abc"]] }],
	...more,
});

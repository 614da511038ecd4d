import type { Manifest } from "../../../data/cohort/index.js";
import type { Evaluation } from "../../evaluation.js";
import type { DrawnFigure, Report } from "../index.js";

/** A value with an interval of its own width round it. */
const around = (value: number, half = 0.01) => ({
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

export interface ForecastNumbers {
	readonly model: number;
	readonly history: number;
	readonly steps: number;
	readonly oracle?: number;
}

/** Recall@10 of each; differences are those of the values, ± 1 point. */
export function exampleForecast({ model, history, steps, oracle }: ForecastNumbers): Evaluation {
	const row = (who: "model" | "history" | "oracle", label: string, value: number) => ({
		who,
		label,
		metrics: { "recall@10": around(value) },
	});
	const than = {
		"step by step": steps,
		"own history": history,
		...(oracle && { "reference model": oracle }),
	};
	return {
		...base,
		notes: ["50 <events> are known"],
		task: "forecast",
		rows: [
			{ ...row("model", "time-specific", model), method: "time-specific" },
			{ ...row("model", "step by step", steps), method: "auto-regressive" },
			row("history", "own history", history),
			...(oracle ? [row("oracle", "reference model", oracle)] : []),
		],
		differences: Object.entries(than).map(([than, value]) => ({
			row: "time-specific",
			than,
			metrics: { "recall@10": around(model - value) },
		})),
	};
}

export function exampleNext(model: number, history: number, off: number): Evaluation {
	return {
		...base,
		task: "next",
		rows: [
			{
				who: "model",
				label: "TrajGPT",
				metrics: {
					nats: around(model),
					accuracy: around(0.3),
					topCalibrationError: around(off, 0.001),
				},
			},
			{
				who: "history",
				label: "own history",
				metrics: { nats: around(history), accuracy: around(0.2) },
			},
		],
		differences: [
			{ row: "TrajGPT", than: "own history", metrics: { nats: around(model - history) } },
		],
	};
}

/** AUPRC of each way to ask, ± 0.05. */
export function exampleInsulin(values: {
	readonly zero: number;
	readonly few: number;
	readonly tuned?: number;
	readonly history?: number;
}): Evaluation {
	const row = (setting: "zero-shot risk" | "5-shot" | "fine-tuned", value: number) => ({
		who: "model" as const,
		label: setting,
		setting,
		metrics: { auprc: around(value, 0.05), auroc: around(0.7) },
	});
	const difference = (row: string, than: string, value: number) => ({
		row,
		than,
		metrics: { auprc: around(value, 0.05) },
	});
	return {
		...base,
		task: "insulin",
		events: 0,
		rows: [
			row("zero-shot risk", values.zero),
			row("5-shot", values.few),
			...(values.tuned === undefined ? [] : [row("fine-tuned", values.tuned)]),
			...(values.history === undefined
				? []
				: [
						{
							who: "history" as const,
							label: "own history",
							setting: "fine-tuned" as const,
							metrics: { auprc: around(values.history, 0.05) },
						},
					]),
		],
		differences: [
			difference("zero-shot risk", "5-shot", values.zero - values.few),
			difference("5-shot", "fine-tuned", values.few - (values.tuned ?? 0)),
			...(values.history === undefined
				? []
				: [difference("fine-tuned", "own history", (values.tuned ?? 0) - values.history)]),
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
	const row = (who: "model" | "global" | "history" | "oracle", label: string, auroc: number) => ({
		who,
		label,
		metrics: Object.fromEntries(
			[1, 5].flatMap((years) => [
				[`auroc ${years}y`, around(auroc)],
				[`averagePrecision ${years}y`, around(auroc / 5)],
				[`observedToExpected ${years}y`, around(1.2, 0.1)],
				[`weightedCalibrationError ${years}y`, around(0.004, 0.001)],
			]),
		),
	});
	const rows = [
		row("model", "TrajGPT", model),
		row("global", "age and sex", 0.6),
		row("history", "regression per code", regression),
		...(oracle ? [row("oracle", "reference model", oracle)] : []),
	];
	const score = { auroc: 0.64, averagePrecision: 0.12, observedToExpected: 1.08 };
	return {
		...base,
		task: "onset",
		notes: ["index: one random day"],
		rows,
		differences: [
			{
				...{ row: "TrajGPT", than: "regression per code" },
				metrics: { "auroc 5y": around(model - regression) },
			},
		],
		onset: {
			...{ index: "random", lookBackDays: 365 },
			horizons: [1, 5].map((years) => ({ years, codes: 32, calibration: [], decisions: [] })),
			subgroups: ["female", "male"].map((name) => ({
				...{ name, years: 5, patients: 20, codes: 3 },
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
const splitCounts = (patients: number) => ({ patients, events: 20 * patients });

/** A report with made-up numbers; `with` goes over it. */
export function exampleReport(given: Partial<Report> = {}): Report {
	const splits = { train: splitSummary(320), valid: splitSummary(40), test: splitSummary(40) };
	return {
		name: "made up",
		model: { name: "TrajGPT", cite: "Somebody 2025", parameters: 12_345 },
		simulated: true,
		manifest: {
			counts: {
				patients: 400,
				events: 8000,
				tokens: 30,
				splits: { train: splitCounts(320), valid: splitCounts(40), test: splitCounts(40) },
			},
		} as Manifest,
		summary: {
			splits,
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
					splits: {
						train: { labels: 320, positive: 32 },
						valid: { labels: 40, positive: 4 },
						test: { labels: 40, positive: 4 },
					},
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
					...{ id: "p000008", sex: "female", target: "Heart failure", age: 61.8 },
					...{ risk: 0.08, peers: 0.022, truth: 0.089 },
				},
				{
					...{ id: "p000009", sex: null, target: "Heart failure", age: undefined },
					...{ risk: 0.03, peers: undefined, truth: undefined },
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
		...given,
	};
}

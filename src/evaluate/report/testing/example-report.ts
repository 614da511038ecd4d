import { yearDays } from "../../../base/time.js";
import type { Manifest } from "../../../data/cohort/index.js";
import type { OnsetStory } from "../../charts/onset/stories-figure.js";
import type { Evaluation, EvaluationRow, OnsetDetails } from "../../evaluation.js";
import type { Report } from "../index.js";

/** A value with an interval of its own width round it. */
export const around = (value: number, half = 0.01) => ({
	value,
	low: value - half,
	high: value + half,
});

const base: Omit<Evaluation, "task" | "rows"> = {
	kind: "trajgpt-evaluation",
	version: 4,
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
	metrics: Readonly<Record<string, number>>,
	{ half = 0.01, ...more }: Pick<EvaluationRow, "method" | "setting"> & { half?: number } = {},
): EvaluationRow => ({
	who,
	label,
	metrics: Object.fromEntries(
		Object.entries(metrics).map(([name, value]) => [name, around(value, half)]),
	),
	...more,
});

/** An evaluation with the differences of pairs of its rows by a measure. */
function evaluationOf(
	task: string,
	rows: readonly EvaluationRow[],
	metric: string,
	pairs: readonly (readonly [row: string, than: string])[],
	half?: number,
): Evaluation {
	const scoreOf = (label: string) =>
		rows.find((one) => one.label === label)?.metrics[metric]?.value;
	const differences = pairs.flatMap(([row, than]) => {
		const [a, b] = [scoreOf(row), scoreOf(than)];
		if (a === undefined || b === undefined) return [];
		return [{ row, than, metrics: { [metric]: around(a - b, half) } }];
	});
	return { ...base, task, rows: [...rows], differences };
}

/** Recall@10 of each; differences are those of the values, ± 1 point. */
export function exampleForecast({
	model,
	history,
	steps,
	oracle,
}: Readonly<Record<"model" | "history" | "steps", number>> & { oracle?: number }): Evaluation {
	const recall = (value: number) => ({ "recall@10": value });
	const rows = [
		row("model", "time-specific", recall(model), { method: "time-specific" }),
		row("model", "step by step", recall(steps), { method: "auto-regressive" }),
		row("history", "own history", recall(history)),
		...(oracle ? [row("oracle", "reference model", recall(oracle))] : []),
	];
	const pairs = rows.slice(1).map(({ label }) => ["time-specific", label] as const);
	const evaluation = evaluationOf("forecast", rows, "recall@10", pairs);
	return { ...evaluation, notes: ["50 <events> are known"] };
}

export const exampleNext = (model: number, history: number, off: number): Evaluation => {
	const rows = [
		row("model", "TrajGPT", { nats: model, accuracy: 0.3 }),
		row("history", "own history", { nats: history, accuracy: 0.2 }),
	];
	rows[0]!.metrics.topCalibrationError = around(off, 0.001);
	return {
		...evaluationOf("next", rows, "nats", [["TrajGPT", "own history"]]),
		topCalibration: [{ predicted: 0.3, observed: 0.3 + off, low: 0.2, high: 0.4, count: 900 }],
	};
};

/** AUPRC of each setting, ± 0.05. */
export function exampleInsulin({
	zero,
	few,
	tuned,
	history,
}: Readonly<Record<"zero" | "few", number>> & { tuned?: number; history?: number }): Evaluation {
	const setting = (name: NonNullable<EvaluationRow["setting"]>, auprc: number | undefined) =>
		auprc === undefined ? [] : [row("model", name, { auprc }, { setting: name, half: 0.05 })];
	const rows = [
		...setting("zero-shot risk", zero),
		...setting("5-shot", few),
		...setting("fine-tuned", tuned),
	];
	for (const { metrics } of rows) metrics.auroc = around(0.7);
	if (history !== undefined)
		rows.push(
			row("history", "own history", { auprc: history }, { setting: "fine-tuned", half: 0.05 }),
		);
	const pairs = rows.slice(1).map(({ label }, at) => [rows[at]!.label, label] as const);
	return { ...evaluationOf("insulin", rows, "auprc", pairs, 0.05), events: 0 };
}

const fifth = (predicted: number, end: number) => ({
	count: 20,
	predicted,
	observed: [0, end / 2, end],
	low: end / 2,
	high: 2 * end,
});

const disease = {
	code: "428",
	system: "PheCode",
	name: "Heart failure",
	years: 5,
	onsets: 26,
	atRisk: 100,
};

export const exampleCondition: NonNullable<OnsetDetails["conditions"]>[number] = {
	...disease,
	days: [0, 913, 1826],
	fifths: [0.001, 0.004, 0.01, 0.02, 0.05].map((risk) => fifth(risk, 1.5 * risk)),
	decisions: [0.01, 0.05].map((threshold) => ({
		threshold,
		all: 0.02 - threshold,
		rows: [
			{ label: "TrajGPT", netBenefit: 0.015 - threshold / 5 },
			{ label: "age and sex", netBenefit: 0.01 - threshold / 5 },
		],
	})),
};

/** AUROC within five years of each row, in a made-up relation to the other measures; the model is ahead of the regression by their distance, ± 0.01. */
export function exampleOnset({
	model,
	regression,
	oracle,
}: Readonly<Record<"model" | "regression", number>> & { oracle?: number }): Evaluation {
	const scores = (who: EvaluationRow["who"], label: string, auroc: number) => {
		const one = row(who, label, {});
		for (const years of [1, 5])
			Object.assign(one.metrics, {
				[`logLoss ${years}y`]: around(5 - auroc),
				[`auroc ${years}y`]: around(auroc),
				[`averagePrecision ${years}y`]: around(auroc / 5),
				[`logLoss ${years}y all`]: around(6 - auroc),
				[`auroc ${years}y all`]: around(auroc),
				[`averagePrecision ${years}y all`]: around(auroc / 10),
				[`observedToExpected ${years}y`]: around(1.2, 0.1),
				[`weightedCalibrationError ${years}y`]: around(0.004, 0.001),
			});
		return one;
	};
	const rows = [
		scores("model", "TrajGPT", model),
		scores("global", "age and sex", 0.6),
		scores("history", "lasso regression", regression),
		...(oracle ? [scores("oracle", "reference model", oracle)] : []),
	];
	const unknown = {
		averagePrecision: null,
		observedToExpected: null,
		calibrationSlope: null,
		calibrationIntercept: null,
	};
	const [first] = rows;
	if (oracle && first)
		for (const years of [1, 5]) {
			first.metrics[`logLossShare ${years}y`] = around(0.3, 0.1);
			first.metrics[`aurocShare ${years}y`] = around((model - 0.6) / (oracle - 0.6), 0.1);
		}
	return {
		...evaluationOf("onset", rows, "auroc 5y", [["TrajGPT", "lasso regression"]]),
		notes: ["index: one random day"],
		onset: {
			index: "random",
			lookBackDays: 365,
			horizons: [1, 5].map((years) => ({
				years,
				codes: 32,
				allCodes: 210,
				calibration: [],
				decisions: [],
				recalibration: rows.map(({ label }) => ({
					label,
					slope: { median: 0.93, lower: 0.8, upper: 1.1, codes: 32 },
					intercept: { median: 0.05, lower: -0.1, upper: 0.2, codes: 32 },
				})),
			})),
			subgroups: ["female", "male"].map((name) => ({
				name,
				years: 5,
				patients: 20,
				codes: 3,
				rows: rows.map(({ label }) => ({
					label,
					logLoss: 3.4,
					auroc: 0.64,
					averagePrecision: 0.12,
					observedToExpected: 1.08,
				})),
			})),
			conditions: [exampleCondition],
			codes: [
				{
					...disease,
					expected: 24,
					rows: rows.map(({ label }) => ({ label, auroc: around(0.64), ...unknown })),
				},
			],
		},
	};
}

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
		target: "Heart failure",
		horizonDays: 5 * yearDays,
		people: [
			before("p000008", 0, "female", {
				time: 60.8 * yearDays,
				risk: 0.08,
				peers: 0.022,
				truth: 0.089,
			}),
			before("p000009", null, null, { time: 60.8 * yearDays, risk: 0.03 }),
		],
	},
	stories: { rule: "Drawn with seed 0.", patients: [exampleStory()] },
	codes: {
		map: { tokens: [], decays: [] },
		agreement: { neighbours: 5, share: 0.2, byChance: 0.06 },
	},
	patientMap: {
		map: { patients: [], task: "no task" },
		of: 0,
		agreement: { neighbours: 10, share: 0.99, byChance: 0.5 },
	},
	memory: {
		categories: ["heart"],
		events: [1],
		unit: "days",
		patients: "the",
		heads: [
			{ layer: 1, head: 1, halfLives: [60] },
			{ layer: 2, head: 4, halfLives: [3650] },
		],
	},
	log: [],
	provenance: [{ title: "Data", facts: [["content hash", "abc"]] }],
	...more,
});

const before = (
	patient: string,
	birth: number | null,
	sex: OnsetStory["sex"],
	judged: OnsetStory["judged"],
): OnsetStory => ({
	patient,
	sex,
	judged,
	title: "Warned",
	clock: { axis: "dates", birth },
	times: [judged.time],
	risk: [judged.risk],
	records: [],
	diagnosis: 61.8 * yearDays,
	death: null,
});

/** A patient with 50 records shown, 30 of 40 later ones predicted, and a risk that goes from one value to another. */
export function exampleStory(
	[first, last]: readonly [number, number] = [0.01, 0.04],
): Report["stories"]["patients"][number] {
	const clock = { axis: "dates", birth: 0 } as const;
	const event = (time: number) => ({
		time,
		code: "250",
		name: "Diabetes mellitus",
		category: null,
	});
	const events = Array.from({ length: 90 }, (_, at) => event(20_000 + at));
	const name = "Diabetes mellitus";
	return {
		trainedOn: false,
		target: name,
		trajectory: {
			patient: "p000007",
			clock,
			lookUp: events.slice(0, 50),
			forecast: events.slice(50).map((one, at) => ({ ...one, matched: at < 30 })),
			targets: [],
			top: 10,
			death: null,
		},
		risk: {
			patient: "p000007",
			clock,
			horizonDays: 5 * yearDays,
			events: [],
			now: 22_000,
			death: null,
			curves: [
				{
					code: "250",
					name,
					times: Float64Array.of(20_000, 22_000),
					risk: Float64Array.of(first, last),
					growth: Float64Array.of(0, last - first),
					places: ["inside", "inside"],
					recorded: new Uint8Array(2),
					surges: [],
					recordedAt: 61.8 * yearDays,
				},
			],
		},
	};
}

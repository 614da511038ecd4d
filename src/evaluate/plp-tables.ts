import { probabilityOf } from "../base/log-odds.js";
import { fitLogistic, minimise } from "../model/train/index.js";
import { type BootstrapOptions, bootstrap } from "./bootstrap.js";
import { averagePrecision, brier, ranking } from "./metrics.js";
import { quantile } from "./order-statistics.js";
import type { LabelPrediction } from "./predictions.js";

/** The evaluation types of PatientLevelPrediction; `Validation` is another dataset than the model's own. */
export type EvaluationType = "Train" | "CV" | "Test" | "Validation";

/** A table of results, in snake_case as PatientLevelPrediction stores them. */
export interface ResultTable {
	readonly header: readonly string[];
	readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Steps by which patients were left out. */
export interface AttritionStep {
	readonly description: string;
	readonly patients: number;
	readonly outcomes: number;
}

export interface PlpOptions extends BootstrapOptions {
	readonly evaluation: EvaluationType;
	readonly attrition: readonly AttritionStep[];
}

type Known = LabelPrediction & { readonly label: boolean };

/** There is one performance, one model and one cohort per evaluation: the ids of all are 1. */
const id = 1;
/** The id of a database that is not the model's own. */
const otherDatabase = 2;

/** The evaluation tables of PatientLevelPrediction. */
export const plpTableNames = [
	...(["performances", "attrition", "evaluation_statistics", "calibration_summary"] as const),
	...(["threshold_summary", "demographic_summary"] as const),
];

/** The tables of predictions whose label is known. */
export function plpTables(
	predictions: readonly LabelPrediction[],
	options: PlpOptions,
): Readonly<Record<(typeof plpTableNames)[number], ResultTable>> {
	const known = predictions.filter((prediction): prediction is Known => prediction.label !== null);
	return {
		performances: performances(options),
		attrition: {
			header: [
				...["performance_id", "outcome_id", "description", "target_count", "unique_people"],
				"outcomes",
			],
			rows: options.attrition.map(({ description, patients, outcomes }) => [
				...[id, id, description, patients, patients, outcomes],
			]),
		},
		evaluation_statistics: statistics(known, options),
		calibration_summary: calibration(known, options),
		threshold_summary: thresholds(known, options),
		demographic_summary: demographics(known, options),
	};
}

const performances = ({ evaluation }: PlpOptions): ResultTable => {
	const isOther = evaluation === "Validation";
	return {
		header: [
			...["performance_id", "model_design_id", "development_database_id"],
			...["validation_database_id", "target_id", "outcome_id", "tar_id", "plp_data_setting_id"],
			...["population_setting_id", "model_development"],
		],
		rows: [[id, id, id, isOther ? otherDatabase : id, id, id, id, id, id, isOther ? 0 : 1]],
	};
};

const mean = (values: readonly number[]) =>
	values.reduce((sum, value) => sum + value, 0) / values.length;

const certain = 1e-15;
const logit = (p: number) => {
	const inside = Math.min(1 - certain, Math.max(certain, p));
	return Math.log(inside / (1 - inside));
};

function statistics(known: readonly Known[], options: PlpOptions): ResultTable {
	const labels = known.map(({ label }) => Number(label));
	const values = known.map(({ probability }) => probability);
	const outcomes = labels.reduce((sum, label) => sum + label, 0);
	const metrics: [string, number][] = [
		["populationSize", known.length],
		["outcomeCount", outcomes],
	];
	if (outcomes > 0 && outcomes < known.length) {
		const { area } = bootstrap(known.length, { area: ranking(labels, values).auroc }, options);
		const brierScore = brier(labels, values);
		const risk = mean(values);
		const odds = values.map(logit);
		const weak = fitLogistic(odds, labels, 1, { precision: 0, centre: [1] });
		metrics.push(
			["AUROC", area.value],
			["95% lower AUROC", area.low],
			["95% upper AUROC", area.high],
			["AUPRC", averagePrecision(labels, values)],
			["brier score", brierScore],
			["brier score scaled", 1 - brierScore / (risk * (1 - risk))],
			["calibrationInLarge mean prediction", risk],
			["calibrationInLarge observed risk", outcomes / known.length],
			["calibrationInLarge intercept", interceptOf(odds, labels)],
			["weak calibration intercept", weak.bias],
			["weak calibration gradient", weak.weights[0]],
		);
	}
	return {
		header: ["performance_id", "evaluation", "metric", "value"],
		rows: metrics.map(([metric, value]) => [id, options.evaluation, metric, value]),
	};
}

/** The b that makes log-odds + b fit the labels best. */
function interceptOf(odds: readonly number[], labels: readonly number[]): number {
	const [b] = minimise(Float64Array.of(0), (point, gradient) => {
		gradient.fill(0);
		return odds.reduce((loss, odd, index) => {
			const z = odd + point[0];
			gradient[0] = gradient[0] + probabilityOf(z) - labels[index];
			return loss + Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - labels[index] * z;
		}, 0);
	});
	return b;
}

/** Mean, deviation and quantiles of predictions. */
function spread(predictions: readonly Known[], parts: readonly number[]): (number | null)[] {
	const sorted = Float64Array.from(predictions, ({ probability }) => probability).sort();
	const average = mean([...sorted]);
	const squares = sorted.reduce((sum, p) => sum + (p - average) ** 2, 0);
	return [
		average,
		sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1)) : null,
		...parts.map((part) => quantile(sorted, part)),
	];
}

const outcomesIn = (predictions: readonly Known[]) =>
	predictions.filter(({ label }) => label).length;
const spreadHeader = (middle: string) => [
	...["average_predicted_probability", "st_dev_predicted_probability", "min_predicted_probability"],
	...[
		"p_25_predicted_probability",
		`${middle}_predicted_probability`,
		"p_75_predicted_probability",
	],
	"max_predicted_probability",
];
const quartiles = [0, 0.25, 0.5, 0.75, 1];

/** Ten strata with about equal numbers of predictions. */
function calibration(known: readonly Known[], { evaluation }: PlpOptions): ResultTable {
	const sorted = Float64Array.from(known, ({ probability }) => probability).sort();
	const edges = [...new Set(Array.from({ length: 9 }, (_, i) => quantile(sorted, (i + 1) / 10)))];
	const strata = Array.from({ length: edges.length + 1 }, () => [] as Known[]);
	for (const prediction of known) {
		const above = edges.findIndex((edge) => prediction.probability <= edge);
		strata[above < 0 ? edges.length : above]?.push(prediction);
	}
	return {
		header: [
			...["performance_id", "evaluation", "prediction_threshold", "person_count_at_risk"],
			...["person_count_with_outcome", ...spreadHeader("median"), "observed_incidence"],
		],
		rows: strata.flatMap((stratum, index) =>
			stratum.length === 0
				? []
				: [
						[
							...[id, evaluation, edges[index - 1] ?? 0, stratum.length, outcomesIn(stratum)],
							...[...spread(stratum, quartiles), outcomesIn(stratum) / stratum.length],
						],
					],
		),
	};
}

/** Thresholds up to which all are listed; beyond, a hundred evenly spaced ones are added. */
const listed = 100;

function thresholds(known: readonly Known[], { evaluation }: PlpOptions): ResultTable {
	const [n, positive] = [known.length, outcomesIn(known)];
	const negative = n - positive;
	const sorted = known.toSorted((a, b) => b.probability - a.probability);
	const step = Math.max(1, Math.floor(n / listed));
	const values = new Set<number>();
	for (const [index, { probability }] of sorted.entries())
		if (n <= listed || index < listed || index % step === 0 || index === n - 1)
			values.add(probability);
	let [taken, hits] = [0, 0];
	const rows =
		positive === 0 || negative === 0
			? []
			: [...values].map((threshold) => {
					while (taken < n && sorted[taken].probability >= threshold)
						hits += Number(sorted[taken++]?.label);
					const [tp, fp] = [hits, taken - hits];
					const [fn, tn] = [positive - tp, negative - fp];
					const odds = Math.exp(logit(threshold) - Math.log(positive / negative));
					const [sensitivity, specificity] = [tp / positive, tn / negative];
					return [
						...[id, evaluation, threshold, odds / (1 + odds), tp + fp, tn + fn, positive, negative],
						...[tp, tn, fp, fn, (2 * tp) / (2 * tp + fp + fn), (tp + tn) / n, sensitivity],
						...[1 - sensitivity, 1 - specificity, specificity],
						...[tp / (tp + fp), fp / (tp + fp), tn / (tn + fn), fn / (tn + fn)],
						...[sensitivity / (1 - specificity), (1 - sensitivity) / specificity],
						(tp * tn) / (fp * fn),
					].map((value) => (typeof value === "number" && !Number.isFinite(value) ? null : value));
				});
	return {
		header: [
			...["performance_id", "evaluation", "prediction_threshold", "preference_threshold"],
			...["positive_count", "negative_count", "true_count", "false_count", "true_positive_count"],
			...["true_negative_count", "false_positive_count", "false_negative_count", "f_1_score"],
			...["accuracy", "sensitivity", "false_negative_rate", "false_positive_rate", "specificity"],
			...["positive_predictive_value", "false_discovery_rate", "negative_predictive_value"],
			...["false_omission_rate", "positive_likelihood_ratio", "negative_likelihood_ratio"],
			"diagnostic_odds_ratio",
		],
		rows,
	};
}

/** By age in bands of five years and by sex; patients without either are left out. */
function demographics(known: readonly Known[], { evaluation }: PlpOptions): ResultTable {
	const groups = new Map<string, { band: number; sex: string; members: Known[] }>();
	for (const prediction of known) {
		if (prediction.ageYears === null || prediction.sex === null) continue;
		const band = 5 * Math.floor(prediction.ageYears / 5);
		const sex = prediction.sex === "male" ? "Male" : "Female";
		const group = groups.get(`${band} ${sex}`) ?? { band, sex, members: [] };
		group.members.push(prediction);
		groups.set(`${band} ${sex}`, group);
	}
	return {
		header: [
			...["performance_id", "evaluation", "age_group", "gen_group", "person_count_at_risk"],
			...["person_count_with_outcome", ...spreadHeader("p_50")],
		],
		rows: [...groups.values()]
			.sort((a, b) => a.band - b.band || (a.sex < b.sex ? -1 : 1))
			.map(({ band, sex, members }) => [
				...[
					id,
					evaluation,
					`Age group: ${band}-${band + 4}`,
					sex,
					members.length,
					outcomesIn(members),
				],
				...spread(members, quartiles),
			]),
	};
}

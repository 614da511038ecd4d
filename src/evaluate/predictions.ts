import { probabilityOf } from "../base/log-odds.js";
import { yearDays } from "../base/time.js";
import type { History } from "../data/cohort/index.js";
import { denseRows, fitLogistic, weightedLabels } from "../model/glm.js";
import { type BootstrapOptions, bootstrap } from "./bootstrap.js";
import { calibrationCurve, evenShares, groupsBetween, quantileEdges } from "./calibration.js";
import type { LabelPrediction } from "./evaluation.js";
import { auroc, averagePrecision, brier, quantile, ranking } from "./metrics.js";

/** What a prediction says about its patient. */
export const personAt = ({ id, sex, times, birthEvents }: History, time: number) => ({
	patient: id,
	sex,
	ageYears: birthEvents === 0 ? null : (time - times[0]) / yearDays,
});

const decision = 0.5;

/**
 * The metrics of meds-evaluation, in its words but for one, of predictions whose label is known: every prediction counts
 * once. Undefined if they are all of one class.
 */
export function predictionMetrics(predictions: readonly LabelPrediction[]) {
	const known = predictions.filter(({ label }) => label !== null);
	const labels = known.map(({ label }) => Number(label));
	const positive = labels.reduce((sum, label) => sum + label, 0);
	if (positive === 0 || positive === labels.length) return undefined;
	const scores = known.map(({ probability }) => probability);
	const curve = calibrationCurve(labels, scores, { bins: 10 });
	let [right, hits, decided] = [0, 0, 0];
	for (const [index, score] of scores.entries()) {
		const isPositive = Number(score >= decision);
		right += Number(isPositive === labels[index]);
		hits += isPositive * labels[index];
		decided += isPositive;
	}
	return {
		roc_auc_score: auroc(labels, scores),
		average_precision_score: averagePrecision(labels, scores),
		brier_score: brier(labels, scores),
		/**
		 * Mean distance between predicted and observed over ten bins of equal width, whatever their size; empty bins do not
		 * count. meds-evaluation calls it `calibration_error`; here that name is of a mean weighted by predictions.
		 */
		unweighted_calibration_error: mean(
			curve.map(({ predicted, observed }) => Math.abs(predicted - observed)),
		),
		/** Of the decision at a probability of 0.5. */
		binary_accuracy: right / labels.length,
		f1_score: (2 * hits) / (decided + positive),
	};
}

/** The evaluation types of PatientLevelPrediction; `Validation` is another dataset than the model's own. */
export type EvaluationType = "Train" | "CV" | "Test" | "Validation";

/** A table of results, in snake_case as PatientLevelPrediction stores them. */
interface ResultTable {
	readonly header: readonly string[];
	readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Steps by which patients were left out. */
interface AttritionStep {
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
	"performances",
	"attrition",
	"evaluation_statistics",
	"calibration_summary",
	"threshold_summary",
	"demographic_summary",
] as const;

/** The columns of a table in order, and their values for an item. */
type Columns<Item> = Readonly<Record<string, (item: Item) => string | number | null>>;

const tableOf = <Item>(columns: Columns<Item>, items: readonly Item[]): ResultTable => ({
	header: Object.keys(columns),
	rows: items.map((item) => Object.values(columns).map((cellOf) => cellOf(item))),
});

/** The tables of predictions whose label is known. */
export function plpTables(predictions: readonly LabelPrediction[], options: PlpOptions) {
	const known = predictions.filter((prediction): prediction is Known => prediction.label !== null);
	return {
		performances: tableOf(performanceColumns, [options]),
		attrition: tableOf(attritionColumns, options.attrition),
		evaluation_statistics: statistics(known, options),
		calibration_summary: calibration(known, options),
		threshold_summary: thresholds(known, options),
		demographic_summary: demographics(known, options),
	};
}

const isOther = ({ evaluation }: PlpOptions) => evaluation === "Validation";

const ids = (...names: string[]) => Object.fromEntries(names.map((name) => [name, () => id]));

/** The first columns of most tables. */
const keys = ({ evaluation }: PlpOptions) => ({
	performance_id: () => id,
	evaluation: () => evaluation,
});

const performanceColumns: Columns<PlpOptions> = {
	...ids("performance_id", "model_design_id", "development_database_id"),
	validation_database_id: (options) => (isOther(options) ? otherDatabase : id),
	...ids("target_id", "outcome_id", "tar_id", "plp_data_setting_id", "population_setting_id"),
	model_development: (options) => (isOther(options) ? 0 : 1),
};

const attritionColumns: Columns<AttritionStep> = {
	...ids("performance_id", "outcome_id"),
	description: ({ description }) => description,
	target_count: ({ patients }) => patients,
	unique_people: ({ patients }) => patients,
	outcomes: ({ outcomes }) => outcomes,
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
		const [gradient, intercept] = fitLogistic(denseRows(odds, 1), weightedLabels(labels), {
			precision: 0,
			centre: [1],
		});
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
			["weak calibration intercept", intercept],
			["weak calibration gradient", gradient],
		);
	}
	return tableOf<[string, number]>(
		{ ...keys(options), metric: ([metric]) => metric, value: ([, value]) => value },
		metrics,
	);
}

/** The b at which log-odds + b expect as many outcomes as there are, by bisection. */
function interceptOf(odds: readonly number[], labels: readonly number[]): number {
	const outcomes = labels.reduce((sum, label) => sum + label, 0);
	let [low, high] = [-100, 100];
	for (let halving = 0; halving < 60; halving++) {
		const b = (low + high) / 2;
		const expected = odds.reduce((sum, odd) => sum + probabilityOf(odd + b), 0);
		if (expected < outcomes) low = b;
		else high = b;
	}
	return (low + high) / 2;
}

interface Group {
	readonly members: readonly Known[];
	/** Probabilities in ascending order, and their mean. */
	readonly sorted: Float64Array;
	readonly mean: number;
}

function groupOf(members: readonly Known[]): Group {
	const sorted = Float64Array.from(members, ({ probability }) => probability).sort();
	return { members, sorted, mean: mean([...sorted]) };
}

function deviation({ sorted, mean }: Group): number | null {
	const squares = sorted.reduce((sum, p) => sum + (p - mean) ** 2, 0);
	return sorted.length > 1 ? Math.sqrt(squares / (sorted.length - 1)) : null;
}

const outcomesIn = (predictions: readonly Known[]) =>
	predictions.filter(({ label }) => label).length;

/** The columns of a group that calibration and demographics share; they name the median differently. */
const groupColumns = (median: string): Columns<Group> => ({
	person_count_at_risk: ({ members }) => members.length,
	person_count_with_outcome: ({ members }) => outcomesIn(members),
	average_predicted_probability: ({ mean }) => mean,
	st_dev_predicted_probability: deviation,
	min_predicted_probability: ({ sorted }) => quantile(sorted, 0),
	p_25_predicted_probability: ({ sorted }) => quantile(sorted, 0.25),
	[`${median}_predicted_probability`]: ({ sorted }) => quantile(sorted, 0.5),
	p_75_predicted_probability: ({ sorted }) => quantile(sorted, 0.75),
	max_predicted_probability: ({ sorted }) => quantile(sorted, 1),
});

/** Ten strata with about equal numbers of predictions. */
function calibration(known: readonly Known[], options: PlpOptions): ResultTable {
	const probabilities = known.map(({ probability }) => probability);
	const edges = quantileEdges(probabilities, evenShares(10));
	const strata = groupsBetween(edges, probabilities);
	const columns: Columns<Group & { readonly threshold: number }> = {
		...keys(options),
		prediction_threshold: ({ threshold }) => threshold,
		...groupColumns("median"),
		observed_incidence: ({ members }) => outcomesIn(members) / members.length,
	};
	return tableOf(
		columns,
		strata.flatMap((members, index) =>
			members.length === 0
				? []
				: [{ ...groupOf(members.map((i) => known[i])), threshold: edges[index - 1] ?? 0 }],
		),
	);
}

/** Thresholds up to which all are listed; beyond, a hundred evenly spaced ones are added. */
const listed = 100;

/** Decisions at a threshold: true and false positives, true and false negatives. */
interface Decisions {
	readonly threshold: number;
	readonly tp: number;
	readonly fp: number;
	readonly tn: number;
	readonly fn: number;
}

const sensitivity = ({ tp, fn }: Decisions) => tp / (tp + fn);
const specificity = ({ tn, fp }: Decisions) => tn / (tn + fp);

function preference({ threshold, tp, fp, tn, fn }: Decisions): number {
	const odds = Math.exp(logit(threshold) - Math.log((tp + fn) / (tn + fp)));
	return odds / (1 + odds);
}

const decisionColumns: Columns<Decisions> = {
	prediction_threshold: ({ threshold }) => threshold,
	preference_threshold: preference,
	positive_count: ({ tp, fp }) => tp + fp,
	negative_count: ({ tn, fn }) => tn + fn,
	true_count: ({ tp, fn }) => tp + fn,
	false_count: ({ tn, fp }) => tn + fp,
	true_positive_count: ({ tp }) => tp,
	true_negative_count: ({ tn }) => tn,
	false_positive_count: ({ fp }) => fp,
	false_negative_count: ({ fn }) => fn,
	f_1_score: ({ tp, fp, fn }) => (2 * tp) / (2 * tp + fp + fn),
	accuracy: ({ tp, fp, tn, fn }) => (tp + tn) / (tp + fp + tn + fn),
	sensitivity,
	false_negative_rate: (decisions) => 1 - sensitivity(decisions),
	false_positive_rate: (decisions) => 1 - specificity(decisions),
	specificity,
	positive_predictive_value: ({ tp, fp }) => tp / (tp + fp),
	false_discovery_rate: ({ tp, fp }) => fp / (tp + fp),
	negative_predictive_value: ({ tn, fn }) => tn / (tn + fn),
	false_omission_rate: ({ tn, fn }) => fn / (tn + fn),
	positive_likelihood_ratio: (decisions) => sensitivity(decisions) / (1 - specificity(decisions)),
	negative_likelihood_ratio: (decisions) => (1 - sensitivity(decisions)) / specificity(decisions),
	diagnostic_odds_ratio: ({ tp, fp, tn, fn }) => (tp * tn) / (fp * fn),
};

function thresholds(known: readonly Known[], options: PlpOptions): ResultTable {
	const [n, positive] = [known.length, outcomesIn(known)];
	const negative = n - positive;
	const sorted = known.toSorted((a, b) => b.probability - a.probability);
	const step = Math.max(1, Math.floor(n / listed));
	const values = new Set<number>();
	for (const [index, { probability }] of sorted.entries())
		if (n <= listed || index < listed || index % step === 0 || index === n - 1)
			values.add(probability);
	let [taken, tp] = [0, 0];
	const decisions =
		positive === 0 || negative === 0
			? []
			: [...values].map((threshold): Decisions => {
					while (taken < n && sorted[taken].probability >= threshold)
						tp += Number(sorted[taken++].label);
					const fp = taken - tp;
					return { threshold, tp, fp, tn: negative - fp, fn: positive - tp };
				});
	const { header, rows } = tableOf({ ...keys(options), ...decisionColumns }, decisions);
	const finite = (value: string | number | null) =>
		typeof value === "number" && !Number.isFinite(value) ? null : value;
	return { header, rows: rows.map((row) => row.map(finite)) };
}

/** By age in bands of five years and by sex; patients without either are left out. */
function demographics(known: readonly Known[], options: PlpOptions): ResultTable {
	const groups = new Map<string, { band: number; sex: string; members: Known[] }>();
	for (const prediction of known) {
		if (prediction.ageYears === null || prediction.sex === null) continue;
		const band = 5 * Math.floor(prediction.ageYears / 5);
		const sex = prediction.sex === "male" ? "Male" : "Female";
		const group = groups.get(`${band} ${sex}`) ?? { band, sex, members: [] };
		group.members.push(prediction);
		groups.set(`${band} ${sex}`, group);
	}
	const columns: Columns<Group & { readonly band: number; readonly sex: string }> = {
		...keys(options),
		age_group: ({ band }) => `Age group: ${band}-${band + 4}`,
		gen_group: ({ sex }) => sex,
		...groupColumns("p_50"),
	};
	return tableOf(
		columns,
		[...groups.values()]
			.sort((a, b) => a.band - b.band || (a.sex < b.sex ? -1 : 1))
			.map(({ band, sex, members }) => ({ ...groupOf(members), band, sex })),
	);
}

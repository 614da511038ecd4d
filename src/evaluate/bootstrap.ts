import { InputError } from "../base/errors.js";
import { mapValues } from "../base/map-values.js";
import { random } from "../base/random.js";
import type { Split } from "../data/cohort/index.js";
import type { EvaluateOptions, EvaluationRow, Measure, Measured } from "./evaluation.js";
import { quantile } from "./metrics.js";

export interface BootstrapOptions {
	readonly draws: number;
	readonly seed: number;
}

/** With fewer resamples, a 95 % interval is one of their extremes. */
export const fewestDraws = 20;

/** Rejects a number of resamples that is too small for intervals, or not whole. */
export function checkDraws(draws: number | undefined): void {
	if (draws === undefined || (Number.isInteger(draws) && draws >= fewestDraws)) return;
	throw new InputError(
		`\`draws\` ${draws}: expected a whole number of at least ${fewestDraws}, because a 95 % interval needs them`,
		{ field: "draws", value: draws },
	);
}

/** A statistic of patients, each counted `weights[patient]` times; NaN if undefined for these patients. */
export type Statistic = (weights: ArrayLike<number>) => number;

/** Σ parts / Σ wholes over patients, such as nats per event. */
export const ratioOf =
	(parts: ArrayLike<number>, wholes: ArrayLike<number>): Statistic =>
	(weights) => {
		let [sum, total] = [0, 0];
		for (let i = 0; i < parts.length; i++) {
			sum += weights[i] * parts[i];
			total += weights[i] * wholes[i];
		}
		return sum / total;
	};

export interface Drawn {
	readonly value: number;
	readonly drawn: Float64Array;
}

/** The difference of two statistics on the same draws of patients. */
export const difference = (one: Drawn, other: Drawn): Drawn => ({
	value: one.value - other.value,
	drawn: one.drawn.map((value, draw) => value - other.drawn[draw]),
});

/**
 * The mean over training seeds. A draw of patients also draws one seed, so that the interval holds for a model that is
 * trained once. Values of one model draw the same seeds, different models draw theirs apart.
 */
export function meanOverSeeds(bySeed: readonly Drawn[], model: string): Drawn {
	const [first] = bySeed;
	const { integer } = random(0).fork("training seeds").fork(model);
	return {
		value: bySeed.reduce((sum, { value }) => sum + value, 0) / bySeed.length,
		drawn: first.drawn.map((_, draw) => bySeed[integer(bySeed.length)].drawn[draw]),
	};
}

/** How often each draw takes each patient. The next draw overwrites the array. */
export function* patientDraws(patients: number, { draws, seed }: BootstrapOptions) {
	const stream = random(seed).fork("bootstrap");
	const weights = new Float64Array(patients);
	for (let draw = 0; draw < draws; draw++) {
		const { integer } = stream.fork(draw);
		weights.fill(0);
		for (let i = 0; i < patients; i++) weights[integer(patients)] += 1;
		yield weights;
	}
}

/** Evaluates every statistic of several rows on the same bootstrap draws of patients. */
export function drawPatients<Name extends string>(
	patients: number,
	rows: readonly Readonly<Record<Name, Statistic>>[],
	options: BootstrapOptions,
): Record<Name, Drawn>[] {
	if (patients === 0) throw new InputError("there are no patients to evaluate");
	const once = new Float64Array(patients).fill(1);
	const results = rows.map((statistics) =>
		mapValues(statistics, (statistic) => ({
			value: statistic(once),
			drawn: new Float64Array(options.draws),
		})),
	);
	let draw = 0;
	for (const weights of patientDraws(patients, options)) {
		for (const [row, statistics] of rows.entries())
			for (const name in statistics) results[row][name].drawn[draw] = statistics[name](weights);
		draw++;
	}
	return results;
}

/**
 * Values with 95 % intervals from a bootstrap over patients (see `measureOf`). All statistics use the same draws, so
 * differences are paired.
 */
export const bootstrap = <Name extends string>(
	patients: number,
	statistics: Readonly<Record<Name, Statistic>>,
	options: BootstrapOptions,
): Record<Name, Measure> => mapValues(drawPatients(patients, [statistics], options)[0], measureOf);

/**
 * The value with its interval: the percentiles of the draws, moved so that their mean is the value. Patients who are
 * drawn twice tie with themselves and add noise, which raises the draws of some statistics (average precision,
 * errors) above what other patients would give. Draws without a value (NaN) are left out.
 */
export function measureOf({ value, drawn }: Drawn): Measure {
	const sorted = drawn.filter((one) => !Number.isNaN(one)).sort();
	if (sorted.length === 0) return { value, low: value, high: value };
	const excess = sorted.reduce((sum, one) => sum + (one - value), 0) / sorted.length;
	return {
		value,
		low: Math.min(value, quantile(sorted, 0.025) - excess),
		high: Math.max(value, quantile(sorted, 0.975) - excess),
	};
}

export const notNegative = (measure: Measure): Measure => ({
	...measure,
	low: Math.max(0, measure.low),
});

/** Measures that are at most 1. */
const isShare = (metric: string) =>
	/^(accuracy|recall|auroc|auprc|averagePrecision|brier)/.test(metric);

/** Measures that may be negative: a skill, and a share of the way between two rows. */
const isSigned = (metric: string) => /^(brierSkill|logLossShare|aurocShare)/.test(metric);

/** A measure whose interval holds possible values only. */
export const possible = (metric: string, measure: Measure): Measure => {
	if (isSigned(metric)) return measure;
	const bounded = notNegative(measure);
	return isShare(metric) ? { ...bounded, high: Math.min(1, bounded.high) } : bounded;
};

export type RowName = Omit<EvaluationRow, "metrics" | "byDraw" | "byPatient">;

/** Statistics of patients, by metric. */
export type Statistics = Readonly<Record<string, Statistic>>;

/** A row, before its numbers are measured. */
export interface PatientRow {
	readonly name: RowName;
	readonly statistics?: Statistics;
	/** Metrics that were drawn before. */
	readonly drawn?: Readonly<Record<string, Drawn>>;
	/** Measures of which no differences are taken. */
	readonly alone?: EvaluationRow["metrics"];
	/** Whether the row has differences at all; true by default. */
	readonly isCompared?: boolean;
}

export const baselines = {
	history: { who: "history", label: "own history" },
	lasso: { who: "history", label: "lasso regression" },
	ridge: { who: "history", label: "ridge regression" },
	trees: { who: "trees", label: "boosted trees" },
	global: { who: "global", label: "code frequencies" },
	oracle: { who: "oracle", label: "reference model" },
	uninformed: { who: "oracle", label: "reference model, policies unknown" },
} as const satisfies Record<string, RowName>;

/** With fewer patients, intervals from a bootstrap are too narrow and the sign of a difference means little. */
const fewestPatients = 30;
/** As many must have the label, and as many must not. */
const fewestPerClass = 10;

const splitTitles: Readonly<Record<Split, string>> = {
	train: "training",
	valid: "validation",
	test: "test",
};

const counted = (count: number, split: Split) =>
	`${count} ${splitTitles[split]} ${count === 1 ? "patient" : "patients"}`;

/** Labels that are true, and all labels, of a task that has them. */
interface LabelCounts {
	readonly positive: number;
	readonly all: number;
}

/** Why an evaluation allows no conclusion; undefined if it rests on enough patients. */
export function tooFewText({
	split,
	patients,
	labels,
}: {
	readonly split: Split;
	readonly patients: number;
	readonly labels?: LabelCounts | undefined;
}): string | undefined {
	if (patients < fewestPatients) return `${counted(patients, split)}: no conclusion`;
	if (!labels) return undefined;
	const rarer = Math.min(labels.positive, labels.all - labels.positive);
	if (rarer >= fewestPerClass) return undefined;
	const which = rarer === labels.positive ? "positive" : "negative";
	return `${rarer} ${which} ${rarer === 1 ? "label" : "labels"} of ${counted(patients, split)}: no conclusion`;
}

/** The result of a task: its rows on the same draws of patients, compared, and what is told beside them. */
export function measured(
	task: string,
	{ split, seed, draws, keepDraws = false }: EvaluateOptions,
	rows: readonly PatientRow[],
	{
		labels,
		...beside
	}: Pick<Measured, "patients" | "events" | "notes"> &
		Partial<Measured> & { readonly labels?: LabelCounts },
): Measured {
	const { patients } = beside;
	const tooFew = tooFewText({ split, patients, labels });
	return {
		task,
		split,
		seed,
		draws,
		...beside,
		...(tooFew && { tooFew }),
		...measureRows(rows, patients, { seed, draws, keepDraws }),
	};
}

/** The measures of each row, and the difference of each model row to every later row in the metrics that both have. */
function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepDraws?: boolean },
): Required<Pick<Measured, "rows" | "differences">> {
	const drawnRows = drawPatients(
		patients,
		patientRows.map(({ statistics = {} }) => statistics),
		options,
	);
	const rows = patientRows.map((row, i) => ({ ...row, drawn: { ...row.drawn, ...drawnRows[i] } }));
	return {
		rows: rows.map(({ name, drawn, alone }) => ({
			...name,
			metrics: {
				...alone,
				...mapValues(drawn, (values, metric) => possible(metric, measureOf(values))),
			},
			...(options.keepDraws && { byDraw: mapValues(drawn, (values) => toText(values.drawn)) }),
		})),
		differences: rows
			.filter(({ isCompared = true }) => isCompared)
			.flatMap((row, i, compared) =>
				(row.name.who === "model" ? compared.slice(i + 1) : []).map((than) => ({
					row: row.name.label,
					than: than.name.label,
					metrics: Object.fromEntries(
						Object.entries(row.drawn)
							.filter(([metric]) => than.drawn[metric])
							.map(([metric, values]) => [
								metric,
								measureOf(difference(values, than.drawn[metric])),
							]),
					),
				})),
			),
	};
}

/** Σ parts / Σ wholes over patients, by metric. */
export type Ratios = Readonly<
	Record<string, { readonly parts: ArrayLike<number>; readonly wholes: ArrayLike<number> }>
>;

export const ratioStatistics = (ratios: Ratios): Statistics =>
	mapValues(ratios, ({ parts, wholes }) => ratioOf(parts, wholes));

/** The ratios that some patient contributes to: without a new code, recall of new codes is undefined. */
export const definedRatios = (ratios: Ratios): Ratios =>
	Object.fromEntries(
		Object.entries(ratios).filter(([, { wholes }]) =>
			Array.from(wholes).some((total) => total > 0),
		),
	);

export const toText = ({ buffer, byteOffset, byteLength }: Float64Array): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");

/** A metric of a stored row on all patients and on each draw of them. */
export function drawnOf(
	{ label, metrics, byDraw }: EvaluationRow,
	{ task, metric }: { readonly task: string; readonly metric: string },
): Drawn {
	const text = byDraw?.[metric];
	if (text === undefined)
		throw new InputError(
			`the evaluation of ${label} on ${task} has no draws of ${metric}; evaluate it again`,
		);
	// Copied, because small Node buffers start anywhere in a shared one.
	const { buffer } = Uint8Array.from(Buffer.from(text, "base64"));
	return { value: metrics[metric].value, drawn: new Float64Array(buffer) };
}

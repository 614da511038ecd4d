import { InputError } from "../../base/errors.js";
import { type BootstrapOptions, type Drawn, measureOf, patientDraws } from "../bootstrap.js";
import type { Measure } from "../evaluation.js";
import type { PatientWeights } from "./follow-up.js";

/** Scores of a code: one record per model, the same models for every code. */
export type CodeScorer<Metric extends string> = (
	weights?: PatientWeights,
) => readonly Readonly<Record<Metric, number | null>>[];

/**
 * Scores of codes on all patients and on bootstrap draws of them. Models are numbered as in the scores, codes as
 * they were given. A measure is null if it is undefined on all patients. Intervals are 95 % intervals
 * over patients (see `measureOf`); draws in which a value is undefined are left out.
 */
export interface Resampled<Metric extends string> {
	/** One model, one code. */
	ofCode(code: number, model: number, metric: Metric): Measure | null;
	/** Unweighted mean over the codes for which the metric is defined. */
	mean(model: number, metric: Metric): Measure | null;
	/** The same mean, with its value on each draw. */
	drawnMean(model: number, metric: Metric): Drawn | null;
	/** Sum over codes of one metric divided by that of another, such as observed by expected onsets. */
	ratio(model: number, part: Metric, whole: Metric): Measure | null;
	/** Mean over codes of `model` − `other`, paired: the same draws, and codes that are defined for both. */
	difference(model: number, other: number, metric: Metric): Measure | null;
}

/**
 * Scores every code on the same bootstrap draws of the cohort, so that differences are paired. Calls with the same
 * options, for other horizons or subgroups, use the same draws. Each draw weights patients by their number of copies, and everything that is estimated, censoring
 * included, is estimated anew. `codes` may be a generator: a code is not kept after it was scored. Kept are
 * (draws + 1) × codes × models × metrics numbers.
 *
 * @example
 * const codes = followUps.map((one, code) => onsetScores(one, 365, [own[code], baseline[code]]));
 * const resampled = resampleCodes(patients, codes, { draws: 200, seed: 1 });
 * resampled.difference(0, 1, "auroc");
 */
export function resampleCodes<Metric extends string>(
	patients: number,
	codes: Iterable<CodeScorer<Metric>>,
	options: BootstrapOptions,
): Resampled<Metric> {
	if (patients === 0) throw new InputError("there are no patients to evaluate");
	const draws = Array.from(patientDraws(patients, options), (drawn) => new Uint16Array(drawn));
	/** By code and model, then by metric: the value on all patients, and on each draw; NaN if undefined. */
	const kept: Record<Metric, Float64Array>[][] = [];
	for (const score of codes) {
		const scored = [score(), ...draws.map((weights) => score(weights))];
		kept.push(
			scored[0]!.map((own, model) => {
				const metrics = Object.keys(own) as Metric[];
				return Object.fromEntries(
					metrics.map((metric) => [
						metric,
						Float64Array.from(scored, (models) => models[model]![metric] ?? Number.NaN),
					]),
				) as Record<Metric, Float64Array>;
			}),
		);
	}
	const drawnOf = (statistic: (draw: number) => number): Drawn | null => {
		const [value, ...drawn] = Array.from({ length: draws.length + 1 }, (_, draw) =>
			statistic(draw),
		);
		return Number.isNaN(value) ? null : { value: value!, drawn: Float64Array.from(drawn) };
	};
	const measure = (statistic: (draw: number) => number): Measure | null => {
		const drawn = drawnOf(statistic);
		return drawn && measureOf(drawn);
	};
	const scoreOf = (code: number, model: number, metric: Metric, draw: number) =>
		kept[code]![model]![metric][draw]!;
	const meanOverCodes = (value: (code: number) => number): number => {
		let [sum, defined] = [0, 0];
		for (let code = 0; code < kept.length; code++) {
			const own = value(code);
			if (Number.isNaN(own)) continue;
			sum += own;
			defined++;
		}
		return sum / defined;
	};
	return {
		ofCode: (code, model, metric) => measure((draw) => scoreOf(code, model, metric, draw)),
		mean: (model, metric) =>
			measure((draw) => meanOverCodes((code) => scoreOf(code, model, metric, draw))),
		drawnMean: (model, metric) =>
			drawnOf((draw) => meanOverCodes((code) => scoreOf(code, model, metric, draw))),
		difference: (model, other, metric) =>
			measure((draw) =>
				meanOverCodes(
					(code) => scoreOf(code, model, metric, draw) - scoreOf(code, other, metric, draw),
				),
			),
		ratio: (model, part, whole) =>
			measure((draw) => {
				let [parts, wholes] = [0, 0];
				for (let code = 0; code < kept.length; code++) {
					const [one, all] = [part, whole].map((metric) => scoreOf(code, model, metric, draw));
					if (Number.isNaN(one! + all!)) continue;
					parts += one!;
					wholes += all!;
				}
				return wholes > 0 ? parts / wholes : Number.NaN;
			}),
	};
}

import { isoDate, yearDays } from "../../base/time.js";
import { outcomeOf, recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type Resampled, resampleCodes } from "../bootstrap.js";
import type { EvaluateOptions } from "../options.js";
import type { RowName } from "../rows.js";
import {
	highRiskShares,
	type OnsetCalibration,
	onsetCalibration,
	onsetScores,
} from "../survival/at-horizon.js";
import {
	censored,
	death,
	type FollowUp,
	onset,
	poolFollowUps,
	poolValues,
	sortFollowUp,
} from "../survival/follow-up.js";
import type { IndexedCohort, IndexedPatient } from "./index-days.js";

/** Onsets that a code needs within a horizon. */
export const leastOnsets = 20;

/** A row of the results. */
export interface Predictions {
	readonly name: RowName;
	/** By each horizon, [patients, vocab]; NaN where there is none. */
	readonly risks: readonly ArrayLike<number>[];
}

/** What task *onset* is measured on. */
export interface OnsetStudy {
	readonly dataset: Dataset;
	/** What baselines learn from. */
	readonly trainingDataset: Dataset;
	readonly options: EvaluateOptions;
	readonly cohort: IndexedCohort;
	readonly codes: readonly CodeFollowUp[];
	/** In years. */
	readonly horizons: readonly number[];
}

/** After a cut, the index day is that of the cut. */
export const indexOf = ({ index, before }: Pick<EvaluateOptions, "index" | "before">): string =>
	index ?? (before === undefined ? "random" : isoDate(before));

export const daysOf = (years: number) => Math.round(years * yearDays);

/** The codes with enough onsets within so many days. */
export const measuredCodes = (codes: readonly CodeFollowUp[], days: number) =>
	codes.filter((code) => code.token >= specialCount && onsetsWithin(code, days) >= leastOnsets);

/** What became of the patients who did not have a code on their index day. */
export interface CodeFollowUp extends FollowUp {
	readonly token: number;
	readonly time: Float64Array;
	readonly status: Uint8Array;
	/** Place in the cohort. */
	readonly patient: Int32Array;
}

export const statusOf = { onset, death, "end of observation": censored } as const;

/** The follow-up of every code, by token. */
export function followUps(patients: readonly IndexedPatient[], vocab: number): CodeFollowUp[] {
	const entries = Array.from({ length: vocab }, () => ({
		time: [] as number[],
		status: [] as number[],
		patient: [] as number[],
	}));
	for (const [index, { history, day, atRisk }] of patients.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token] > Number.NEGATIVE_INFINITY) continue;
			const outcome = outcomeOf(atRisk, after[token]);
			const followUp = entries[token];
			followUp.time.push(outcome.after);
			followUp.status.push(statusOf[outcome.what]);
			followUp.patient.push(index);
		}
	}
	return entries.map(({ time, status, patient }, token) => ({
		token,
		time: Float64Array.from(time),
		status: Uint8Array.from(status),
		patient: Int32Array.from(patient),
	}));
}

/** Onsets within so many days. */
export function onsetsWithin(
	{ time, status }: Pick<CodeFollowUp, "time" | "status">,
	days: number,
): number {
	let count = 0;
	for (let i = 0; i < time.length; i++) if (status[i] === onset && time[i] <= days) count++;
	return count;
}

/** Bootstrap draws, at most: every code of every horizon is scored on each. */
export const mostDraws = 200;

/** What is measured at one horizon. */
export interface AtHorizon {
	readonly years: number;
	readonly codes: readonly CodeFollowUp[];
	/** [rows][codes]: the risks of the code's entries. */
	readonly predicted: readonly (readonly Float64Array[])[];
	readonly scores: Resampled<keyof ReturnType<ReturnType<typeof onsetScores>>[0]>;
	readonly calibration: readonly OnsetCalibration[];
}

export function atHorizon(
	{ dataset, options, cohort, codes, horizons }: OnsetStudy,
	rows: readonly Predictions[],
	horizonIndex: number,
): AtHorizon {
	const years = horizons[horizonIndex];
	const days = daysOf(years);
	const vocab = dataset.vocabulary.size;
	const risksOf = ({ risks }: Predictions, { token, patient }: CodeFollowUp) =>
		Float64Array.from(patient, (one) => risks[horizonIndex]?.[one * vocab + token]);
	const kept = measuredCodes(codes, days).filter((code) =>
		rows.every((row) => !risksOf(row, code).some(Number.isNaN)),
	);
	const predicted = rows.map((row) => kept.map((code) => risksOf(row, code)));
	const { progress } = options;
	/** One after the other, so that no code is kept after it was scored. */
	function* scorers() {
		for (const [i, code] of kept.entries()) {
			progress?.update({ label: `scoring ${years}-year risks: code`, done: i, total: kept.length });
			const risks = predicted.map((row) => row[i] as Float64Array);
			yield onsetScores(sortFollowUp(code), days, risks);
		}
	}
	const draws = Math.min(options.draws, mostDraws);
	const scores = resampleCodes(cohort.patients.length, scorers(), { draws, seed: options.seed });
	progress?.finish();
	const pooled = sortFollowUp(poolFollowUps(kept));
	const calibration = predicted.map((rowRisks) =>
		onsetCalibration(pooled, days, poolValues(rowRisks), highRiskShares),
	);
	return { years, codes: kept, predicted, scores, calibration };
}

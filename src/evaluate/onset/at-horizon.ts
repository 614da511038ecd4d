import {
	highRiskShares,
	type OnsetCalibration,
	onsetCalibration,
} from "../survival/calibration.js";
import { poolFollowUps, poolValues, sortFollowUp } from "../survival/follow-up.js";
import { onsetScores } from "../survival/onset-scores.js";
import { type Resampled, resampleCodes } from "../survival/resample.js";
import { daysOf, measuredCodes, type Opened, type Predictions } from "./opened.js";
import type { CodeFollowUp } from "./outcomes.js";

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
	{ dataset, options, cohort, codes, horizons }: Opened,
	rows: readonly Predictions[],
	at: number,
): AtHorizon {
	const years = horizons[at] as number;
	const days = daysOf(years);
	const vocab = dataset.vocabulary.size;
	const risksOf = ({ risks }: Predictions, { token, patient }: CodeFollowUp) =>
		Float64Array.from(patient, (one) => risks[at]?.[one * vocab + token] as number);
	const kept = measuredCodes(codes, days).filter((code) =>
		rows.every((row) => !risksOf(row, code).some(Number.isNaN)),
	);
	const predicted = rows.map((row) => kept.map((code) => risksOf(row, code)));
	const { progress } = options;
	/** One after the other, so that no code is kept after it was scored. */
	function* scorers() {
		for (const [i, code] of kept.entries()) {
			progress?.update({ label: `scoring ${years}-year risks: code`, done: i, total: kept.length });
			const own = predicted.map((row) => row[i] as Float64Array);
			yield onsetScores(sortFollowUp(code), days, own);
		}
	}
	const draws = Math.min(options.draws, mostDraws);
	const scores = resampleCodes(cohort.patients.length, scorers(), { draws, seed: options.seed });
	progress?.finish();
	const pooled = sortFollowUp(poolFollowUps(kept));
	const calibration = predicted.map((own) =>
		onsetCalibration(pooled, days, poolValues(own), highRiskShares),
	);
	return { years, codes: kept, predicted, scores, calibration };
}

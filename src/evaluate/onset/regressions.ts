import { startThreads } from "../../engine/runtime/threads.js";
import { ageFeatures } from "../../model/hazards/landmarks.js";
import {
	type Fit,
	fitSparseLogistic,
	logOddsOf,
	type Penalty,
	runFits,
	type SparseRows,
	type WeightedLabels,
	weightedLoss,
} from "../logistic.js";

/** Precisions of the coefficients: little for the bias, age and sex; for counts chosen on validation, strongest first. */
const biasPrecision = 1e-4;
const agePrecision = 1;
const countPrecisions = [3000, 700, 150, 30, 7];

/** Of fits: 0.1 standard errors, much less than a penalty moves the coefficients. */
const tolerance = 1e-2;

/** Columns: 1, hats of age and of age by sex, log(1 + records) of every token, the same of the last year. */
export const countsFrom = 1 + ageFeatures;
const widthOf = (vocab: number) => countsFrom + 2 * vocab;

/** What is known of patients on days. */
export interface Features {
	readonly all: SparseRows;
	/** Age and sex alone. */
	readonly ages: SparseRows;
}

/** Landmarks to learn from or to choose penalties on, for one token and horizon. */
export interface Labelled {
	readonly features: Features;
	readonly outcome: WeightedLabels;
}

/**
 * The coefficients for one token and horizon: first of age and sex alone, then of counts too, with penalties from
 * strong to weak until the loss on the validation landmarks rises. If counts never lower it, theirs stay 0.
 */
export function* fitRegression(train: Labelled, valid: Labelled, vocab: number): Fit<Float64Array> {
	const { labels, weights } = train.outcome;
	const total = weights.reduce((sum, weight) => sum + weight, 0);
	const onsets = weights.reduce((sum, weight, row) => sum + weight * labels[row], 0);
	const centres = new Float64Array(widthOf(vocab));
	centres[0] = Math.log((onsets + 0.5) / (total - onsets + 0.5));
	const penaltyOf = (counts: number): Penalty => {
		const precisions = new Float64Array(centres.length).fill(counts);
		precisions.fill(agePrecision, 0, countsFrom)[0] = biasPrecision;
		return { precisions, centres };
	};
	const lossOf = (coefficients: Float64Array) =>
		weightedLoss(valid.outcome, logOddsOf(valid.features.all, coefficients));
	const { features, outcome } = train;
	let best = yield* fitSparseLogistic(features.ages, outcome, penaltyOf(1), { tolerance });
	let least = lossOf(best);
	for (const counts of countPrecisions) {
		const next = yield* fitSparseLogistic(features.all, outcome, penaltyOf(counts), {
			start: best,
			tolerance,
		});
		const loss = lossOf(next);
		if (loss >= least) break;
		[best, least] = [next, loss];
	}
	return best;
}

/** Landmarks for regressions of any token and horizon: to learn from, and to choose penalties on. */
interface RegressionFeatures {
	readonly train: Features;
	readonly valid: Features;
	readonly vocab: number;
}

/** What happened after the landmarks, for one token and horizon. */
interface Outcomes {
	readonly train: WeightedLabels;
	readonly valid: WeightedLabels;
}

/** The coefficients of several regressions. */
export const fitRegressions =
	({ train, valid, vocab }: RegressionFeatures) =>
	(outcomes: readonly Outcomes[]): Float64Array[] =>
		runFits(
			outcomes.map((outcome) =>
				fitRegression(
					{ features: train, outcome: outcome.train },
					{ features: valid, outcome: outcome.valid },
					vocab,
				),
			),
		);

/** Regressions times values of the features for which another thread is worth its start. */
const leastPerThread = 2e6;

/** Fits regressions in threads, or in this one if there are few. */
export function fittingThreads(features: RegressionFeatures, fits: number, threads: number) {
	const values = features.train.all.values.length;
	const count = Math.min(threads, Math.floor((fits * values) / leastPerThread));
	if (count < 2) return { fit: fitRegressions(features), end: async () => {} };
	const { call, end } = startThreads(new URL("./regression-thread.js", import.meta.url), {
		count,
		workerData: features,
		work: "fits regressions",
	});
	const fit = (outcomes: readonly Outcomes[]) => call("fit", [outcomes]) as Promise<Float64Array[]>;
	return { fit, end };
}

import { startThreads } from "../../engine/runtime/threads.js";
import * as glm from "../../model/glm.js";
import { ageFeatures } from "../../model/hazards/landmarks.js";

/** Precisions of the coefficients: little for the bias, age and sex; for counts chosen on validation, strongest first. */
const biasPrecision = 1e-4;
const agePrecision = 1;
const countPrecisions = [3000, 700, 150, 30, 7];

/** Of fits: 0.1 standard errors, much less than a penalty moves the coefficients. */
const tolerance = 1e-2;

/** Columns: 1, hats of age and of age by sex, log(1 + records) of every token, the same of the last year. */
export const countsFrom = 1 + ageFeatures;

/** What is known of patients on days. */
export interface Features {
	readonly all: glm.SparseRows;
	/** Age and sex alone. */
	readonly ages: glm.SparseRows;
}

/** Landmarks to learn from, and to choose penalties on. */
type Landmarks<Of> = Readonly<Record<"train" | "valid", Of>>;

/** Landmarks for regressions of any token and horizon. */
interface RegressionFeatures extends Landmarks<Features> {
	readonly vocab: number;
}

/**
 * The coefficients for one token and horizon: first of age and sex alone, then of counts too, with penalties from
 * strong to weak until the loss on the validation landmarks rises. If counts never lower it, theirs stay 0.
 */
export function* fitRegression(
	{ train, valid, vocab }: RegressionFeatures,
	outcomes: Landmarks<glm.Outcomes>,
): glm.Fit<Float64Array> {
	const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);
	const [total, onsets] = [sum(outcomes.train.exposure), sum(outcomes.train.events)];
	const centres = new Float64Array(countsFrom + 2 * vocab);
	centres[0] = Math.log((onsets + 0.5) / (total - onsets + 0.5));
	const penaltyOf = (counts: number): glm.Penalty => {
		const precisions = new Float64Array(centres.length).fill(counts);
		precisions.fill(agePrecision, 0, countsFrom)[0] = biasPrecision;
		return { precisions, centres };
	};
	const validLoss = (coefficients: Float64Array) =>
		glm.lossOf(glm.logistic, outcomes.valid, glm.linearPredictor(valid.all, coefficients));
	let best = yield* glm.fitGlm(glm.logistic, train.ages, outcomes.train, penaltyOf(1), {
		tolerance,
	});
	let least = validLoss(best);
	for (const counts of countPrecisions) {
		const options = { start: best, tolerance };
		const next = yield* glm.fitGlm(
			glm.logistic,
			train.all,
			outcomes.train,
			penaltyOf(counts),
			options,
		);
		const loss = validLoss(next);
		if (loss >= least) break;
		[best, least] = [next, loss];
	}
	return best;
}

export const fitRegressions =
	(features: RegressionFeatures) =>
	(outcomes: readonly Landmarks<glm.Outcomes>[]): Float64Array[] =>
		glm.runFits(outcomes.map((one) => fitRegression(features, one)));

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
	const fit = (outcomes: readonly Landmarks<glm.Outcomes>[]) =>
		call("fit", [outcomes]) as Promise<Float64Array[]>;
	return { fit, end };
}

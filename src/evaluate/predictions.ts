import { yearDays } from "../base/time.js";
import type { History } from "../data/cohort/index.js";
import type { Sex } from "../data/records/rows.js";
import { calibrationCurve } from "./calibration.js";
import { auroc, averagePrecision, brier } from "./metrics.js";

/** A prediction of a yes-or-no label. */
export interface LabelPrediction {
	readonly patient: string;
	/** In days; the records up to it were known. */
	readonly time: number;
	/** The observed value; null if it is unknown. */
	readonly label: boolean | null;
	readonly probability: number;
	/** How many patients it stands for, where censored ones count through others; 1 if left out. */
	readonly weight?: number | undefined;
	/** Task onset: the horizon of the prediction. */
	readonly horizonDays?: number | undefined;
	readonly sex: Sex | null;
	readonly ageYears: number | null;
}

/** What a prediction says about its patient. */
export const personAt = (
	{ id, sex, times, birthEvents }: History,
	time: number,
): Pick<LabelPrediction, "patient" | "sex" | "ageYears"> => ({
	patient: id,
	sex,
	ageYears: birthEvents === 0 ? null : (time - times[0]) / yearDays,
});

/** The predictions behind one row of an evaluation. */
export interface RowPredictions {
	/** The label of the row, such as "TrajGPT, fine-tuned". */
	readonly row: string;
	readonly predictions: readonly LabelPrediction[];
	/** What the reader of a file of them should know. */
	readonly notes: readonly string[];
}

/** The metrics of meds-evaluation, in its words but for one: every prediction counts once. */
export interface PredictionMetrics {
	readonly roc_auc_score: number;
	readonly average_precision_score: number;
	readonly brier_score: number;
	/**
	 * Mean distance between predicted and observed over ten bins of equal width, whatever their size; empty bins do not
	 * count. meds-evaluation calls it `calibration_error`; here that name is of a mean weighted by predictions.
	 */
	readonly unweighted_calibration_error: number;
	/** Of the decision at a probability of 0.5. */
	readonly binary_accuracy: number;
	readonly f1_score: number;
}

const decision = 0.5;

/** The metrics of predictions whose label is known; undefined if they are all of one class. */
export function predictionMetrics(
	predictions: readonly LabelPrediction[],
): PredictionMetrics | undefined {
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
		unweighted_calibration_error:
			curve.reduce((sum, { predicted, observed }) => sum + Math.abs(predicted - observed), 0) /
			curve.length,
		binary_accuracy: right / labels.length,
		f1_score: (2 * hits) / (decided + positive),
	};
}

import { yearDays } from "../base/time.js";
import type { History } from "../data/cohort/index.js";
import type { Sex } from "../data/records/rows.js";

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
	...{ patient: id, sex },
	ageYears: birthEvents === 0 ? null : (time - (times[0] as number)) / yearDays,
});

/** The predictions behind one row of an evaluation. */
export interface RowPredictions {
	/** The label of the row, such as "TrajGPT, fine-tuned". */
	readonly row: string;
	readonly predictions: readonly LabelPrediction[];
	/** What the reader of a file of them should know. */
	readonly notes: readonly string[];
}

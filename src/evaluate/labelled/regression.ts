import { fitLogistic, logisticLoss, logisticScores } from "../../train/index.js";
import { standardised, standardOf } from "./standardised-directions.js";

interface Examples {
	/** [examples, width] */
	readonly vectors: ArrayLike<number>;
	readonly targets: ArrayLike<number>;
}

const precisions = [1, 10, 100, 1000];

/** Logistic regression on standardised vectors, with the penalty chosen on the validation labels. */
export function regression(train: Examples, valid: Examples) {
	const width = train.vectors.length / train.targets.length;
	const standard = standardOf(train.vectors, width);
	const known = standardised(train.vectors, standard);
	const checked = standardised(valid.vectors, standard);
	const fits = precisions.map((precision) => {
		const fit = fitLogistic(known, train.targets, width, { precision });
		const loss = logisticLoss(logisticScores(checked, fit), valid.targets);
		return { fit, precision, standard, loss };
	});
	return fits.reduce((best, other) => (other.loss < best.loss ? other : best));
}

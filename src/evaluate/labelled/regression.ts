import { fitLogistic, logisticLoss, logisticScores } from "../../model/train/index.js";
import { standardised, standardOf } from "./standardised-directions.js";

interface Examples {
	/** [examples, width] */
	readonly vectors: ArrayLike<number>;
	readonly targets: ArrayLike<number>;
	/** How often each counts; 1 if left out. */
	readonly weights?: ArrayLike<number>;
	/** Log-odds that are known beforehand. */
	readonly risks?: ArrayLike<number> | undefined;
}

const precisions = [1, 10, 100, 1000];
/** With risks, also almost nothing but them. */
const precisionsAroundRisks = [...precisions, 1e4, 1e5];

/**
 * Logistic regression on standardised vectors, with the penalty chosen on the validation labels. With risks, these
 * are one more column, the last, and the penalty is towards taking them as they are.
 */
export function regression(train: Examples, valid: Examples) {
	const width = train.vectors.length / train.targets.length;
	const standard = standardOf(train.vectors, width);
	const columnsOf = ({ vectors, risks }: Examples) =>
		withColumn(standardised(vectors, standard), width, risks);
	const [known, checked] = [columnsOf(train), columnsOf(valid)];
	const columns = train.risks ? width + 1 : width;
	const centre = new Float64Array(columns).fill(1, width);
	const fits = (train.risks ? precisionsAroundRisks : precisions).map((precision) => {
		const fit = fitLogistic(known, train.targets, columns, {
			...{ precision, centre, weights: train.weights },
		});
		const loss = logisticLoss(logisticScores(checked, fit), valid.targets, valid.weights);
		return { fit, precision, standard, loss };
	});
	return fits.reduce((best, other) => (other.loss < best.loss ? other : best));
}

function withColumn(
	vectors: Float64Array,
	width: number,
	column: ArrayLike<number> | undefined,
): Float64Array {
	if (!column) return vectors;
	const longer = new Float64Array(column.length * (width + 1));
	for (let row = 0; row < column.length; row++) {
		longer.set(vectors.subarray(row * width, (row + 1) * width), row * (width + 1));
		longer[(row + 1) * (width + 1) - 1] = column[row] as number;
	}
	return longer;
}

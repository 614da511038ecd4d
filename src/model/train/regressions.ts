import { probabilityOf } from "../../base/log-odds.js";

/** A generalised linear model of one bin or one question: rows of features, each with an exposure and an outcome. */
export interface GlmRows {
	readonly width: number;
	readonly features: readonly number[]; // [rows, width]
	/** Of a rate: days at risk. Of a probability: the number of trials. */
	readonly exposure: readonly number[];
	readonly outcome: readonly number[];
}

/** Rows to which others are added. */
export function glmRows(width: number): GlmRows & {
	add(features: readonly number[], exposure: number, outcome: number): void;
} {
	const rows = { features: [] as number[], exposure: [] as number[], outcome: [] as number[] };
	return {
		width,
		...rows,
		add(features, exposure, outcome) {
			rows.features.push(...features);
			rows.exposure.push(exposure);
			rows.outcome.push(outcome);
		},
	};
}

export const total = (values: readonly number[]): number =>
	values.reduce((sum, value) => sum + value, 0);

/** Precision of the prior of each weight, so that features that always come together do no harm. */
const precision = 1;
const mostSteps = 50;
const tolerance = 1e-9;

/** Loss of a row and its first two derivatives by η = x · w. */
type Family = (eta: number, exposure: number, outcome: number) => [number, number, number];

/** A rate e^η: the likelihood of events in time at risk. */
export const poisson: Family = (eta, exposure, outcome) => {
	const mean = exposure * Math.exp(Math.min(eta, 20));
	return [mean - outcome * eta, mean - outcome, mean];
};

/** A probability 1 / (1 + e^−η). */
export const logistic: Family = (eta, trials, outcome) => {
	const p = probabilityOf(eta);
	const softplus = eta > 0 ? eta + Math.log1p(Math.exp(-eta)) : Math.log1p(Math.exp(eta));
	return [trials * softplus - outcome * eta, trials * p - outcome, trials * p * (1 - p)];
};

/** The weights with the least loss, by Newton's method from given ones; the prior pulls towards these. */
export function fitGlm(rows: GlmRows, start: readonly number[], family: Family): number[] {
	const { width } = rows;
	let weights = [...start];
	let now = lossAt(rows, weights, start, family);
	for (let n = 0; n < mostSteps; n++) {
		const step = solve(now.hessian, now.gradient, width);
		let size = 1;
		let next = now;
		do {
			const moved = weights.map((weight, i) => weight - size * step[i]);
			next = lossAt(rows, moved, start, family);
			if (next.loss <= now.loss) {
				weights = moved;
				break;
			}
			size /= 2;
		} while (size > 1e-6);
		if (!(now.loss - next.loss > tolerance * Math.abs(now.loss))) break;
		now = next;
	}
	return weights;
}

function lossAt(
	{ width, features, exposure, outcome }: GlmRows,
	weights: readonly number[],
	centre: readonly number[],
	family: Family,
) {
	const gradient = weights.map((weight, i) => precision * (weight - centre[i]));
	const hessian = new Float64Array(width * width);
	let loss = 0;
	for (let i = 0; i < width; i++) {
		hessian[i * width + i] = precision;
		loss += (gradient[i] ** 2 / precision) * 0.5;
	}
	// Most features of a row are zero.
	const used: number[] = [];
	const x: number[] = [];
	for (let row = 0; row < outcome.length; row++) {
		let [count, eta] = [0, 0];
		for (let i = 0; i < width; i++) {
			const value = features[row * width + i];
			if (value === 0) continue;
			eta += value * weights[i];
			used[count] = i;
			x[count++] = value;
		}
		const [rowLoss, first, second] = family(eta, exposure[row], outcome[row]);
		loss += rowLoss;
		for (let a = 0; a < count; a++) {
			const i = used[a];
			gradient[i] += first * x[a];
			const scaled = second * x[a];
			for (let b = 0; b < count; b++) {
				const at = i * width + used[b];
				hessian[at] += scaled * x[b];
			}
		}
	}
	return { loss, gradient, hessian };
}

/** A x = b by Cholesky's decomposition of a symmetric positive definite matrix. */
function solve(matrix: Float64Array, b: readonly number[], n: number): number[] {
	const lower = new Float64Array(n * n);
	const at = (row: number, column: number) => lower[row * n + column];
	for (let i = 0; i < n; i++)
		for (let j = 0; j <= i; j++) {
			let sum = matrix[i * n + j];
			for (let k = 0; k < j; k++) sum -= at(i, k) * at(j, k);
			lower[i * n + j] = i === j ? Math.sqrt(sum) : sum / at(j, j);
		}
	const y: number[] = [];
	for (let i = 0; i < n; i++)
		y[i] = (b[i] - y.reduce((sum, value, k) => sum + at(i, k) * value, 0)) / at(i, i);
	const x = new Array<number>(n).fill(0);
	for (let i = n - 1; i >= 0; i--) {
		let sum = y[i];
		for (let k = i + 1; k < n; k++) sum -= at(k, i) * x[k];
		x[i] = sum / at(i, i);
	}
	return x;
}

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

/** log-odds of yes = weights · features + bias. */
export interface LogisticFit {
	readonly weights: Float64Array;
	readonly bias: number;
}

export interface LogisticOptions {
	/** 1 / variance of the Gaussian that the weights are drawn from. */
	readonly precision: number;
	/** Its mean; 0 if left out. With nothing to learn from, the weights are this. */
	readonly centre?: ArrayLike<number>;
	/** How often each answer counts; 1 if left out. */
	readonly weights?: ArrayLike<number> | undefined;
}

/** How many steps are remembered, how many are made at most, and how small a gradient ends them. */
const remembered = 8;
const mostMinimiserSteps = 300;
const smallest = 1e-6;

/**
 * Logistic regression, the most probable weights under a Gaussian prior; the bias is free:
 *   minimise Σ log(1 + e^z) − y z + ½ precision |w − centre|²,   z = w · x + b.
 * The problem is convex; it is solved by L-BFGS.
 */
export function fitLogistic(
	features: ArrayLike<number>, // [answers, width]
	answers: ArrayLike<number>, // 1 or 0
	width: number,
	{ precision, centre, weights }: LogisticOptions,
): LogisticFit {
	const start = new Float64Array(width + 1);
	for (let j = 0; j < width; j++) start[j] = centre?.[j] ?? 0;
	if (answers.length === 0) return { weights: start.slice(0, width), bias: 0 };
	const solution = minimise(start, (point, gradient) => {
		gradient.fill(0);
		let loss = 0;
		for (let i = 0; i < answers.length; i++) {
			let z = point[width];
			for (let j = 0; j < width; j++) z += point[j] * features[i * width + j];
			const probability = probabilityOf(z);
			const weight = weights?.[i] ?? 1;
			const residual = weight * (probability - answers[i]);
			loss += weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - answers[i] * z);
			for (let j = 0; j < width; j++) gradient[j] += residual * features[i * width + j];
			gradient[width] += residual;
		}
		for (let j = 0; j < width; j++) {
			const away = point[j] - start[j];
			loss += 0.5 * precision * away * away;
			gradient[j] += precision * away;
		}
		return loss;
	});
	return { weights: solution.slice(0, width), bias: solution[width] };
}

/** Log-odds of each row of features. */
export function logisticScores(features: ArrayLike<number>, fit: LogisticFit): Float64Array {
	const width = fit.weights.length;
	return Float64Array.from({ length: features.length / width }, (_, i) => {
		let z = fit.bias;
		for (let j = 0; j < width; j++) z += fit.weights[j] * features[i * width + j];
		return z;
	});
}

/** Mean −log p of the answers, given their log-odds. */
export function logisticLoss(
	scores: ArrayLike<number>,
	answers: ArrayLike<number>,
	weights?: ArrayLike<number>,
): number {
	let [sum, total] = [0, 0];
	for (let i = 0; i < answers.length; i++) {
		const [z, weight] = [scores[i], weights?.[i] ?? 1];
		sum += weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - answers[i] * z);
		total += weight;
	}
	return sum / total;
}

const dot = (a: Float64Array, b: Float64Array) =>
	a.reduce((sum, value, i) => sum + value * b[i], 0);

/** L-BFGS with halved steps; `value` writes the gradient where it is told. */
export function minimise(
	start: Float64Array,
	value: (point: Float64Array, gradient: Float64Array) => number,
): Float64Array {
	let point = start.slice();
	let gradient = new Float64Array(start.length);
	let height = value(point, gradient);
	const past: { step: Float64Array; change: Float64Array; inverse: number }[] = [];
	for (let n = 0; n < mostMinimiserSteps && Math.sqrt(dot(gradient, gradient)) > smallest; n++) {
		const direction = gradient.slice();
		const shares: number[] = [];
		for (const { step, change, inverse } of past.toReversed()) {
			const share = inverse * dot(step, direction);
			shares.push(share);
			for (let j = 0; j < direction.length; j++) direction[j] -= share * change[j];
		}
		const last = past.at(-1);
		const scale = last
			? 1 / (last.inverse * dot(last.change, last.change))
			: 1 / Math.max(1, Math.sqrt(dot(gradient, gradient)));
		for (let j = 0; j < direction.length; j++) direction[j] *= scale;
		for (const { step, change, inverse } of past) {
			const share = shares.pop()! - inverse * dot(change, direction);
			for (let j = 0; j < direction.length; j++) direction[j] += share * step[j];
		}
		const slope = dot(gradient, direction);
		const ahead = new Float64Array(start.length);
		let [length, next, lower] = [1, point, height];
		for (; length > 1e-12; length /= 2) {
			next = point.map((x, j) => x - length * direction[j]);
			lower = value(next, ahead);
			if (lower <= height - 1e-4 * length * slope) break;
		}
		if (!(lower < height)) break; // as far as rounding lets it come
		const step = next.map((x, j) => x - point[j]);
		const change = ahead.map((g, j) => g - gradient[j]);
		const curvature = dot(step, change);
		if (curvature > 0) past.push({ step, change, inverse: 1 / curvature });
		if (past.length > remembered) past.shift();
		[point, gradient, height] = [next, ahead, lower];
	}
	return point;
}

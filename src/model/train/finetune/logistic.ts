import { probabilityOf } from "../../../base/log-odds.js";
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
const mostSteps = 300;
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
	const found = minimise(start, (point, gradient) => {
		gradient.fill(0);
		let loss = 0;
		for (let i = 0; i < answers.length; i++) {
			let z = point[width]!;
			for (let j = 0; j < width; j++) z += point[j]! * features[i * width + j]!;
			const probability = probabilityOf(z);
			const weight = weights?.[i] ?? 1;
			const residual = weight * (probability - answers[i]!);
			loss += weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - answers[i]! * z);
			for (let j = 0; j < width; j++) gradient[j]! += residual * features[i * width + j]!;
			gradient[width]! += residual;
		}
		for (let j = 0; j < width; j++) {
			const away = point[j]! - start[j]!;
			loss += 0.5 * precision * away * away;
			gradient[j]! += precision * away;
		}
		return loss;
	});
	return { weights: found.slice(0, width), bias: found[width]! };
}

/** Log-odds of each row of features. */
export function logisticScores(features: ArrayLike<number>, fit: LogisticFit): Float64Array {
	const width = fit.weights.length;
	return Float64Array.from({ length: features.length / width }, (_, i) => {
		let z = fit.bias;
		for (let j = 0; j < width; j++) z += fit.weights[j]! * features[i * width + j]!;
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
		const [z, weight] = [scores[i]!, weights?.[i] ?? 1];
		sum += weight * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - answers[i]! * z);
		total += weight;
	}
	return sum / total;
}

const dot = (a: Float64Array, b: Float64Array) =>
	a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** L-BFGS with halved steps; `value` writes the gradient where it is told. */
export function minimise(
	start: Float64Array,
	value: (point: Float64Array, gradient: Float64Array) => number,
): Float64Array {
	let point = start.slice();
	let gradient = new Float64Array(start.length);
	let height = value(point, gradient);
	const past: { step: Float64Array; change: Float64Array; inverse: number }[] = [];
	for (let n = 0; n < mostSteps && Math.sqrt(dot(gradient, gradient)) > smallest; n++) {
		const direction = gradient.slice();
		const shares: number[] = [];
		for (const { step, change, inverse } of past.toReversed()) {
			const share = inverse * dot(step, direction);
			shares.push(share);
			for (let j = 0; j < direction.length; j++) direction[j]! -= share * change[j]!;
		}
		const last = past.at(-1);
		const scale = last
			? 1 / (last.inverse * dot(last.change, last.change))
			: 1 / Math.max(1, Math.sqrt(dot(gradient, gradient)));
		for (let j = 0; j < direction.length; j++) direction[j]! *= scale;
		for (const { step, change, inverse } of past) {
			const share = shares.pop()! - inverse * dot(change, direction);
			for (let j = 0; j < direction.length; j++) direction[j]! += share * step[j]!;
		}
		const slope = dot(gradient, direction);
		const ahead = new Float64Array(start.length);
		let [length, next, lower] = [1, point, height];
		for (; length > 1e-12; length /= 2) {
			next = point.map((x, j) => x - length * direction[j]!);
			lower = value(next, ahead);
			if (lower <= height - 1e-4 * length * slope) break;
		}
		if (!(lower < height)) break; // as far as rounding lets it come
		const step = next.map((x, j) => x - point[j]!);
		const change = ahead.map((g, j) => g - gradient[j]!);
		const curvature = dot(step, change);
		if (curvature > 0) past.push({ step, change, inverse: 1 / curvature });
		if (past.length > remembered) past.shift();
		[point, gradient, height] = [next, ahead, lower];
	}
	return point;
}

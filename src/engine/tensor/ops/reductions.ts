import { divideDims, isOpen } from "../dims.js";
import {
	apply,
	axisOf,
	elementCount,
	fail,
	floatType,
	type Operation,
	type Tensor,
} from "../tensor.js";
import { div } from "./elementwise.js";
import { reduce, reduction } from "./shape.js";

const sumSquaresOperation = reduction("sumSquares", (x, _y, g) => x.mul(g.mul(2)));

// Where several values share the maximum, its cotangent is shared between them.
const maxOperation = reduction("max", (x, y, g, axes) => {
	const chosen = x.equal(y).cast(x.dtype);
	return chosen.div(chosen.sum(axes, true)).mul(g);
});

/** Sum of squares, in one pass. */
export function sumSquares(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const none = (axes === undefined ? x.shape : [axes].flat()).length === 0;
	return none ? x.mul(x) : reduce(sumSquaresOperation, x, axes, keep);
}

export const max = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(maxOperation, x, axes, keep);

export function mean(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const total = x.sum(axes, keep);
	const count = divideDims(elementCount(x.shape), elementCount(total.shape));
	if (count === undefined || isOpen(count)) fail("mean", "the size of an axis is open", [x]);
	return total.mul(1 / count);
}

/** Mean squared distance from the mean. */
export function variance(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const centred = x.sub(x.mean(axes ?? x.shape.map((_, i) => i), true));
	return centred.mul(centred).mean(axes, keep);
}

type AlongAxis = (x: Tensor, axis?: number) => Tensor;

function alongAxis(
	name: "softmax" | "logSoftmax",
	pullback: (y: Tensor, g: Tensor, axis: number) => Tensor,
): AlongAxis {
	const operation: Operation<"softmax" | "logSoftmax"> = {
		name,
		types: ([x]) => [floatType(name, x)],
		pullback: ({ outputs: [y], attributes: { axis } }, g) => [pullback(y, g, axis)],
	};
	return (x, axis = -1) => apply(operation, [x], { axis: axisOf(name, x, axis) });
}

export const softmax: AlongAxis = alongAxis("softmax", (y, g, axis) =>
	y.mul(g.sub(g.mul(y).sum(axis, true))),
);

export const logSoftmax: AlongAxis = alongAxis("logSoftmax", (y, g, axis) =>
	g.sub(y.exp().mul(g.sum(axis, true))),
);

/** `softmax` composed of simpler operations, for backends without a kernel for it. */
export function softmaxParts(x: Tensor, axis: number): Tensor {
	const powers = x.sub(x.max(axis, true)).exp();
	return powers.div(powers.sum(axis, true));
}

/** `logSoftmax` composed of simpler operations, for backends without a kernel for it. */
export function logSoftmaxParts(x: Tensor, axis: number): Tensor {
	const below = x.sub(x.max(axis, true));
	return below.sub(below.exp().sum(axis, true).log());
}

const smallest = 1e-5;

export interface Affine {
	readonly scale?: Tensor;
	readonly shift?: Tensor;
	/** Added to the variance. */
	readonly epsilon?: number;
}

function affine(x: Tensor, { scale, shift }: Affine): Tensor {
	const scaled = scale ? x.mul(scale) : x;
	return shift ? scaled.add(shift) : scaled;
}

/** 1 / √(mean of x² + ε) along the last axis, which stays with size 1. */
function inverseRms(x: Tensor, epsilon: number): Tensor {
	const meanSquare = x.sumSquares(-1, true).mul(1 / (x.shape.at(-1) as number));
	return div(1, meanSquare.add(epsilon).sqrt());
}

/** The norm composed of simpler operations, for backends without a kernel for it. */
export const rmsNormParts = (x: Tensor, epsilon: number): Tensor => x.mul(inverseRms(x, epsilon));

const rmsNormOperation: Operation<"rmsNorm"> = {
	name: "rmsNorm",
	types: ([x]) => [floatType("rmsNorm", x)],
	// With y = r x: dx = r (g − y mean(g y)).
	pullback: ({ inputs, outputs, attributes: { epsilon } }, g) => {
		const [[x], [y]] = [inputs, outputs] as unknown as [[Tensor], [Tensor]];
		return [g.sub(y.mul(g.mul(y).mean(-1, true))).mul(inverseRms(x, epsilon))];
	},
};

/** x divided by its root mean square, along the last axis. */
export function rmsNorm(x: Tensor, options: Affine = {}): Tensor {
	const { epsilon = smallest } = options;
	return affine(apply(rmsNormOperation, [x], { epsilon }), options);
}

/** x minus its mean, divided by its standard deviation, along the last axis. */
export const layerNorm = (x: Tensor, options: Affine = {}): Tensor =>
	rmsNorm(x.sub(x.mean(-1, true)), options);

/**
 * x minus its mean, divided by its standard deviation, over the given axes (all but the channels). Also returns the
 * statistics, for running averages; they, the scale and the shift have size 1 along those axes.
 */
export function batchNorm(
	x: Tensor,
	axes: readonly number[],
	options: Affine = {},
): { readonly y: Tensor; readonly mean: Tensor; readonly variance: Tensor } {
	const centre = x.mean(axes, true);
	const spread = x.variance(axes, true);
	return { y: normalized(x, centre, spread, options), mean: centre, variance: spread };
}

/** x minus a mean, divided by the root of a variance: batch norm with its running averages. */
export function normalized(
	x: Tensor,
	centre: Tensor,
	spread: Tensor,
	options: Affine = {},
): Tensor {
	const inverse = div(1, spread.add(options.epsilon ?? smallest).sqrt());
	return affine(x.sub(centre).mul(inverse), options);
}

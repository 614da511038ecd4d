import { divideDims, isOpen, type Shape } from "../dims.js";
import {
	apply,
	axisOf,
	elementCount,
	fail,
	isFloat,
	type Operation,
	type Tensor,
} from "../tensor.js";
import { cast, div, equal, mul, sub } from "./elementwise.js";
import { expand, reshape } from "./shape.js";

type ReductionName = "sum" | "sumSquares" | "max";

const keptShape = (shape: Shape, axes: readonly number[]): Shape =>
	shape.map((n, i) => (axes.includes(i) ? 1 : n));

function reduction(
	name: ReductionName,
	pullback: (x: Tensor, y: Tensor, g: Tensor, axes: readonly number[]) => Tensor,
): Operation<ReductionName> {
	return {
		name,
		types: ([x], { axes }) => {
			const { shape, dtype } = x as Tensor;
			if (!isFloat(dtype)) fail(name, "needs a float tensor", [x as Tensor]);
			return [{ shape: keptShape(shape, axes), dtype }];
		},
		pullback: (node, [g]) => [
			g
				? pullback(node.inputs[0] as Tensor, node.outputs[0] as Tensor, g, node.attributes.axes)
				: null,
		],
	};
}

const sumOperation = reduction("sum", (x, _y, g) => expand(g, x.shape));

const sumSquaresOperation = reduction("sumSquares", (x, _y, g) => mul(x, mul(g, 2)));

// Where several values share the maximum, its cotangent is shared between them.
const maxOperation = reduction("max", (x, y, g, axes) => {
	const chosen = cast(equal(x, y), x.dtype);
	return mul(div(chosen, sum(chosen, axes, true)), g);
});

function reduce(
	operation: Operation<ReductionName>,
	x: Tensor,
	axes: number | readonly number[] | undefined,
	keep: boolean,
): Tensor {
	const list = (axes === undefined ? x.shape.map((_, i) => i) : [axes].flat())
		.map((axis) => axisOf(operation.name, x, axis))
		.sort((a, b) => a - b);
	if (list.length === 0) return operation === sumSquaresOperation ? mul(x, x) : x;
	if (new Set(list).size < list.length) fail(operation.name, "an axis is named twice", [x]);
	const kept = apply(operation, [x], { axes: list });
	return keep
		? kept
		: reshape(
				kept,
				x.shape.filter((_, i) => !list.includes(i)),
			);
}

/** Sum over the axes given, or over all. */
export const sum = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(sumOperation, x, axes, keep);

/** Sum of squares, in one pass. */
export const sumSquares = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(sumSquaresOperation, x, axes, keep);

export const max = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(maxOperation, x, axes, keep);

export function mean(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const total = sum(x, axes, keep);
	const count = divideDims(elementCount(x.shape), elementCount(total.shape));
	if (count === undefined || isOpen(count)) fail("mean", "the size of an axis is open", [x]);
	return mul(total, 1 / count);
}

/** Mean squared distance from the mean. */
export function variance(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const centred = sub(x, mean(x, axes ?? x.shape.map((_, i) => i), true));
	return mean(mul(centred, centred), axes, keep);
}

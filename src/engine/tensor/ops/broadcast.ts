import { type Dim, divideDims, isOpen, multiplyDims, type Shape } from "../dims.js";
import {
	apply,
	axisOf,
	elementCount,
	fail,
	isFloat,
	type Operation,
	sameShape,
	type Tensor,
} from "../tensor.js";

// Reshaping, repeating and summing are in one file: each is in the pullback of another.

const reshapeOperation: Operation<"reshape"> = {
	name: "reshape",
	types: ([x], { shape }) => {
		const { shape: from, dtype } = x;
		const isSize = (n: Dim) => isOpen(n) || (Number.isInteger(n) && n >= 0);
		const count = elementCount(from);
		if (count !== elementCount(shape) || !shape.every(isSize))
			fail("reshape", `${count} values do not fill [${shape.join(", ")}]`, [x]);
		return [{ shape, dtype }];
	},
	pullback: ({ inputs: [x] }, [g]) => [g ? g.reshape(x.shape) : null],
};

/** The same values in another shape; one size may be −1. */
export function reshape(x: Tensor, shape: Shape): Tensor {
	const count = elementCount(x.shape);
	const known = multiplyDims(...shape.filter((n) => n !== -1));
	const rest = divideDims(count, known) ?? Number(count) / Number(known);
	const full = shape.map((n) => (n === -1 ? rest : n));
	return sameShape(x.shape, full) ? x : apply(reshapeOperation, [x], { shape: full });
}

const expandOperation: Operation<"expand"> = {
	name: "expand",
	types: ([x], { shape }) => {
		const { shape: from, dtype } = x;
		const extra = shape.length - from.length;
		if (extra < 0 || from.some((n, i) => n !== 1 && n !== shape[i + extra]))
			fail("expand", `does not broadcast to [${shape.join(", ")}]`, [x]);
		return [{ shape, dtype }];
	},
	pullback: ({ inputs: [x] }, [g]) => [g ? unbroadcast(g, x.shape) : null],
};

/** Repeats along axes of size 1, and along new axes in front. */
export const expand = (x: Tensor, shape: Shape): Tensor =>
	sameShape(x.shape, shape) ? x : apply(expandOperation, [x], { shape });

/** Sums a cotangent over the axes along which its tensor was broadcast. */
export function unbroadcast(cotangent: Tensor, shape: Shape): Tensor {
	if (sameShape(cotangent.shape, shape)) return cotangent;
	const extra = cotangent.shape.length - shape.length;
	const axes = cotangent.shape.flatMap((n, i) =>
		i < extra || (shape[i - extra] === 1 && n !== 1) ? [i] : [],
	);
	return (axes.length > 0 ? cotangent.sum(axes) : cotangent).reshape(shape);
}

type ReductionName = "sum" | "sumSquares" | "max";

const keptShape = (shape: Shape, axes: readonly number[]): Shape =>
	shape.map((n, i) => (axes.includes(i) ? 1 : n));

export function reduction(
	name: ReductionName,
	pullback: (x: Tensor, y: Tensor, g: Tensor, axes: readonly number[]) => Tensor,
): Operation<ReductionName> {
	return {
		name,
		types: ([x], { axes }) => {
			const { shape, dtype } = x;
			if (!isFloat(dtype)) fail(name, "needs a float tensor", [x]);
			return [{ shape: keptShape(shape, axes), dtype }];
		},
		pullback: (node, [g]) => [
			g ? pullback(node.inputs[0], node.outputs[0], g, node.attributes.axes) : null,
		],
	};
}

const sumOperation = reduction("sum", (x, _y, g) => g.expand(x.shape));

export function reduce(
	operation: Operation<ReductionName>,
	x: Tensor,
	axes: number | readonly number[] | undefined,
	keep: boolean,
): Tensor {
	const list = (axes === undefined ? x.shape.map((_, i) => i) : [axes].flat())
		.map((axis) => axisOf(operation.name, x, axis))
		.sort((a, b) => a - b);
	if (list.length === 0) return x;
	if (new Set(list).size < list.length) fail(operation.name, "an axis is named twice", [x]);
	const kept = apply(operation, [x], { axes: list });
	return keep ? kept : kept.reshape(x.shape.filter((_, i) => !list.includes(i)));
}

/** Sum over the axes given, or over all. */
export const sum = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(sumOperation, x, axes, keep);

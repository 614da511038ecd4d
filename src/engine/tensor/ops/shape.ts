import {
	addDims,
	type Dim,
	divideDims,
	isOpen,
	multiplyDims,
	type Shape,
	subtractDims,
} from "../dims.js";
import {
	apply,
	applyAll,
	axisOf,
	elementCount,
	fail,
	isFloat,
	type Operation,
	sameShape,
	type Tensor,
} from "../tensor.js";
import { filled } from "./sources.js";

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
	pullback: ({ inputs: [x] }, g) => [g.reshape(x.shape)],
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
	pullback: ({ inputs: [x] }, g) => [unbroadcast(g, x.shape)],
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
		pullback: (node, g) => [pullback(node.inputs[0], node.outputs[0], g, node.attributes.axes)],
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

const transposeOperation: Operation<"transpose"> = {
	name: "transpose",
	types: ([x], { order }) => {
		const { shape, dtype } = x;
		if (
			[...order].sort((a, b) => a - b).some((axis, i) => axis !== i) ||
			order.length !== shape.length
		)
			fail("transpose", `[${order.join(", ")}] is not an order of its axes`, [x]);
		return [{ shape: order.map((axis) => shape[axis]), dtype }];
	},
	pullback: ({ attributes: { order } }, g) => [
		g.transpose(order.map((_, axis) => order.indexOf(axis))),
	],
};

/** Axes in another order. Default: swaps the last two. */
export function transpose(x: Tensor, order?: readonly number[]): Tensor {
	const rank = x.shape.length;
	const axes = order ?? x.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
	return axes.length === rank && axes.every((axis, i) => axis === i)
		? x
		: apply(transposeOperation, [x], { order: axes });
}

const sliceOperation: Operation<"slice"> = {
	name: "slice",
	types: ([x], { axis, start, end }) => {
		const { shape, dtype } = x;
		const length = shape[axis];
		const isInside = (from: Dim, to: Dim) => isOpen(from) || isOpen(to) || from <= to;
		if (!isInside(0, start) || start === end || !isInside(start, end) || !isInside(end, length))
			fail("slice", `[${start}, ${end}) is outside axis ${axis} of size ${length}`, [x]);
		const left = subtractDims(end, start);
		return [{ shape: shape.map((n, i) => (i === axis ? left : n)), dtype }];
	},
	pullback: ({ inputs: [x], attributes: { axis, start, end } }, g) => [
		g.pad(axis, start, subtractDims(x.shape[axis], end)),
	],
};

/** The part [start, end) of an axis; negative positions count from its end. */
export function slice(x: Tensor, axis: number, start: Dim, end?: Dim): Tensor {
	const at = axisOf("slice", x, axis);
	const length = x.shape[at];
	const place = (n: Dim) => (!isOpen(n) && n < 0 ? addDims(length, n) : n);
	const window = { axis: at, start: place(start), end: place(end ?? length) };
	return window.start === 0 && window.end === length ? x : apply(sliceOperation, [x], window);
}

const padOperation: Operation<"pad"> = {
	name: "pad",
	types: ([x], { axis, before, after }) => {
		const { shape, dtype } = x;
		if ([before, after].some((n) => !isOpen(n) && n < 0))
			fail("pad", `negative padding ${before}, ${after}`, [x]);
		return [{ shape: shape.map((n, i) => (i === axis ? addDims(n, before, after) : n)), dtype }];
	},
	pullback: ({ inputs: [x], attributes: { axis, before } }, g) => [
		g.slice(axis, before, addDims(before, x.shape[axis])),
	],
};

/** Zeros before and after, along one axis. */
export function pad(x: Tensor, axis: number, before: Dim, after: Dim): Tensor {
	if (before === 0 && after === 0) return x;
	return apply(padOperation, [x], { axis: axisOf("pad", x, axis), before, after });
}

const concatOperation: Operation<"concat"> = {
	name: "concat",
	types: (inputs, { axis }) => {
		const first = inputs[0];
		for (const x of inputs) {
			const fits =
				x.shape.length === first.shape.length &&
				x.shape.every((n, i) => i === axis || n === first.shape[i]);
			if (!fits || x.dtype !== first.dtype)
				fail("concat", `all but axis ${axis} must agree, and the dtype`, inputs);
		}
		const total = addDims(...inputs.map((x) => x.shape[axis]));
		return [{ shape: first.shape.map((n, i) => (i === axis ? total : n)), dtype: first.dtype }];
	},
	pullback: ({ inputs, attributes: { axis } }, g) => {
		let start: Dim = 0;
		return inputs.map((x) => {
			const end = addDims(start, x.shape[axis]);
			const part = g.slice(axis, start, end);
			start = end;
			return part;
		});
	},
};

export function concat(parts: readonly Tensor[], axis: number): Tensor {
	const first = parts[0];
	if (!first) throw new RangeError("concat: nothing to join");
	return parts.length === 1
		? first
		: apply(concatOperation, parts, { axis: axisOf("concat", first, axis) });
}

/** Tensors of one shape joined along a new axis. */
export function stack(parts: readonly Tensor[], axis: number): Tensor {
	const rank = (parts[0]?.shape.length ?? 0) + 1;
	const at = axis < 0 ? axis + rank : axis;
	if (!(at >= 0 && at < rank))
		fail("stack", `axis ${axis} is outside a result of ${rank} axes`, parts);
	return concat(
		parts.map((x) => x.reshape([...x.shape.slice(0, at), 1, ...x.shape.slice(at)])),
		at,
	);
}

const splitOperation: Operation<"split"> = {
	name: "split",
	types: ([x], { axis, sizes }) => {
		const { shape, dtype } = x;
		const isSize = (n: Dim) => isOpen(n) || (Number.isInteger(n) && n >= 1);
		if (addDims(...sizes) !== shape[axis] || !sizes.every(isSize))
			fail("split", `sizes ${sizes.join(" + ")} do not make axis ${axis}`, [x]);
		return sizes.map((part) => ({ shape: shape.map((n, i) => (i === axis ? part : n)), dtype }));
	},
	// One concatenation; one slice per part would give as many sums over the whole.
	pullback: ({ outputs, attributes: { axis } }, _, cotangents) => [
		concat(
			outputs.map((y, i) => cotangents[i] ?? filled(0, y.shape, y.dtype)),
			axis,
		),
	],
};

/** Parts of the given sizes along an axis. */
export function split(x: Tensor, axis: number, sizes: Shape): readonly Tensor[] {
	const at = axisOf("split", x, axis);
	if (sizes.length === 1 && sizes[0] === x.shape[at]) return [x];
	return applyAll(splitOperation, [x], { axis: at, sizes });
}

/** Rotates an axis: elements that leave at the end enter at the front. */
export function roll(x: Tensor, axis: number, by: number): Tensor {
	const at = axisOf("roll", x, axis);
	const length = x.shape[at] as number;
	const cut = (((length - by) % length) + length) % length;
	return cut === 0 ? x : concat([x.slice(at, cut), x.slice(at, 0, cut)], at);
}

const flipOperation: Operation<"flip"> = {
	name: "flip",
	types: ([x]) => [{ shape: x.shape, dtype: x.dtype }],
	pullback: ({ attributes: { axis } }, g) => [flip(g, axis)],
};

/** An axis in reverse order. */
export function flip(x: Tensor, axis: number): Tensor {
	const at = axisOf("flip", x, axis);
	return x.shape[at] === 1 ? x : apply(flipOperation, [x], { axis: at });
}

const cumulativeOperation: Operation<"cumulativeSum"> = {
	name: "cumulativeSum",
	types: ([x]) => [{ shape: x.shape, dtype: x.dtype }],
	pullback: ({ attributes }, g) => [
		cumulativeSum(g, attributes.axis, { ...attributes, reverse: !attributes.reverse }),
	],
};

/** Running sums along an axis: including each element, or excluding it (`exclusive`); from the end (`reverse`). */
export const cumulativeSum = (
	x: Tensor,
	axis: number,
	options: { readonly exclusive?: boolean; readonly reverse?: boolean } = {},
): Tensor =>
	apply(cumulativeOperation, [x], {
		axis: axisOf("cumulativeSum", x, axis),
		exclusive: options.exclusive ?? false,
		reverse: options.reverse ?? false,
	});

/** Operations for axes whose size may be known only when the graph runs. */

const placesOperation: Operation<"placesAlong"> = {
	name: "placesAlong",
	types: ([x], { axis }) => [{ shape: [x.shape[axis]], dtype: "float32" }],
};

/** 0, 1, 2 … along an axis, as float32. */
export const placesAlong = (x: Tensor, axis: number): Tensor =>
	apply(placesOperation, [x], { axis });

const chunkedOperation: Operation<"chunked"> = {
	name: "chunked",
	types: ([x], { length, chunks }) => {
		const { shape, dtype } = x;
		return [{ shape: [...shape.slice(0, 2), chunks, length, ...shape.slice(3)], dtype }];
	},
	pullback: ({ inputs: [x], attributes: { length, chunks } }, g) => {
		const { shape } = x;
		const [front, back] = [shape.slice(0, 2), shape.slice(3)];
		return [g.reshape([...front, multiplyDims(chunks, length), ...back]).slice(2, 0, shape[2])];
	},
};

/**
 * Cuts the third axis into `chunks` chunks of a length, the last one padded with zeros: [batch, heads, chunks,
 * length, …].
 */
export const chunked = (x: Tensor, length: number, chunks: Dim): Tensor =>
	apply(chunkedOperation, [x], { length, chunks });

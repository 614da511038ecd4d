import { addDims, type Dim, isOpen, type Shape, subtractDims } from "../dims.js";
import { apply, applyAll, axisOf, fail, type Operation, type Tensor } from "../tensor.js";
import { filled } from "./sources.js";

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
	pullback: ({ attributes: { order } }, [g]) => [
		g ? g.transpose(order.map((_, axis) => order.indexOf(axis))) : null,
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
	pullback: ({ inputs: [x], attributes: { axis, start, end } }, [g]) => [
		g ? g.pad(axis, start, subtractDims(x.shape[axis], end)) : null,
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
	pullback: ({ inputs: [x], attributes: { axis, before } }, [g]) => [
		g ? g.slice(axis, before, addDims(before, x.shape[axis])) : null,
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
	pullback: ({ inputs, attributes: { axis } }, [g]) => {
		let start: Dim = 0;
		return inputs.map((x) => {
			const end = addDims(start, x.shape[axis]);
			const part = g ? g.slice(axis, start, end) : null;
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
	pullback: ({ outputs, attributes: { axis } }, cotangents) => [
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
	pullback: ({ attributes: { axis } }, [g]) => [g ? flip(g, axis) : null],
};

/** An axis in reverse order. */
export function flip(x: Tensor, axis: number): Tensor {
	const at = axisOf("flip", x, axis);
	return x.shape[at] === 1 ? x : apply(flipOperation, [x], { axis: at });
}

const cumulativeOperation: Operation<"cumulativeSum"> = {
	name: "cumulativeSum",
	types: ([x]) => [{ shape: x.shape, dtype: x.dtype }],
	pullback: ({ attributes }, [g]) => [
		g ? cumulativeSum(g, attributes.axis, { ...attributes, reverse: !attributes.reverse }) : null,
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

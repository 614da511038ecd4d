import { type Dim, isOpen } from "../dims.js";
import {
	apply,
	applyAll,
	axisOf,
	type DType,
	type FloatType,
	fail,
	isFloat,
	type Operation,
	type SegmentShift,
	sameShape,
	type Tensor,
} from "../tensor.js";
import { cumulativeSum } from "./shape.js";
import { constant, countedUp } from "./sources.js";

const gatherOperation: Operation<"gather"> = {
	name: "gather",
	types: (inputs, { axis }) => {
		const [x, indices] = inputs;
		if (indices.dtype !== "int32") fail("gather", "indices must be int32", inputs);
		const { shape, dtype } = x;
		return [
			{ shape: [...shape.slice(0, axis), ...indices.shape, ...shape.slice(axis + 1)], dtype },
		];
	},
	pullback: ({ inputs: [x, indices], attributes: { axis } }, g) => {
		if (!isFloat(x.dtype)) return [null, null];
		const count = x.shape[axis];
		if (axis === 0) {
			const rows = g.reshape([-1, ...x.shape.slice(1)]);
			return [scatterAdd(rows, indices.reshape([-1]), count), null];
		}
		// Bring the axis to the front, add the rows up there, and put it back.
		const front = [axis, ...x.shape.flatMap((_, i) => (i === axis ? [] : [i]))];
		const flat = g.reshape([...x.shape.slice(0, axis), -1, ...x.shape.slice(axis + 1)]);
		const rows = scatterAdd(flat.transpose(front), indices.reshape([-1]), count);
		return [rows.transpose(front.map((_, i) => front.indexOf(i))), null];
	},
};

/** Rows (or slices along another axis) of `x` at `indices`. */
export const gather = (x: Tensor, indices: Tensor, axis = 0): Tensor =>
	apply(gatherOperation, [x, indices], { axis: axisOf("gather", x, axis) });

const scatterOperation: Operation<"scatterAdd"> = {
	name: "scatterAdd",
	types: (inputs, { rows }) => {
		const [x, indices] = inputs;
		if (indices.dtype !== "int32" || indices.shape.length !== 1)
			fail("scatterAdd", "indices must be an int32 vector", inputs);
		if (indices.shape[0] !== x.shape[0]) fail("scatterAdd", "one index a row is needed", inputs);
		return [{ shape: [rows, ...x.shape.slice(1)], dtype: x.dtype }];
	},
	pullback: ({ inputs: [, indices] }, g) => [gather(g, indices), null],
};

/** A tensor of `rows` rows in which row i is the sum of the rows of `x` whose index is i. */
export const scatterAdd = (x: Tensor, indices: Tensor, rows: Dim): Tensor =>
	apply(scatterOperation, [x, indices], { rows });

const pickOperation: Operation<"pick"> = {
	name: "pick",
	types: (inputs, { axis }) => {
		const [x, indices] = inputs;
		const fits =
			x.shape.length === indices.shape.length &&
			x.shape.every((n, i) => i === axis || n === indices.shape[i]);
		if (indices.dtype !== "int32" || !fits)
			fail("pick", `indices must be int32 and agree in all but axis ${axis}`, inputs);
		return [{ shape: indices.shape, dtype: x.dtype }];
	},
	pullback: ({ inputs: [x, indices], attributes: { axis } }, g) => {
		if (!isFloat(x.dtype)) return [null, null];
		return [placeAdd(g, indices, axis, x.shape[axis]), null];
	},
};

/** For each position of `indices`, the element of `x` at that index along the axis and at the same position elsewhere. */
export const pick = (x: Tensor, indices: Tensor, axis: number): Tensor =>
	apply(pickOperation, [x, indices], { axis: axisOf("pick", x, axis) });

const placeOperation: Operation<"placeAdd"> = {
	name: "placeAdd",
	types: (inputs, { axis, length }) => {
		const [x, indices] = inputs;
		if (indices.dtype !== "int32" || !sameShape(x.shape, indices.shape))
			fail("placeAdd", "indices must be int32 and of the values' shape", inputs);
		return [{ shape: x.shape.map((n, i) => (i === axis ? length : n)), dtype: x.dtype }];
	},
	pullback: ({ inputs: [, indices], attributes: { axis } }, g) => [pick(g, indices, axis), null],
};

/** The reverse of `pick`: adds each value to its index along an axis of the given length. */
export const placeAdd = (x: Tensor, indices: Tensor, axis: number, length: Dim): Tensor =>
	apply(placeOperation, [x, indices], { axis: axisOf("placeAdd", x, axis), length });

const fits = (count: number, length: Dim) => isOpen(length) || count <= length;

const topOperation: Operation<"topK"> = {
	name: "topK",
	types: ([x], { axis, count }) => {
		const { shape, dtype } = x;
		if (dtype === "bool") fail("topK", "needs numbers", [x]);
		if (!(Number.isInteger(count) && count >= 1 && fits(count, shape[axis])))
			fail("topK", `cannot take ${count} of axis ${axis}`, [x]);
		const out = shape.map((n, i) => (i === axis ? count : n));
		return [
			{ shape: out, dtype },
			{ shape: out, dtype: "int32" },
		];
	},
	pullback: (node, g) => {
		const { axis } = node.attributes;
		const [x] = node.inputs as [Tensor];
		return [placeAdd(g, node.outputs[1], axis, x.shape[axis])];
	},
};

/** The largest values along an axis, in descending order, and their indices. Gradients flow to the chosen values. */
export function topK(
	x: Tensor,
	count: number,
	axis = -1,
): { readonly values: Tensor; readonly indices: Tensor } {
	const at = axisOf("topK", x, axis);
	const [values, indices] = applyAll(topOperation, [x], { axis: at, count }) as [Tensor, Tensor];
	return { values, indices };
}

/** A new last axis of the given length: 1 at each index, 0 elsewhere. */
export function oneHot(indices: Tensor, length: number, dtype: DType = "float32"): Tensor {
	if (indices.dtype !== "int32") fail("oneHot", "indices must be int32", [indices]);
	return indices
		.reshape([...indices.shape, 1])
		.equal(countedUp(length))
		.cast(dtype);
}

/** Adjoint of each other: the pullback of one is the other. */
const sumsOperation: Operation<"segmentSums"> = {
	name: "segmentSums",
	types: (inputs) => {
		const [{ shape, dtype }] = inputs;
		const n = shape.at(-1);
		if (typeof n !== "number" || !isFloat(dtype))
			fail("segmentSums", "needs a float tensor with a last axis of known size", inputs);
		return [{ shape: [...shape, n], dtype }];
	},
	pullback: ({ attributes: { shift } }, g) => [segmentTotals(g, shift)],
};

const totalsOperation: Operation<"segmentTotals"> = {
	name: "segmentTotals",
	types: (inputs) => {
		const [x] = inputs;
		const [rows, columns] = x.shape.slice(-2);
		if (typeof rows !== "number" || rows !== columns || !isFloat(x.dtype))
			fail("segmentTotals", "needs square float matrices of known size", inputs);
		return [{ shape: x.shape.slice(0, -1), dtype: x.dtype }];
	},
	pullback: ({ attributes: { shift } }, g) => [segmentSums(g, shift)],
};

/** Σ x_t over j < t ≤ i + shift, at (i, j); 0 where there is no such t. [..., n] → [..., n, n] */
export const segmentSums = (x: Tensor, shift: SegmentShift): Tensor =>
	apply(sumsOperation, [x], { shift });

/** Σ x_ij over all j < t ≤ i + shift, at t. [..., n, n] → [..., n] */
export const segmentTotals = (x: Tensor, shift: SegmentShift): Tensor =>
	apply(totalsOperation, [x], { shift });

/** Up to this length the sums are one small matrix product. */
const longestProduct = 64;

const tables = new Map<string, Tensor>();

/** A constant matrix. Layers and graphs share it: the largest has 64³ values. */
function table(
	name: string,
	[rows, columns]: readonly [number, number],
	holds: (i: number, j: number) => boolean,
	dtype: FloatType,
): Tensor {
	const key = `${name} ${columns} ${dtype}`;
	const known = tables.get(key);
	if (known) return known;
	const data = new Float64Array(rows * columns);
	for (let i = 0; i < rows; i++)
		for (let j = 0; j < columns; j++) data[i * columns + j] = Number(holds(i, j));
	const made = constant(data, [rows, columns], dtype);
	tables.set(key, made);
	return made;
}

/** Row i n + j holds the t of (i, j). */
const between = (n: number, shift: SegmentShift, dtype: FloatType) =>
	table(
		`between${shift}`,
		[n * n, n],
		(ij, t) => ij % n < t && t <= Math.floor(ij / n) + shift,
		dtype,
	);

/** Whether j < t, at (t, j). */
const later = (n: number, dtype: FloatType) => table("later", [n, n], (t, j) => j < t, dtype);

/**
 * Sums taken directly, never as differences of running sums: in single precision, one long segment would cost a
 * difference the digits of every short one.
 */
export const directSegments = {
	sums(x: Tensor, shift: SegmentShift): Tensor {
		const n = x.shape.at(-1) as number;
		const dtype = x.dtype as FloatType;
		const shape = [...x.shape, n];
		if (n <= longestProduct)
			return x
				.reshape([-1, n])
				.matmul(between(n, shift, dtype), { transposeB: true })
				.reshape(shape);
		// Row t of column j holds x_t if j < t; running sums down the rows end at i.
		const columns = x
			.reshape([...x.shape, 1])
			.expand(shape)
			.mul(later(n, dtype));
		return cumulativeSum(columns, -2, { exclusive: shift === -1 });
	},
	totals(x: Tensor, shift: SegmentShift): Tensor {
		const n = x.shape.at(-1) as number;
		const dtype = x.dtype as FloatType;
		const shape = x.shape.slice(0, -1);
		if (n <= longestProduct)
			return x
				.reshape([-1, n * n])
				.matmul(between(n, shift, dtype))
				.reshape(shape);
		const below = cumulativeSum(x, -2, { exclusive: shift === -1, reverse: true });
		return below.mul(later(n, dtype)).sum(-1);
	},
};

/** Differences of running sums in double precision: fewer passes, where that is no slower than single. */
export const segmentDifferences = {
	sums(x: Tensor, shift: SegmentShift): Tensor {
		const [shape, n] = [x.shape, x.shape.at(-1) as number];
		const upTo = cumulativeSum(x.cast("float64"), -1);
		const rows = shift === 0 ? upTo : upTo.sub(x.cast("float64"));
		const differences = rows
			.reshape([...shape, 1])
			.sub(upTo.reshape([...shape.slice(0, -1), 1, n]));
		const inside = table(`inside${shift}`, [n, n], (i, j) => j < i + shift, x.dtype as FloatType);
		return differences.cast(x.dtype).mul(inside);
	},
	totals(x: Tensor, shift: SegmentShift): Tensor {
		const n = x.shape.at(-1) as number;
		const inside = table(`inside${shift}`, [n, n], (i, j) => j < i + shift, x.dtype as FloatType);
		const kept = x.mul(inside);
		// Pairs with i + shift ≥ t, less those with j ≥ t as well.
		const ends = cumulativeSum(kept.sum(-1).cast("float64"), -1, {
			reverse: true,
			exclusive: shift === -1,
		});
		const starts = cumulativeSum(kept.sum(-2).cast("float64"), -1, { reverse: true });
		return ends.sub(starts).cast(x.dtype);
	},
};

import type { SegmentShift } from "../operations.js";
import { apply, type FloatType, fail, isFloat, type Operation, type Tensor } from "../tensor.js";
import { cumulativeSum } from "./shape.js";
import { constant } from "./sources.js";

/** Adjoint of each other: the pullback of one is the other. */
const sumsOperation: Operation<"segmentSums"> = {
	name: "segmentSums",
	types: (inputs) => {
		const [x] = inputs as [Tensor];
		const n = x.shape.at(-1);
		if (typeof n !== "number" || !isFloat(x.dtype))
			fail("segmentSums", "needs a float tensor with a last axis of known size", inputs);
		return [{ shape: [...x.shape, n], dtype: x.dtype }];
	},
	pullback: ({ attributes: { shift } }, [g]) => [g ? segmentTotals(g, shift) : null],
};

const totalsOperation: Operation<"segmentTotals"> = {
	name: "segmentTotals",
	types: (inputs) => {
		const [x] = inputs as [Tensor];
		const [rows, columns] = x.shape.slice(-2);
		if (typeof rows !== "number" || rows !== columns || !isFloat(x.dtype))
			fail("segmentTotals", "needs square float matrices of known size", inputs);
		return [{ shape: x.shape.slice(0, -1), dtype: x.dtype }];
	},
	pullback: ({ attributes: { shift } }, [g]) => [g ? segmentSums(g, shift) : null],
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

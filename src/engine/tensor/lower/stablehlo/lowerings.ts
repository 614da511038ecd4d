import { inOrder } from "../../gradients.js";
import { partsOf } from "../../ops/scan.js";
import type { Node, PoolWindow, Sweep } from "../../tensor.js";
import { long, longs, matrix, type Value, type ValueType } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** A loop over the positions that carries the state and the joined outputs. */
export function scan(node: Node<"scan">, write: StableHloWriter): readonly Value[] {
	const { step, length, sequenceAxes, outputAxes, reverse } = node.attributes;
	const { initial, sequences, captured, joined, before } = partsOf(node);
	const [state, read, used] = [initial, sequences, captured].map((list) =>
		list.map((x) => write.value(x)),
	) as [Value[], Value[], Value[]];
	const joins = [...joined, ...before].map((x) => write.filled(0, write.typeOf(x)));
	const joinAxes = [...outputAxes, ...before.map(() => 0)];
	const count = write.scalar(0, "i32");
	const carried = [count, ...state, ...read, ...used, ...joins];

	const goesOn = write.region(carried, ([n]) => [
		write.compare(n, write.scalar(length, "i32"), "LT"),
	]);
	const body = write.region(carried, ([n, ...given]) => {
		const number = (name: string, a: Value, b: Value) => write.elementwise(name, [a, b], []);
		const zero = write.scalar(0, "i32");
		const place = reverse ? number("subtract", write.scalar(length - 1, "i32"), n) : n;
		const starts = (x: Value, axis: number) => x.shape.map((_, i) => (i === axis ? place : zero));
		const values = given.splice(0, state.length);
		const rows = given.splice(0, read.length);
		const outside = given.splice(0, used.length);
		step.state.forEach((x, i) => {
			write.bind(x, values[i]);
		});
		captured.forEach((x, i) => {
			write.bind(x, outside[i]);
		});
		const results = [...step.next, ...step.outputs];
		const needed = new Set(inOrder(results, (x) => captured.includes(x)));
		step.slices.forEach((x, i) => {
			if (!needed.has(x.node)) return;
			const [row, axis] = [rows[i], sequenceAxes[i]];
			const sizes = row.shape.map((size, at) => (at === axis ? 1 : size));
			const slice = write.operation(
				"dynamic_slice",
				[row, ...starts(row, axis)],
				{ shape: sizes, type: row.type },
				{ slice_sizes: longs(sizes) },
			);
			write.bind(x, write.reshape(slice, write.fixed(x.shape)));
		});
		const computed = results.map((x) => write.expression(x));
		const next = computed.slice(0, state.length);
		const parts = [...computed.slice(state.length), ...values];
		const joining = given.map((whole, i) => {
			const axis = joinAxes[i];
			const part = parts[i];
			const shape = whole.shape.map((size, at) => (at === axis ? 1 : size));
			const operands = [whole, write.reshape(part, shape), ...starts(whole, axis)];
			return write.operation("dynamic_update_slice", operands, whole);
		});
		const following = number("add", n, write.scalar(1, "i32"));
		return [following, ...next, ...rows, ...outside, ...joining];
	});
	const results = write.operations("while", carried, carried, { regions: [goesOn, body] });
	return [...results.slice(1, 1 + state.length), ...results.slice(results.length - joins.length)];
}

/** A convolution of [batch, in, length] with [out, in / groups, kernel]. */
export function convolution(
	x: Value,
	weights: Value,
	sweep: Sweep,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const written = depthwise(x, weights, sweep, result, write);
	if (written) return written;
	return write.convolution(x, weights, result, {
		window_strides: longs([1]),
		padding: matrix([sweep.padding]),
		lhs_dilation: longs([1]),
		rhs_dilation: longs([1]),
		window_reversal: "array<i1: false>",
		dimension_numbers: "#stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>",
		feature_group_count: long(sweep.groups),
		batch_group_count: long(1),
	});
}

const paddedLast = (
	x: Value,
	[before, after]: Sweep["padding"],
	value: number,
	write: StableHloWriter,
) => write.pad(x, value, [0, 0, before], [0, 0, after]);

/** The largest of each window, the first of equal ones, and its place in the flattened x. */
export function largestInWindows(
	x: Value,
	{ kernel, stride, padding }: PoolWindow,
	write: StableHloWriter,
): readonly Value[] {
	const [batch, channels, length] = x.shape;
	const count = batch * channels * length;
	const places = write.reshape(write.iota({ shape: [count], type: "i32" }, 0), x.shape);
	const values = paddedLast(x, padding, Number.NEGATIVE_INFINITY, write);
	const indices = paddedLast(places, padding, 0, write);
	const steps = Math.floor((values.shape[2] - kernel) / stride);
	/** What the windows see at one position of the kernel. */
	const seen = (t: Value, k: number) =>
		write.slices(t, [0, 0, k], [batch, channels, k + steps * stride + 1], [1, 1, stride]);
	const taps = Array.from(
		{ length: kernel },
		(_, k) => [seen(values, k), seen(indices, k)] as const,
	);
	return taps.reduce(([best, at], [value, index]) => {
		const isLarger = write.compare(value, best, "GT");
		return [write.select(isLarger, value, best), write.select(isLarger, index, at)];
	});
}

/** With more terms the program gets too long, and the convolution of the library is used instead. */
const mostTerms = 64;

/**
 * Writes a convolution whose groups have one output channel each as multiplications and additions if these are few,
 * because GPU libraries are slow with many groups. Otherwise returns undefined.
 */
function depthwise(
	whole: Value,
	weights: Value,
	{ padding, groups }: Sweep,
	{ shape }: ValueType,
	write: StableHloWriter,
): Value | undefined {
	const [out, inside, kernel] = weights.shape;
	const [batch, , length] = shape;
	if (groups === 1 || out !== groups) return undefined;
	const x = paddedLast(whole, padding, 0, write);
	const times = (a: Value, b: Value) => write.elementwise("multiply", [a, b], a.shape);
	// One term for each position of the kernel; groups have one input channel.
	if (inside === 1 && kernel <= mostTerms)
		return Array.from({ length: kernel }, (_, k) => {
			const tap = write.reshape(write.slice(weights, 2, k, k + 1), [groups]);
			return times(write.slice(x, 2, k, k + length), write.broadcast(tap, shape, [1]));
		}).reduce((a, b) => write.elementwise("add", [a, b], shape));
	// One sum for each position of the result, of a batch of one: the gradient of the weights is such a convolution.
	if (batch > 1 || length > mostTerms) return undefined;
	const rows = write.reshape(x, [groups, inside, x.shape[2]]);
	const sums = Array.from({ length }, (_, position) => {
		const terms = times(write.slice(rows, 2, position, position + kernel), weights);
		return write.reshape(write.reduce("add", terms, [1, 2]), [groups, 1]);
	});
	return write.reshape(write.concatenate(sums, 1), shape);
}

const index: ValueType = { shape: [], type: "i32" };

/** The largest values along an axis in descending order, and their indices; of equal values the first comes first. */
export function largestAlong(
	x: Value,
	axis: number,
	count: number,
	write: StableHloWriter,
): readonly Value[] {
	const indices = write.iota({ shape: x.shape, type: "i32" }, axis);
	if (count === 1) return largest(x, indices, axis, write);
	const value = { shape: [], type: x.type };
	const isBefore = write.region([value, value, index, index], ([a, b]) => [
		write.compare(a, b, "GT"),
	]);
	return write
		.operations("sort", [x, indices], [x, indices], {
			properties: { dimension: long(axis), is_stable: "true" },
			regions: [isBefore],
		})
		.map((sorted) => write.slice(sorted, axis, 0, count));
}

/** The largest value alone, found in one pass. */
function largest(x: Value, indices: Value, axis: number, write: StableHloWriter): readonly Value[] {
	const value = { shape: [], type: x.type };
	const larger = write.region([value, index, value, index], (given) => {
		const [a, i, b, j] = given as [Value, Value, Value, Value];
		const both = (name: string, p: Value, q: Value) => write.elementwise(name, [p, q], []);
		const isEqual = write.compare(a, b, "EQ");
		const isFirst = both("and", isEqual, write.compare(i, j, "LT"));
		const isChosen = both("or", write.compare(a, b, "GT"), isFirst);
		return [write.select(isChosen, a, b), write.select(isChosen, i, j)];
	});
	const least = x.type === "i32" ? -(2 ** 31) : Number.NEGATIVE_INFINITY;
	const shape = x.shape.filter((_, i) => i !== axis);
	const kept = x.shape.map((n, i) => (i === axis ? 1 : n));
	return write
		.operations(
			"reduce",
			[x, indices, write.scalar(least, x.type), write.scalar(2 ** 31 - 1, "i32")],
			[
				{ shape, type: x.type },
				{ shape, type: "i32" },
			],
			{ properties: { dimensions: longs([axis]) }, regions: [larger] },
		)
		.map((value) => write.reshape(value, kept));
}

/**
 * Sums of values by index, in two forms. `scatter` adds with atomics on a GPU, so that floats are added in an order
 * that differs from run to run, and waits where many values meet at one target. Comparing every index with every
 * target has neither fault, and costs values × targets: it is used up to this many comparisons.
 */
const mostComparisons = 2 ** 24;

/** Row i of the result is the sum of the rows of x whose index is i. */
export function addedRows(
	x: Value,
	indices: Value,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const [count, targets] = [x.shape[0], result.shape[0]];
	const isFloat = x.type === "f32" || x.type === "f64";
	if (!isFloat || count * targets > mostComparisons) {
		const rest = x.shape.slice(1).map((_, i) => i + 1);
		return write.scatterAdd(indices, x, result, {
			update_window_dims: `[${rest.join(", ")}]`,
			inserted_window_dims: "[0]",
			scatter_dims_to_operand_dims: "[0]",
			index_vector_dim: "1",
		});
	}
	if (x.shape.length === 1) return write.reduce("add", spread(x, indices, 0, targets, write), [0]);
	const chosen = write.convert(matches(indices, 0, targets, write), x.type); // [count, targets]
	return write.dot(chosen, x, { batch: [], contracted: [[0, 0]] });
}

/** Each value added at its index along an axis. */
export function addedAlong(
	x: Value,
	indices: Value,
	axis: number,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const [count, targets] = [x.shape[axis], result.shape[axis]];
	const values = x.shape.reduce((n, m) => n * m, 1);
	if (count === 1 || values * targets <= mostComparisons)
		return write.reduce("add", spread(x, indices, axis, targets, write), [axis]);
	const others = x.shape.flatMap((_, i) => (i === axis ? [] : [i])).join(", ");
	return write.scatterAdd(indices, x, result, {
		inserted_window_dims: `[${axis}]`,
		input_batching_dims: `[${others}]`,
		scatter_indices_batching_dims: `[${others}]`,
		scatter_dims_to_operand_dims: `[${axis}]`,
		index_vector_dim: String(x.shape.length),
	});
}

const withTargets = (shape: readonly number[], axis: number, targets: number) => [
	...shape.slice(0, axis + 1),
	targets,
	...shape.slice(axis + 1),
];

/** Which target each index names: a new axis after `axis`, of as many places as there are targets. */
function matches(indices: Value, axis: number, targets: number, write: StableHloWriter): Value {
	const shape = withTargets(indices.shape, axis, targets);
	const others = indices.shape.map((_, i) => (i <= axis ? i : i + 1));
	return write.compare(
		write.broadcast(indices, shape, others),
		write.iota({ shape, type: "i32" }, axis + 1),
		"EQ",
	);
}

/** Each value at its target, and zeros elsewhere. */
function spread(
	x: Value,
	indices: Value,
	axis: number,
	targets: number,
	write: StableHloWriter,
): Value {
	const chosen = matches(indices, axis, targets, write);
	const others = x.shape.map((_, i) => (i <= axis ? i : i + 1));
	return write.select(
		chosen,
		write.broadcast(x, chosen.shape, others),
		write.filled(0, { shape: chosen.shape, type: x.type }),
	);
}

import { activationParts } from "../../ops/elementwise.js";
import { segmentDifferences } from "../../ops/gather.js";
import { logSoftmaxParts, rmsNormParts, softmaxParts } from "../../ops/reductions.js";
import { type Node, type OperationName, ofPlainOperations, type Tensor } from "../../tensor.js";
import * as lowerings from "./lowerings.js";
import { elementTypes, longs, type Value } from "./types.js";
import type { Direction, StableHloWriter } from "./writer.js";

/** Writes an operation as StableHLO and returns its results. */
type StableHloLowering<K extends OperationName> = (
	node: Node<K>,
	write: StableHloWriter,
) => readonly Value[];

type StableHloTable = { readonly [K in OperationName]: StableHloLowering<K> };

const given = ({ inputs }: { readonly inputs: readonly Tensor[] }, write: StableHloWriter) =>
	inputs.map((x) => write.value(x)) as [Value, Value, Value];

const result = ({ outputs }: { readonly outputs: readonly Tensor[] }, write: StableHloWriter) =>
	write.typeOf(outputs[0]);

/** One operation on each element of the operands. */
const each =
	(name: string): StableHloLowering<OperationName> =>
	(node, write) => [write.elementwise(name, given(node, write), result(node, write).shape)];

const comparison =
	(direction: Direction): StableHloLowering<OperationName> =>
	(node, write) => {
		const [a, b] = given(node, write);
		return [write.compare(a, b, direction, result(node, write).shape)];
	};

const inParts =
	(parts: (x: Tensor) => Tensor): StableHloLowering<OperationName> =>
	({ inputs: [x] }, write) => [write.expression(parts(x))];

const inPartsAlong =
	(parts: (x: Tensor, axis: number) => Tensor): StableHloLowering<"softmax" | "logSoftmax"> =>
	({ inputs: [x], attributes: { axis } }, write) => [write.expression(parts(x, axis))];

const reduction =
	(
		name: "add" | "maximum",
		before: (x: Value, write: StableHloWriter) => Value = (x) => x,
	): StableHloLowering<"sum" | "sumSquares" | "max"> =>
	(node, write) => {
		const [x] = given(node, write);
		const reduced = write.reduce(name, before(x, write), node.attributes.axes);
		return [write.reshape(reduced, result(node, write).shape)];
	};

const source: StableHloLowering<"input" | "parameter"> = ({ attributes: { name } }) => {
	throw new Error(`"${name}" is an argument of the program, which the program binds`);
};

const stableHloTable: StableHloTable = {
	input: source,
	parameter: source,
	constant: (node, write) => [write.constant(node.attributes.data, result(node, write))],

	...ofPlainOperations((_, operation) => each(operation)),
	less: comparison("LT"),
	greaterEqual: comparison("GE"),
	equal: comparison("EQ"),
	relu: (node, write) => {
		const [x] = given(node, write);
		return [write.elementwise("maximum", [x, write.scalar(0, x.type)], x.shape)];
	},
	cast: (node, write) => [write.convert(given(node, write)[0], elementTypes[node.attributes.to])],

	softplus: inParts(activationParts.softplus),
	logSigmoid: inParts(activationParts.logSigmoid),
	silu: inParts(activationParts.silu),
	gelu: inParts(activationParts.gelu),
	rmsNorm: ({ inputs: [x], attributes: { epsilon } }, write) => [
		write.expression(rmsNormParts(x, epsilon)),
	],

	sum: reduction("add"),
	sumSquares: reduction("add", (x, write) => write.elementwise("multiply", [x, x], x.shape)),
	max: reduction("maximum"),
	softmax: inPartsAlong(softmaxParts),
	logSoftmax: inPartsAlong(logSoftmaxParts),
	cumulativeSum,
	segmentSums: ({ inputs: [x], attributes: { shift } }, write) => [
		write.expression(segmentDifferences.sums(x, shift)),
	],
	segmentTotals: ({ inputs: [x], attributes: { shift } }, write) => [
		write.expression(segmentDifferences.totals(x, shift)),
	],

	reshape: (node, write) => [write.reshape(given(node, write)[0], result(node, write).shape)],
	expand: (node, write) => [write.broadcast(given(node, write)[0], result(node, write).shape)],
	transpose: (node, write) => [write.transpose(given(node, write)[0], node.attributes.order)],
	slice: (node, write) => {
		const [start, end] = write.fixed([node.attributes.start, node.attributes.end]);
		return [write.slice(given(node, write)[0], node.attributes.axis, start, end)];
	},
	pad: (node, write) => {
		const [x] = given(node, write);
		const along = (count: number) =>
			x.shape.map((_, i) => (i === node.attributes.axis ? count : 0));
		const [before, after] = write.fixed([node.attributes.before, node.attributes.after]);
		return [write.pad(x, 0, along(before), along(after))];
	},
	concat: (node, write) => [write.concatenate(given(node, write), node.attributes.axis)],
	split: (node, write) => {
		const [x] = given(node, write);
		let end = 0;
		return write.fixed(node.attributes.sizes).map((size) => {
			end += size;
			return write.slice(x, node.attributes.axis, end - size, end);
		});
	},
	flip: (node, write) => {
		const [x] = given(node, write);
		return [write.operation("reverse", [x], x, { dimensions: longs([node.attributes.axis]) })];
	},
	placesAlong: (node, write) => [write.iota(result(node, write), 0)],
	chunked: (node, write) => {
		const [x] = given(node, write);
		const { shape } = result(node, write);
		const whole = shape[2] * shape[3];
		const none = x.shape.map(() => 0);
		const missing = x.shape.map((n, i) => (i === 2 ? whole - n : 0));
		return [write.reshape(write.pad(x, 0, none, missing), shape)];
	},

	gather,
	scatterAdd: (node, write) => {
		const [x, indices] = given(node, write);
		return [lowerings.addedRows(x, indices, result(node, write), write)];
	},
	pick,
	placeAdd: (node, write) => {
		const [x, indices] = given(node, write);
		return [lowerings.addedAlong(x, indices, node.attributes.axis, result(node, write), write)];
	},
	topK: (node, write) =>
		lowerings.largestAlong(
			given(node, write)[0],
			node.attributes.axis,
			node.attributes.count,
			write,
		),

	matmul,
	conv: (node, write) => {
		const [x, weights] = given(node, write);
		return [lowerings.convolution(x, weights, node.attributes, result(node, write), write)];
	},
	maxPool: (node, write) =>
		lowerings.largestInWindows(given(node, write)[0], node.attributes, write),
	rotary,
	scan: lowerings.scan,
	allReduceSum: (node, write) => [write.allReduceSum(given(node, write)[0])],
};

export const lowered = (node: Node, write: StableHloWriter): readonly Value[] =>
	(stableHloTable[node.operation.name] as StableHloLowering<OperationName>)(node, write);

/** Sums over a window that reaches from the first (with `reverse`, the last) element of the axis to each. */
function cumulativeSum(node: Node<"cumulativeSum">, write: StableHloWriter): readonly Value[] {
	const [x] = given(node, write);
	const { axis, exclusive, reverse } = node.attributes;
	const length = x.shape[axis];
	const along = <T>(here: T, elsewhere: T) =>
		x.shape.map((_, i) => (i === axis ? here : elsewhere));
	const margins = reverse ? ([0, length - 1] as const) : ([length - 1, 0] as const);
	const sums = write.windowSum(x, {
		dimensions: along(length, 1),
		padding: along<readonly [number, number]>(margins, [0, 0]),
	});
	if (!exclusive) return [sums];
	const [before, after] = [along(reverse ? -1 : 1, 0), along(reverse ? 1 : -1, 0)];
	return [write.pad(sums, 0, before, after)];
}

function gather(node: Node<"gather">, write: StableHloWriter): readonly Value[] {
	const [x, indices] = given(node, write);
	const { axis } = node.attributes;
	const places = indices.shape.length;
	const offsets = x.shape.flatMap((_, i) => (i === axis ? [] : [i < axis ? i : i + places - 1]));
	const sizes = x.shape.map((n, i) => (i === axis ? 1 : n));
	return [
		write.gather(x, indices, result(node, write), sizes, {
			offset_dims: `[${offsets.join(", ")}]`,
			collapsed_slice_dims: `[${axis}]`,
			start_index_map: `[${axis}]`,
			index_vector_dim: `${places}`,
		}),
	];
}

function pick(node: Node<"pick">, write: StableHloWriter): readonly Value[] {
	const [x, indices] = given(node, write);
	const { axis } = node.attributes;
	const others = x.shape.flatMap((_, i) => (i === axis ? [] : [i])).join(", ");
	const sizes = x.shape.map(() => 1);
	return [
		write.gather(x, indices, result(node, write), sizes, {
			collapsed_slice_dims: `[${axis}]`,
			operand_batching_dims: `[${others}]`,
			start_indices_batching_dims: `[${others}]`,
			start_index_map: `[${axis}]`,
			index_vector_dim: `${x.shape.length}`,
		}),
	];
}

/** Whether a tensor holds numbers written in the graph: a table of sums, or of sines and cosines. */
function isTable({ node }: Tensor): boolean {
	const { name } = node.operation;
	if (name === "constant") return true;
	const isView = name === "reshape" || name === "transpose" || name === "expand";
	return isView && isTable(node.inputs[0]);
}

function matmul(node: Node<"matmul">, write: StableHloWriter): readonly Value[] {
	const [left, right] = given(node, write);
	const { shape } = result(node, write);
	const rank = shape.length - 2;
	const { transposeA, transposeB } = node.attributes;
	/** The result's axis that each batch axis of a side belongs to; axes that are repeated are dropped. */
	const side = (x: Value, other: Value) => {
		const batch = x.shape.slice(0, -2);
		const axes = batch.map((_, i) => rank - batch.length + i);
		const isKept = (axis: number) => {
			const [n, m] = [x, other].map((t) => t.shape[axis - rank + t.shape.length - 2]);
			return n !== 1 || m === undefined || m === 1;
		};
		const kept = axes.filter(isKept);
		const sizes = kept.map((axis) => shape[axis]);
		return { axes: kept, value: write.reshape(x, [...sizes, ...x.shape.slice(-2)]) };
	};
	const [a, b] = [side(left, right), side(right, left)];
	const shared = a.axes.filter((axis) => b.axes.includes(axis));
	const batch = shared.map((axis) => [a.axes.indexOf(axis), b.axes.indexOf(axis)] as const);
	const inner = [
		a.axes.length + (transposeA ? 0 : 1),
		b.axes.length + (transposeB ? 1 : 0),
	] as const;
	// Sums of many terms and Fourier transforms would lose what they are exact for.
	const exact = node.inputs.some(isTable);
	const product = write.dot(a.value, b.value, { batch, contracted: [inner] }, exact);
	const apart = (axes: readonly number[]) => axes.filter((axis) => !shared.includes(axis));
	const order = [...shared, ...apart(a.axes), rank, ...apart(b.axes), rank + 1];
	const sorted = [...order].sort((p, q) => p - q).map((axis) => order.indexOf(axis));
	return [write.reshape(write.transpose(product, sorted), shape)];
}

function rotary(node: Node<"rotary">, write: StableHloWriter): readonly Value[] {
	const [x, cosine, sine] = given(node, write);
	const half = x.shape[3] / 2;
	const shape = [...x.shape.slice(0, 3), half];
	const [c, s] = [cosine, sine].map((t) => write.broadcast(t, shape, [0, 2, 3])) as [Value, Value];
	const [a, b] = [write.slice(x, 3, 0, half), write.slice(x, 3, half, 2 * half)];
	const both = (name: string, p: Value, q: Value) => write.elementwise(name, [p, q], shape);
	const first = both("subtract", both("multiply", a, c), both("multiply", b, s));
	const second = both("add", both("multiply", a, s), both("multiply", b, c));
	return [write.concatenate([first, second], 3)];
}

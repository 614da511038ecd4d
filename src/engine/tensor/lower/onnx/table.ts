import { type Dim, divideDims, isOpen, multiplyDims } from "../../dims.js";
import { tapwise } from "../../ops/conv.js";
import { activationParts } from "../../ops/elementwise.js";
import { directSegments } from "../../ops/gather.js";
import { matrixSizes } from "../../ops/matmul.js";
import { logSoftmaxParts, rmsNormParts } from "../../ops/reductions.js";
import { partsOf } from "../../ops/scan.js";
import { packed } from "../../ops/sources.js";
import {
	elementCount,
	type Node,
	type OperationName,
	ofPlainOperations,
	type Tensor,
} from "../../tensor.js";
import { type OnnxWriter, onnxType } from "./writer.js";

/** Writes an operation as ONNX nodes and returns the names of its results. */
type OnnxLowering<K extends OperationName> = (
	node: Node<K>,
	write: OnnxWriter,
) => readonly string[];

type OnnxTable = { readonly [K in OperationName]: OnnxLowering<K> };

const names = ({ inputs }: Node, write: OnnxWriter) => inputs.map((x) => write.name(x));

/** One ONNX node with the same operands. */
const same =
	(type: string): OnnxLowering<OperationName> =>
	(node, write) => [write.node(type, names(node, write))];

/** One ONNX node with the same operands and an axis. */
const alongAxis =
	(type: string): OnnxLowering<"concat" | "gather" | "pick" | "softmax"> =>
	(node, write) => [write.node(type, names(node as Node, write), { axis: node.attributes.axis })];

const reduction =
	(type: string): OnnxLowering<"sum" | "sumSquares" | "max"> =>
	({ inputs: [x], attributes: { axes } }, write) => [
		write.node(type, [write.name(x), write.integers(axes)], { keepdims: 1 }),
	];

/** Composed of simpler operations, if ONNX has no such operator or its values would not match the gradients. */
const inParts =
	(parts: (x: Tensor) => Tensor): OnnxLowering<OperationName> =>
	({ inputs: [x] }, write) => [write.expression(parts(x))];

const source: OnnxLowering<"input" | "parameter"> = ({ attributes: { name } }) => [name];

const onnxTable: OnnxTable = {
	input: source,
	parameter: source,
	constant: ({ attributes: { data, shape, dtype } }, write) => [
		write.constant(packed(data, dtype), shape, dtype),
	],

	...ofPlainOperations((operator) => same(operator)),
	less: same("Less"),
	greaterEqual: same("GreaterOrEqual"),
	equal: same("Equal"),
	relu: same("Relu"),
	cast: ({ inputs: [x], attributes: { to } }, write) => [
		write.node("Cast", [write.name(x)], { to: onnxType[to] }),
	],

	softplus: inParts(activationParts.softplus),
	logSigmoid: inParts(activationParts.logSigmoid),
	silu: inParts(activationParts.silu),
	gelu: ({ inputs }, write) => {
		const [x] = inputs as [Tensor];
		if (!write.kernels.fuses || x.dtype !== "float32")
			return [write.expression(activationParts.gelu(x))];
		return [write.node("Gelu", [write.name(x)], { approximate: "tanh" })];
	},
	rmsNorm: ({ inputs, attributes: { epsilon } }, write) => {
		const [x] = inputs as [Tensor];
		const width = x.shape.at(-1) as Dim;
		if (!write.kernels.fuses || x.dtype !== "float32" || isOpen(width))
			return [write.expression(rmsNormParts(x, epsilon))];
		const scale = write.constant(new Float32Array(width).fill(1), [width], x.dtype);
		const attributes = { axis: -1, epsilon: { float: epsilon } };
		return [write.node("SimplifiedLayerNormalization", [write.name(x), scale], attributes)];
	},

	sum: reduction("ReduceSum"),
	sumSquares: reduction("ReduceSumSquare"),
	max: reduction("ReduceMax"),
	softmax: alongAxis("Softmax"),
	// WebGPU has no kernel for it.
	logSoftmax: ({ inputs: [x], attributes: { axis } }, write) => [
		write.target === "portable"
			? write.expression(logSoftmaxParts(x, axis))
			: write.node("LogSoftmax", [write.name(x)], { axis }),
	],
	cumulativeSum: ({ inputs: [x], attributes: { axis, exclusive, reverse } }, write) => [
		write.node("CumSum", [write.name(x), write.integers([axis])], {
			exclusive: Number(exclusive),
			reverse: Number(reverse),
		}),
	],

	segmentSums: ({ inputs: [x], attributes: { shift } }, write) => [
		write.expression(directSegments.sums(x, shift)),
	],
	segmentTotals: ({ inputs: [x], attributes: { shift } }, write) => [
		write.expression(directSegments.totals(x, shift)),
	],

	reshape: ({ inputs: [x], attributes: { shape } }, write) => [
		write.node("Reshape", [write.name(x), write.integers(shape)]),
	],
	expand: ({ inputs: [x], attributes: { shape } }, write) => [
		write.node("Expand", [write.name(x), write.integers(shape)]),
	],
	transpose: ({ inputs: [x], attributes: { order } }, write) => [
		write.node("Transpose", [write.name(x)], { perm: order }),
	],
	slice: ({ inputs: [x], attributes: { axis, start, end } }, write) => [
		write.node("Slice", [
			write.name(x),
			...[[start], [end], [axis]].map((values) => write.integers(values)),
		]),
	],
	pad: ({ inputs, attributes: { axis, before, after } }, write) => {
		const x = inputs[0];
		const pads = [before, after].flatMap((count) =>
			x.shape.map((_, i) => (i === axis ? count : 0)),
		);
		return [write.node("Pad", [write.name(x), write.integers(pads), write.scalar(0, x.dtype)])];
	},
	concat: alongAxis("Concat"),
	split: ({ inputs: [x], attributes: { axis, sizes } }, write) => {
		const operands = [write.name(x), write.integers(sizes)];
		return write.nodes("Split", operands, { axis }, { outputs: sizes.length });
	},
	flip: ({ inputs: [x], attributes: { axis } }, write) => {
		const pastTheFirst = -(2 ** 31);
		return [
			write.node("Slice", [
				write.name(x),
				...[[-1], [pastTheFirst], [axis], [-1]].map((values) => write.integers(values)),
			]),
		];
	},
	placesAlong: ({ inputs: [x], attributes: { axis } }, write) => {
		const size = write.integers([x.shape[axis]]);
		const end = write.node("Cast", [write.node("Squeeze", [size])], { to: onnxType.float32 });
		return [write.node("Range", [write.scalar(0, "float32"), end, write.scalar(1, "float32")])];
	},
	chunked,

	gather: alongAxis("Gather"),
	scatterAdd: (node, write) => {
		const [x, indices] = node.inputs as [Tensor, Tensor];
		const name = write.name(indices);
		const trailing = x.shape.slice(1).map((_, i) => i + 1);
		if (trailing.length === 0) return [addedAt(node as Node, name, 0, write)];
		// One index per element: every element of a row goes to the row's target.
		const perElement = write.node("Expand", [
			write.node("Unsqueeze", [name, write.integers(trailing)]),
			write.integers(x.shape),
		]);
		return [addedAt(node as Node, perElement, 0, write)];
	},
	pick: alongAxis("GatherElements"),
	placeAdd: (node, write) => [
		addedAt(node as Node, write.name(node.inputs[1]), node.attributes.axis, write),
	],
	topK: ({ inputs: [x], attributes: { axis, count } }, write) => {
		const operands = [write.name(x), write.integers([count])];
		return withNarrowIndices(write.nodes("TopK", operands, { axis }, { outputs: 2 }), write);
	},

	matmul,
	conv: ({ inputs, attributes: sweep }, write) => {
		const [x, w] = inputs as [Tensor, Tensor];
		if (x.dtype !== "float32") return [write.expression(tapwise(x, w, sweep))];
		const attributes = { pads: sweep.padding, group: sweep.groups };
		return [write.node("Conv", [write.name(x), write.name(w)], attributes)];
	},
	maxPool: ({ inputs: [x], attributes: { kernel, stride, padding } }, write) => {
		const attributes = { kernel_shape: [kernel], strides: [stride], pads: padding };
		const operands = [write.name(x)];
		return withNarrowIndices(write.nodes("MaxPool", operands, attributes, { outputs: 2 }), write);
	},
	rotary,
	scan,
	// ONNX Runtime has one device.
	allReduceSum: ({ inputs: [x] }, write) => [write.name(x)],
};

export const lowered = (node: Node, write: OnnxWriter): readonly string[] =>
	(onnxTable[node.operation.name] as OnnxLowering<OperationName>)(node, write);

/** ONNX returns indices as int64; ours are int32. */
function withNarrowIndices([values, wide]: readonly string[], write: OnnxWriter): string[] {
	return [values, write.node("Cast", [wide], { to: onnxType.int32 })];
}

/**
 * Zeros of the result's shape, with each value of the first operand added at its index along an axis.
 *
 * `ScatterElements` splits its work over the other axes, so no two threads write to one element and sums
 * keep their order. `ScatterND` with `reduction=add` splits it over the values and loses updates when
 * several threads meet at one target: do not use it.
 */
function addedAt(node: Node, indices: string, axis: number, write: OnnxWriter): string {
	const [x] = node.inputs as [Tensor];
	const shape = write.integers(node.outputs[0]?.shape ?? []);
	const zeros = write.node("Expand", [write.scalar(0, x.dtype), shape]);
	return write.node("ScatterElements", [zeros, indices, write.name(x)], { axis, reduction: "add" });
}

function chunked({ inputs, attributes }: Node<"chunked">, write: OnnxWriter): readonly string[] {
	const x = inputs[0];
	const [name, rank] = [write.name(x), x.shape.length];
	const size = write.integers([x.shape[2]]);
	const length = write.integers([attributes.length]);
	const upTo = write.node("Add", [size, write.integers([attributes.length - 1])]);
	const count = write.node("Div", [upTo, length]);
	const fill = write.node("Sub", [write.node("Mul", [count, length]), size]);
	const none = (axes: number) => (axes > 0 ? [write.integers(Array(axes).fill(0))] : []);
	const pads = write.node("Concat", [...none(rank + 2), fill, ...none(rank - 3)], { axis: 0 });
	const padded = write.node("Pad", [name, pads, write.scalar(0, x.dtype)]);
	// A size of 0 is that of the input.
	const after = write.integers([attributes.length, ...x.shape.slice(3)]);
	const shape = write.node("Concat", [write.integers([0, 0]), count, after], { axis: 0 });
	return [write.node("Reshape", [padded, shape])];
}

function matmul({ inputs, attributes }: Node<"matmul">, write: OnnxWriter): readonly string[] {
	const [a, b] = inputs as [Tensor, Tensor];
	const { transposeA, transposeB } = attributes;
	const transposed = (x: Tensor, isTransposed: boolean) => {
		if (!isTransposed) return write.name(x);
		const rank = x.shape.length;
		const perm = x.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
		return write.node("Transpose", [write.name(x)], { perm });
	};
	const arePlain = a.shape.length === 2 && b.shape.length === 2;
	if (write.kernels.startsFast && arePlain && a.dtype === "float32" && transposeB)
		return [write.node("Gemm", [transposed(a, transposeA), write.name(b)], { transB: 1 })];
	if (write.target !== "cpu" || a.dtype !== "float32")
		return [write.node("MatMul", [transposed(a, transposeA), transposed(b, transposeB)])];
	const fused = (x: string, y: string, transA: boolean, transB: boolean) =>
		transA || transB
			? write.node(
					"FusedMatMul",
					[x, y],
					{ transA: Number(transA), transB: Number(transB) },
					{ domain: "com.microsoft" },
				)
			: write.node("MatMul", [x, y]);
	// The CPU's product kernel is fastest when the right side is stored transposed, by more than
	// a transpose of plain matrices costs; small batched products are better left as they are.
	const [m, k] = matrixSizes(a.shape, transposeA);
	const n = matrixSizes(b.shape, transposeB)[1];
	const isSmall = (dim: Dim) => !isOpen(dim) && dim < 32;
	const isPlain = b.shape.length === 2 && (a.shape.length === 2 || !transposeA);
	const rows = divideDims(elementCount(a.shape), k) ?? 0;
	if (!isPlain || [rows, k, n].some(isSmall) || m === 1)
		return [fused(write.name(a), write.name(b), transposeA, transposeB)];
	return [fused(transposed(a, transposeA), transposed(b, !transposeB), false, true)];
}

/** 0, 1, … as an int64 vector. */
function integersBelow(count: Dim, write: OnnxWriter): string {
	if (!isOpen(count)) return write.integers(Array.from({ length: count }, (_, i) => i));
	const scalars = [0, count, 1].map((n) => write.node("Squeeze", [write.integers([n])]));
	return write.node("Range", scalars);
}

function rotary({ inputs }: Node<"rotary">, write: OnnxWriter): readonly string[] {
	const [x, cosine, sine] = inputs as [Tensor, Tensor, Tensor];
	const [batch, , length, dim] = x.shape as [Dim, Dim, Dim, number];
	const half = dim / 2;
	if (write.target === "cpu" && x.dtype === "float32") {
		const count = multiplyDims(batch, length);
		const places = write.node("Reshape", [
			integersBelow(count, write),
			write.integers([batch, length]),
		]);
		const rows = write.integers([count, half]);
		const cache = (t: Tensor) => write.node("Reshape", [write.name(t), rows]);
		return [
			write.node(
				"RotaryEmbedding",
				[write.name(x), places, cache(cosine), cache(sine)],
				{},
				{ domain: "com.microsoft" },
			),
		];
	}
	const heads = (t: Tensor) =>
		write.node("Reshape", [write.name(t), write.integers([batch, 1, length, half])]);
	const [c, s] = [heads(cosine), heads(sine)];
	const parts = write.nodes("Split", [write.name(x)], { axis: 3, num_outputs: 2 }, { outputs: 2 });
	const [a, b] = parts as [string, string];
	const times = (u: string, w: string) => write.node("Mul", [u, w]);
	const first = write.node("Sub", [times(a, c), times(b, s)]);
	const second = write.node("Add", [times(a, s), times(b, c)]);
	return [write.node("Concat", [first, second], { axis: 3 })];
}

/**
 * Written out once per position: ONNX Runtime runs it faster than its Scan. What the gradient computes again of a
 * position is an equal node, and so is not written again.
 */
function scan(node: Node<"scan">, write: OnnxWriter): readonly string[] {
	const { step, length, sequenceAxes, outputAxes, reverse } = node.attributes;
	const { initial, sequences, joined, before } = partsOf(node);
	const slices = sequences.map((x, i) => write.parts(x, sequenceAxes[i]));
	const outputs = joined.map((): string[] => []);
	const states = before.map((): string[] => []);
	let state: readonly string[] = initial.map((x) => write.name(x));
	for (let n = 0; n < length; n++) {
		const place = reverse ? length - 1 - n : n;
		state.forEach((name, i) => {
			states[i][place] = name;
		});
		const results = write.instance(
			[
				...step.state.map((x, i) => [x, state[i]] as const),
				...step.slices.map((x, i) => [x, slices[i]?.[place]] as const),
			],
			[...step.next, ...step.outputs],
		);
		state = results.slice(0, state.length);
		results.slice(state.length).forEach((name, i) => {
			outputs[i][place] = name;
		});
	}
	joined.forEach((x, i) => {
		write.bindParts(x, { parts: outputs[i], axis: outputAxes[i] });
	});
	before.forEach((x, i) => {
		write.bindParts(x, { parts: states[i], axis: 0 });
	});
	return state;
}

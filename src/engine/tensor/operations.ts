import type { Dim, Shape } from "./dims.js";
import type { DType, Tensor } from "./tensor.js";

/**
 * Every operation of a graph, by name, with its attributes. `ops/` defines its result types and its gradient; each
 * backend in `lower/` defines how it is computed. An operation that is missing here, or missing in a backend, is a
 * compile-time error.
 */
export interface OperationAttributes {
	input: Source;
	parameter: Source;
	constant: { readonly data: ArrayLike<number>; readonly shape: Shape; readonly dtype: DType };

	add: None;
	sub: None;
	mul: None;
	div: None;
	pow: None;
	maximum: None;
	minimum: None;
	less: None;
	greaterEqual: None;
	equal: None;
	both: None;
	either: None;
	neg: None;
	exp: None;
	log: None;
	sqrt: None;
	sin: None;
	cos: None;
	tanh: None;
	sigmoid: None;
	abs: None;
	sign: None;
	floor: None;
	relu: None;
	where: None;
	cast: { readonly to: DType };

	softplus: None;
	logSigmoid: None;
	silu: None;
	gelu: None;
	rmsNorm: { readonly epsilon: number };

	sum: Axes;
	sumSquares: Axes;
	max: Axes;
	softmax: Axis;
	logSoftmax: Axis;
	cumulativeSum: Axis & { readonly exclusive: boolean; readonly reverse: boolean };
	segmentSums: { readonly shift: SegmentShift };
	segmentTotals: { readonly shift: SegmentShift };

	reshape: { readonly shape: Shape };
	expand: { readonly shape: Shape };
	transpose: { readonly order: readonly number[] };
	slice: Axis & { readonly start: Dim; readonly end: Dim };
	pad: Axis & { readonly before: Dim; readonly after: Dim };
	concat: Axis;
	split: Axis & { readonly sizes: Shape };
	flip: Axis;
	placesAlong: Axis;
	chunked: { readonly length: number; readonly chunks: Dim };

	gather: Axis;
	scatterAdd: { readonly rows: Dim };
	pick: Axis;
	placeAdd: Axis & { readonly length: Dim };
	topK: Axis & { readonly count: number };

	matmul: TransposedSides;
	conv: Sweep;
	maxPool: PoolWindow;
	rotary: None;

	scan: Recurrence;

	allReduceSum: None;
}

export type OperationName = keyof OperationAttributes;

export type None = Readonly<Record<string, never>>;

/** A value from outside the graph. */
interface Source {
	readonly name: string;
	readonly shape: Shape;
	readonly dtype: DType;
}

interface Axis {
	readonly axis: number;
}

interface Axes {
	readonly axes: readonly number[];
}

/** Whether the last two axes of the left (right) operand are swapped first. */
export interface TransposedSides {
	readonly transposeA: boolean;
	readonly transposeB: boolean;
}

/** Whether a segment ends at its own position or at the one before. */
export type SegmentShift = 0 | -1;

type Margins = readonly (readonly [before: number, after: number])[];

/** How a kernel moves over its input, with one entry per spatial axis. */
export interface Sweep {
	readonly strides: readonly number[];
	readonly dilations: readonly number[];
	readonly padding: Margins;
	readonly groups: number;
}

export interface PoolWindow {
	readonly kernel: readonly number[];
	readonly strides: readonly number[];
	readonly padding: Margins;
}

/** A step of a recurrence, as a graph over tensors that stand for the values at a position. */
export interface ScanStep {
	readonly state: readonly Tensor[];
	/** What the sequences hold at the position. */
	readonly slices: readonly Tensor[];
	/** The next state. */
	readonly next: readonly Tensor[];
	readonly outputs: readonly Tensor[];
}

/** Operands: the first state, the sequences, and what the step uses from outside. */
export interface Recurrence {
	readonly step: ScanStep;
	readonly length: number;
	/** The axis along which each sequence is read. */
	readonly sequenceAxes: readonly number[];
	/** The axis along which each output is joined. */
	readonly outputAxes: readonly number[];
	/** From the last position to the first. */
	readonly reverse: boolean;
}

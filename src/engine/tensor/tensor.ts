import { type Dim, isOpen, multiplyDims, type Shape } from "./dims.js";

export type { Dim, Shape } from "./dims.js";

export type DType = "float32" | "float64" | "int32" | "bool";
export type FloatType = "float32" | "float64";

export interface TensorType {
	readonly shape: Shape;
	readonly dtype: DType;
}

/** A symbolic tensor: an operand or result of an operation, with known shape and dtype. Its methods: `methods.ts`. */
export class Tensor implements TensorType {
	constructor(
		readonly node: Node,
		/** Index among the node's results. */
		readonly index: number,
		readonly shape: Shape,
		readonly dtype: DType,
	) {}
}

export interface Node<K extends OperationName = OperationName> {
	readonly operation: Operation<K>;
	readonly inputs: readonly Tensor[];
	readonly attributes: OperationAttributes[K];
	readonly outputs: readonly Tensor[];
}

/** One kind of operation: the types of its results and its vector-Jacobian product. */
export interface Operation<K extends OperationName = OperationName> {
	readonly name: K;
	/** Types of the results; throws a ShapeError if the operands do not match. */
	types(inputs: readonly Tensor[], attributes: OperationAttributes[K]): readonly TensorType[];
	/**
	 * Cotangents of the inputs from those of the results, which are null for results that are unused; the first is
	 * also given alone, for operations with one result that has a gradient. Built from operations, so it can be
	 * differentiated again. Undefined: no gradient.
	 */
	pullback?(
		node: Node<K>,
		g: Tensor,
		cotangents: readonly (Tensor | null)[],
	): readonly (Tensor | null)[];
}

/**
 * Operations without attributes that are one operator of each backend on every element: its name in ONNX, and in
 * StableHLO.
 */
const plainOperations = {
	add: ["Add", "add"],
	sub: ["Sub", "subtract"],
	mul: ["Mul", "multiply"],
	div: ["Div", "divide"],
	maximum: ["Max", "maximum"],
	minimum: ["Min", "minimum"],
	both: ["And", "and"],
	either: ["Or", "or"],
	neg: ["Neg", "negate"],
	exp: ["Exp", "exponential"],
	log: ["Log", "log"],
	sqrt: ["Sqrt", "sqrt"],
	sin: ["Sin", "sine"],
	cos: ["Cos", "cosine"],
	tanh: ["Tanh", "tanh"],
	sigmoid: ["Sigmoid", "logistic"],
	abs: ["Abs", "abs"],
	sign: ["Sign", "sign"],
	floor: ["Floor", "floor"],
	where: ["Where", "select"],
} as const;
type PlainOperation = keyof typeof plainOperations;

/** What a backend makes of each plain operation, by name. */
export const ofPlainOperations = <T>(
	make: (onnx: string, stableHlo: string) => T,
): Record<PlainOperation, T> =>
	Object.fromEntries(
		Object.entries(plainOperations).map(([name, [onnx, stableHlo]]) => [
			name,
			make(onnx, stableHlo),
		]),
	) as Record<PlainOperation, T>;

/**
 * Every operation of a graph, by name, with its attributes. `ops/` defines its result types and its gradient; each
 * backend in `lower/` defines how it is computed. An operation that is missing here, or missing in a backend, is a
 * compile-time error.
 */
export interface OperationAttributes extends Record<PlainOperation | Comparison, None> {
	input: Source;
	parameter: Source;
	constant: { readonly data: ArrayLike<number>; readonly shape: Shape; readonly dtype: DType };

	relu: None;
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

type Comparison = "less" | "greaterEqual" | "equal";

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

type Sides = readonly [before: number, after: number];

/** How a kernel moves over its input. */
export interface Sweep {
	readonly padding: Sides;
	readonly groups: number;
}

export interface PoolWindow {
	readonly kernel: number;
	readonly stride: number;
	readonly padding: Sides;
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

/** Which kernels a program may use: those of every provider, or also those of the CPU build. */
export type Target = "cpu" | "portable";

export class ShapeError extends Error {
	override readonly name = "ShapeError";
}

/** The number of elements of a shape. */
export const elementCount = (shape: Shape): Dim => multiplyDims(...shape);

/** The same, of a shape without open sizes. */
export function size(shape: Shape): number {
	const count = elementCount(shape);
	if (isOpen(count)) throw new ShapeError(`[${shape.join(", ")}] has a size that is open`);
	return count;
}

export const sameShape = (a: Shape, b: Shape): boolean =>
	a.length === b.length && a.every((n, i) => n === b[i]);

/** A tensor's description in a message: its name or operation, and its shape. */
export function describe(tensor: Tensor): string {
	const { name } = tensor.node.attributes as { name?: unknown };
	const label = typeof name === "string" ? name : `${tensor.node.operation.name}(…)`;
	return `${label} ${tensor.dtype}[${tensor.shape.join(", ")}]`;
}

export function fail(operation: string, problem: string, operands: readonly Tensor[]): never {
	throw new ShapeError(`${operation}: ${problem}; operands ${operands.map(describe).join(", ")}`);
}

/** Records an operation and returns its results. */
export function applyAll<K extends OperationName>(
	operation: Operation<K>,
	inputs: readonly Tensor[],
	attributes: OperationAttributes[K],
): readonly Tensor[] {
	const outputs: Tensor[] = [];
	const node: Node<K> = { operation, inputs, attributes, outputs };
	for (const { shape, dtype } of operation.types(inputs, attributes))
		outputs.push(new Tensor(node as unknown as Node, outputs.length, shape, dtype));
	return outputs;
}

/** Records an operation with one result. */
export function apply<K extends OperationName>(
	operation: Operation<K>,
	inputs: readonly Tensor[],
	attributes: OperationAttributes[K],
): Tensor {
	return applyAll(operation, inputs, attributes)[0];
}

export const isFloat = (dtype: DType): dtype is FloatType =>
	dtype === "float32" || dtype === "float64";

/** The type of a result that is like its float operand. */
export function floatType(operation: string, x: Tensor): TensorType {
	if (!isFloat(x.dtype)) fail(operation, "needs a float tensor", [x]);
	return { shape: x.shape, dtype: x.dtype };
}

/** An axis counted from the front; negative axes count from the back. */
export function axisOf(operation: string, tensor: Tensor, axis: number): number {
	const rank = tensor.shape.length;
	const positive = axis < 0 ? axis + rank : axis;
	if (!Number.isInteger(axis) || positive < 0 || positive >= rank)
		fail(operation, `axis ${axis} is outside a tensor of ${rank} axes`, [tensor]);
	return positive;
}

/** What a runtime compiles. Inputs and parameters that the outputs depend on become its inputs. */
export interface Graph {
	readonly outputs: Readonly<Record<string, Tensor>>;
	/** Values of parameters that become constants. */
	readonly weights?: ReadonlyMap<string, ArrayLike<number>>;
	/** The largest values of open sizes, where they are known: a runtime may reserve memory for them. */
	readonly largest?: Readonly<Record<string, number>>;
}

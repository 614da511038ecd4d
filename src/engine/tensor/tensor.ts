import { type Dim, isOpen, multiplyDims, type Shape } from "./dims.js";
import type { OperationAttributes, OperationName } from "./operations.js";

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
	 * Cotangents of the inputs from those of the results (null: that result is unused). Built from operations, so it
	 * can be differentiated again. Undefined: no gradient.
	 */
	pullback?(node: Node<K>, cotangents: readonly (Tensor | null)[]): readonly (Tensor | null)[];
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

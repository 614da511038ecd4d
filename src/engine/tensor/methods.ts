import type { Dim, Shape } from "./dims.js";
import type { Operand } from "./ops/elementwise.js";
import * as elementwise from "./ops/elementwise.js";
import { type MatmulOptions, matmul } from "./ops/matmul.js";
import * as reductions from "./ops/reductions.js";
import * as shapes from "./ops/shape.js";
import { type DType, Tensor } from "./tensor.js";

type Axes = number | readonly number[];

// Declared and set here, so that the file of the class imports no operation.
declare module "./tensor.js" {
	interface Tensor {
		// Of two operands, which broadcast as in NumPy.
		add(other: Operand): Tensor;
		sub(other: Operand): Tensor;
		mul(other: Operand): Tensor;
		div(other: Operand): Tensor;
		/** The larger of two; where they are equal the cotangent goes to this one. */
		maximum(other: Operand): Tensor;
		/** The smaller of two; where they are equal the cotangent goes to this one. */
		minimum(other: Operand): Tensor;
		less(other: Operand): Tensor;
		greaterEqual(other: Operand): Tensor;
		equal(other: Operand): Tensor;
		/** Matrix product over the last two axes; the others broadcast. */
		matmul(other: Tensor, options?: MatmulOptions): Tensor;

		neg(): Tensor;
		exp(): Tensor;
		log(): Tensor;
		sqrt(): Tensor;
		square(): Tensor;
		sin(): Tensor;
		cos(): Tensor;
		tanh(): Tensor;
		sigmoid(): Tensor;
		/** log σ(x). */
		logSigmoid(): Tensor;
		/** log(1 + e^x), without overflow for any x. */
		softplus(): Tensor;
		abs(): Tensor;
		sign(): Tensor;
		floor(): Tensor;
		cast(to: DType): Tensor;

		// Over the axes given, or over all. `keep`: their sizes become 1.
		sum(axes?: Axes, keep?: boolean): Tensor;
		/** Sum of squares, in one pass. */
		sumSquares(axes?: Axes, keep?: boolean): Tensor;
		mean(axes?: Axes, keep?: boolean): Tensor;
		/** Mean squared distance from the mean. */
		variance(axes?: Axes, keep?: boolean): Tensor;
		max(axes?: Axes, keep?: boolean): Tensor;
		softmax(axis?: number): Tensor;
		logSoftmax(axis?: number): Tensor;

		/** The same values in another shape; one size may be −1. */
		reshape(shape: Shape): Tensor;
		/** Repeats along axes of size 1, and along new axes in front. */
		expand(shape: Shape): Tensor;
		/** Axes in another order. Default: swaps the last two. */
		transpose(order?: readonly number[]): Tensor;
		/** The part [start, end) of an axis; negative positions count from its end. */
		slice(axis: number, start: Dim, end?: Dim): Tensor;
		/** Parts of the given sizes along an axis. */
		split(axis: number, sizes: Shape): readonly Tensor[];
		/** Zeros before and after, along one axis. */
		pad(axis: number, before: Dim, after: Dim): Tensor;
	}
}

type Methods = Omit<Tensor, "node" | "index" | "shape" | "dtype">;

/** All have the tensor as their first argument. */
const methods: {
	readonly [K in keyof Methods]: (
		x: Tensor,
		...rest: Parameters<Tensor[K]>
	) => ReturnType<Tensor[K]>;
} = { ...elementwise, ...reductions, ...shapes, matmul };

for (const [name, method] of Object.entries(methods)) {
	const call = method as (x: Tensor, ...rest: readonly unknown[]) => unknown;
	Object.defineProperty(Tensor.prototype, name, {
		value(this: Tensor, ...rest: readonly unknown[]) {
			return call(this, ...rest);
		},
	});
}

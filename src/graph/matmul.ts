import { broadcastShape, unbroadcast } from "./elementwise.js";
import { concat, reshape } from "./shape.js";
import {
	apply,
	fail,
	isFloat,
	type Operation,
	type Shape,
	size,
	type Tensor,
	type Writer,
} from "./tensor.js";

interface Sides {
	/** Whether the last two axes of the left (right) operand change places first. */
	readonly transposeA: boolean;
	readonly transposeB: boolean;
}

const matrix = (shape: Shape, transposed: boolean): [number, number] => {
	const [rows, columns] = shape.slice(-2) as [number, number];
	return transposed ? [columns, rows] : [rows, columns];
};

const matmulOperation: Operation<Sides> = {
	name: "matmul",
	types: (inputs, { transposeA, transposeB }) => {
		const [a, b] = inputs as [Tensor, Tensor];
		if (a.shape.length < 2 || b.shape.length < 2) fail("matmul", "needs two axes or more", inputs);
		if (a.dtype !== b.dtype || !isFloat(a.dtype))
			fail("matmul", "needs two float tensors of one dtype", inputs);
		const [m, k] = matrix(a.shape, transposeA);
		const [l, n] = matrix(b.shape, transposeB);
		if (k !== l) fail("matmul", `inner sizes differ: ${m}×${k} times ${l}×${n}`, inputs);
		const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
		if (!batch) fail("matmul", "batch axes do not broadcast", inputs);
		return [{ shape: [...batch, m, n], dtype: a.dtype }];
	},
	pullback: (node, [g]) => {
		const [a, b] = node.inputs as [Tensor, Tensor];
		const { transposeA, transposeB } = node.attributes;
		if (!g) return [null, null];
		// With A' and B' the operands as used, dA' = G B'ᵀ and dB' = A'ᵀ G.
		const da = transposeA ? product(b, g, transposeB, true) : product(g, b, false, !transposeB);
		const db = transposeB ? product(g, a, true, transposeA) : product(a, g, !transposeA, false);
		return [unbroadcast(da, a.shape), unbroadcast(db, b.shape)];
	},
	onnx: (node, write) => {
		const [a, b] = node.inputs as [Tensor, Tensor];
		const { transposeA, transposeB } = node.attributes;
		return [
			write.target === "cpu" && a.dtype === "float32"
				? fused(a, b, transposeA, transposeB, write)
				: write.node("MatMul", [turned(a, transposeA, write), turned(b, transposeB, write)]),
		];
	},
};

function turned(x: Tensor, transposed: boolean, write: Writer): string {
	if (!transposed) return write.name(x);
	const rank = x.shape.length;
	const perm = x.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
	return write.node("Transpose", [write.name(x)], { perm });
}

/**
 * The CPU's product kernel is fastest when the right side is stored transposed, by more than
 * a transpose of plain matrices costs; small batched products are better left as they are.
 */
function fused(
	a: Tensor,
	b: Tensor,
	transposeA: boolean,
	transposeB: boolean,
	write: Writer,
): string {
	const fusedProduct = (x: string, y: string, transA: number, transB: number) =>
		transA + transB === 0
			? write.node("MatMul", [x, y])
			: write.node("FusedMatMul", [x, y], { transA, transB }, { domain: "com.microsoft" });
	const [m, k] = matrix(a.shape, transposeA);
	const n = matrix(b.shape, transposeB)[1];
	const plain = b.shape.length === 2 && (a.shape.length === 2 || !transposeA);
	const rows = size(a.shape) / k;
	if (!plain || Math.min(rows, k, n) < 32 || m === 1)
		return fusedProduct(write.name(a), write.name(b), Number(transposeA), Number(transposeB));
	return fusedProduct(turned(a, transposeA, write), turned(b, !transposeB, write), 0, 1);
}

function product(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor {
	return apply(matmulOperation, [a, b], { transposeA, transposeB });
}

/** Matrix product over the last two axes; the others broadcast. */
export function matmul(
	a: Tensor,
	b: Tensor,
	options: { readonly transposeA?: boolean; readonly transposeB?: boolean } = {},
): Tensor {
	const { transposeA = false, transposeB = false } = options;
	if (b.shape.length !== 2 || a.shape.length <= 2 || transposeA)
		return product(a, b, transposeA, transposeB);
	// One tall product instead of a batch of them, in this pass and in its gradient.
	const y = product(reshape(a, [-1, a.shape.at(-1) as number]), b, false, transposeB);
	return reshape(y, [...a.shape.slice(0, -1), -1]);
}

/**
 * Σ Aᵢᵀ Bᵢ as one product of the Aᵢ and the Bᵢ, each below the other, where that moves fewer numbers:
 * the gradient of a matrix that a recurrence uses at every place. Other terms stay as they are.
 */
export function joinedProducts(terms: readonly Tensor[]): readonly Tensor[] {
	const joined = terms.filter(({ node: { operation, attributes, inputs } }) => {
		if ((operation as unknown) !== matmulOperation) return false;
		const { transposeA, transposeB } = attributes as Sides;
		const [rows, m] = (inputs[0] as Tensor).shape as [number, number];
		const n = (inputs[1] as Tensor).shape[1] as number;
		const flat = inputs.every(({ shape }) => shape.length === 2);
		return flat && transposeA && !transposeB && rows * (m + n) < m * n;
	});
	if (joined.length < 2) return terms;
	const below = (side: 0 | 1) =>
		concat(
			joined.map(({ node }) => node.inputs[side] as Tensor),
			0,
		);
	return [
		...terms.filter((term) => !joined.includes(term)),
		product(below(0), below(1), true, false),
	];
}

import { type Dim, isOpen, type Shape } from "../dims.js";
import {
	apply,
	fail,
	isFloat,
	type Operation,
	sameShape,
	type Tensor,
	type TransposedSides,
} from "../tensor.js";
import { broadcastShape } from "./elementwise.js";
import { concat, unbroadcast } from "./shape.js";

export const matrixSizes = (shape: Shape, transposed: boolean): [Dim, Dim] => {
	const [rows, columns] = shape.slice(-2) as [Dim, Dim];
	return transposed ? [columns, rows] : [rows, columns];
};

const matmulOperation: Operation<"matmul"> = {
	name: "matmul",
	types: (inputs, { transposeA, transposeB }) => {
		const [a, b] = inputs;
		if (a.shape.length < 2 || b.shape.length < 2) fail("matmul", "needs two axes or more", inputs);
		if (a.dtype !== b.dtype || !isFloat(a.dtype))
			fail("matmul", "needs two float tensors of one dtype", inputs);
		const [m, k] = matrixSizes(a.shape, transposeA);
		const [l, n] = matrixSizes(b.shape, transposeB);
		if (k !== l) fail("matmul", `inner sizes differ: ${m}×${k} times ${l}×${n}`, inputs);
		const batch = broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
		if (!batch) fail("matmul", "batch axes do not broadcast", inputs);
		return [{ shape: [...batch, m, n], dtype: a.dtype }];
	},
	pullback: (node, g) => {
		const [a, b] = node.inputs as [Tensor, Tensor];
		const { transposeA, transposeB } = node.attributes;
		// With A' and B' the operands as used, dA' = G B'ᵀ and dB' = A'ᵀ G.
		const da = transposeA ? product(b, g, transposeB, true) : product(g, b, false, !transposeB);
		const db = transposeB ? product(g, a, true, transposeA) : product(a, g, !transposeA, false);
		return [unbroadcast(da, a.shape), unbroadcast(db, b.shape)];
	},
};

function product(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Tensor {
	return apply(matmulOperation, [a, b], { transposeA, transposeB });
}

export type MatmulOptions = Partial<TransposedSides>;

/** Matrix product over the last two axes; the others broadcast. */
export function matmul(a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
	const { transposeA = false, transposeB = false } = options;
	if (b.shape.length !== 2 || a.shape.length <= 2 || transposeA)
		return product(a, b, transposeA, transposeB);
	// One tall product instead of a batch of them, in this pass and in its gradient.
	const y = product(a.reshape([-1, a.shape.at(-1) as Dim]), b, false, transposeB);
	return y.reshape([...a.shape.slice(0, -1), -1]);
}

/** Whether a tensor is a product Aᵀ B of sides with equal batch axes. */
export function isTransposedProduct({ node: { operation, attributes, inputs } }: Tensor): boolean {
	if (operation.name !== "matmul") return false;
	const { transposeA, transposeB } = attributes as TransposedSides;
	const [a, b] = inputs as [Tensor, Tensor];
	return (
		transposeA &&
		!transposeB &&
		![...a.shape, ...b.shape].some(isOpen) &&
		sameShape(a.shape.slice(0, -2), b.shape.slice(0, -2))
	);
}

/**
 * Σ Aᵢᵀ Bᵢ as one product of the stacked Aᵢ and Bᵢ, if that moves fewer numbers: the gradient of a matrix that a
 * recurrence uses at every position. Other terms stay as they are.
 */
export function joinedProducts(terms: readonly Tensor[]): readonly Tensor[] {
	const joined = terms.filter((term) => {
		if (!isTransposedProduct(term) || term.shape.length > 2) return false;
		const [a, b] = term.node.inputs as [Tensor, Tensor];
		const [rows, m, n] = [...a.shape, b.shape[1]] as [number, number, number];
		return rows * (m + n) < m * n;
	});
	if (joined.length < 2) return terms;
	const below = (side: 0 | 1) =>
		concat(
			joined.map(({ node }) => node.inputs[side]),
			0,
		);
	return [
		...terms.filter((term) => !joined.includes(term)),
		product(below(0), below(1), true, false),
	];
}

function halves(x: Tensor): [Tensor, Tensor] {
	const half = (x.shape.at(-1) as number) / 2;
	return [x.slice(-1, 0, half), x.slice(-1, half)];
}

const rotaryOperation: Operation<"rotary"> = {
	name: "rotary",
	types: (inputs) => {
		const [x, cosine, sine] = inputs;
		const [batch, , length, dim] = x.shape;
		const table = [batch, length, (dim as number) / 2];
		for (const t of [cosine, sine])
			if (t.dtype !== x.dtype || x.shape.length !== 4 || String(t.shape) !== String(table))
				fail(
					"rotary",
					"needs x [batch, heads, length, dim] and cosine, sine [batch, length, dim / 2]",
					inputs,
				);
		return [{ shape: x.shape, dtype: x.dtype }];
	},
	pullback: ({ inputs }, g) => {
		const [x, cosine, sine] = inputs as [Tensor, Tensor, Tensor];
		const [a, b] = halves(x);
		const [ga, gb] = halves(g);
		const over = (t: Tensor, like: Tensor) =>
			unbroadcast(t, [like.shape[0], 1, ...like.shape.slice(1)]).reshape(like.shape);
		return [
			rotary(g, cosine, sine.neg()),
			over(ga.mul(a).add(gb.mul(b)), cosine),
			over(gb.mul(a).sub(ga.mul(b)), sine),
		];
	},
};

/**
 * Rotates each pair (i, i + dim/2) of the last axis by an angle given as its cosine and sine.
 * x [batch, heads, length, dim]; cosine and sine [batch, length, dim / 2].
 */
export const rotary = (x: Tensor, cosine: Tensor, sine: Tensor): Tensor =>
	apply(rotaryOperation, [x, cosine, sine], {});

import {
	concat,
	matmul,
	neg,
	reshape,
	slice,
	type Tensor,
	transpose,
} from "../../../engine/tensor/index.js";
import { fourier, inverseFourier } from "../../nn/fourier.js";
import { normal, type WeightSpecs, type Weights } from "../../nn/weights.js";

/** A complex matrix for every mode and head. */
export function fourierBlockWeights(modes: number, heads: number, dim: number): WeightSpecs {
	const size = dim / heads;
	const part = normal([modes, heads, size, size], 1 / Math.sqrt(2 * size));
	return { real: part, imaginary: part };
}

/**
 * F⁻¹(F(x)_m R_m): the modes of x that are kept, each times its own complex matrix a head, back in their
 * own places; all other modes are 0. x [rows, places, dim]
 */
export function fourierBlock(p: Weights, x: Tensor, modes: readonly number[]): Tensor {
	const [rows, places, dim] = x.shape as [number, number, number];
	const [real, imaginary] = [p("real"), p("imaginary")];
	const [count, heads, size] = real.shape as [number, number, number];
	const found = fourier(x, modes);
	/** [modes, heads, rows, size]: each mode and head has a matrix of its own. */
	const apart = (part: Tensor) =>
		transpose(reshape(part, [rows, count, heads, size]), [1, 2, 0, 3]);
	// (a + b i)(R + S i): [a, b] times [[R, S], [−S, R]].
	const matrix = concat([concat([real, imaginary], 3), concat([neg(imaginary), real], 3)], 2);
	const both = concat([apart(found.real), apart(found.imaginary)], 3);
	const product = transpose(matmul(both, matrix), [2, 0, 1, 3]); // [rows, modes, heads, 2 · size]
	const part = (from: number) => reshape(slice(product, 3, from, from + size), [rows, count, dim]);
	return inverseFourier({ real: part(0), imaginary: part(size) }, places, modes);
}

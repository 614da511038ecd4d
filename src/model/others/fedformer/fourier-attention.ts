import {
	add,
	concat,
	matmul,
	mul,
	neg,
	reshape,
	slice,
	softmax,
	split,
	sqrt,
	square,
	type Tensor,
	transpose,
} from "../../../engine/tensor/index.js";
import { fourier, inverseFourier, type Spectrum } from "../../nn/fourier.js";

export interface FourierAttentionOptions {
	readonly heads: number;
	/** Of the queries, and of the keys and values. */
	readonly modes: readonly number[];
	readonly memoryModes: readonly number[];
}

/**
 * F⁻¹(softmax(|Q̃ K̃ᵀ| / √size) Ṽ): modes of the queries look at modes of the keys. Spectra are those of
 * the unitary transform, so that the lengths of the two series do not weigh. q [rows, places, dim];
 * k, v [rows, memory places, dim]
 */
export function fourierAttention(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ heads, modes, memoryModes }: FourierAttentionOptions,
): Tensor {
	const [rows, places, dim] = q.shape as [number, number, number];
	const size = dim / heads;
	/** [rows, heads, modes, size] */
	const apart = (x: Tensor) =>
		transpose(reshape(x, [rows, x.shape[1] as number, heads, size]), [0, 2, 1, 3]);
	const spectrum = (x: Tensor, of: readonly number[]): Spectrum => {
		const { real, imaginary } = fourier(mul(x, 1 / Math.sqrt(x.shape[1] as number)), of);
		return { real: apart(real), imaginary: apart(imaginary) };
	};
	const [Q, K, V] = [spectrum(q, modes), spectrum(k, memoryModes), spectrum(v, memoryModes)];

	// Re and Im of Q Kᵀ, one below the other: [a, −b] and [b, a] times [c, d].
	const queries = concat(
		[concat([Q.real, neg(Q.imaginary)], 3), concat([Q.imaginary, Q.real], 3)],
		2,
	);
	const products = matmul(queries, concat([K.real, K.imaginary], 3), { transposeB: true });
	const [real, imaginary] = split(products, 2, [modes.length, modes.length]) as [Tensor, Tensor];
	const sizes = sqrt(add(add(square(real), square(imaginary)), 1e-9)); // [rows, heads, modes, memory modes]
	const seen = matmul(softmax(mul(sizes, 1 / Math.sqrt(size))), concat([V.real, V.imaginary], 3)); // [rows, heads, modes, 2 · size]
	const whole = (from: number) =>
		reshape(transpose(slice(seen, 3, from, from + size), [0, 2, 1, 3]), [rows, -1, dim]);
	const back = inverseFourier({ real: whole(0), imaginary: whole(size) }, places, modes);
	return mul(back, Math.sqrt(places));
}

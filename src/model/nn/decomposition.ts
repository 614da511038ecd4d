import {
	add,
	constant,
	matmul,
	mul,
	pad,
	reshape,
	slice,
	sub,
	type Tensor,
} from "../../engine/tensor/index.js";

/**
 * The moving average over `width` places as a matrix [places, places]: before the first place the first
 * is repeated, after the last the last.
 */
export function averages(
	places: number,
	width: number,
	dtype: Tensor["dtype"] = "float32",
): Tensor {
	const before = Math.floor((width - 1) / 2);
	const matrix = new Float64Array(places * places);
	for (let i = 0; i < places; i++)
		for (let offset = -before; offset < width - before; offset++) {
			const j = Math.min(Math.max(i + offset, 0), places - 1);
			matrix[i * places + j] = (matrix[i * places + j] as number) + 1 / width;
		}
	return constant(matrix, [places, places], dtype);
}

/**
 * The same for rows that are padded before their first event, which is repeated:
 * [rows, places, places]. Padding has no effect, and its average is 0.
 */
export function paddedAverages(mask: Tensor, width: number): Tensor {
	const [rows, places] = mask.shape as [number, number];
	const matrix = averages(places, width, mask.dtype);
	const padding = sub(1, mask);
	const first = mul(mask, sub(1, pad(slice(mask, 1, 0, places - 1), 1, 1, 0))); // 1 at the first event
	const repeated = matmul(padding, matrix, { transposeB: true }); // what falls on padding
	const all = add(
		mul(matrix, reshape(mask, [rows, 1, places])),
		mul(reshape(repeated, [rows, places, 1]), reshape(first, [rows, 1, places])),
	);
	return mul(all, reshape(mask, [rows, places, 1]));
}

/** What moves slowly, the moving average, and what is left: x [rows, places, width] is their sum. */
export function decompose(
	x: Tensor,
	/** `averages` or `paddedAverages` of its places. */
	average: Tensor,
): { readonly seasonal: Tensor; readonly trend: Tensor } {
	const trend = matmul(average, x);
	return { seasonal: sub(x, trend), trend };
}

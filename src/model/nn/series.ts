import { concat, constant, sub, type Tensor } from "../../engine/tensor/index.js";
import { norm } from "./layers.js";
import type { Weights } from "./weights.js";

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
			matrix[i * places + j] += 1 / width;
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
	const first = mask.mul(sub(1, mask.slice(1, 0, places - 1).pad(1, 1, 0))); // 1 at the first event
	const repeated = padding.matmul(matrix, { transposeB: true }); // what falls on padding
	const all = matrix
		.mul(mask.reshape([rows, 1, places]))
		.add(repeated.reshape([rows, places, 1]).mul(first.reshape([rows, 1, places])));
	return all.mul(mask.reshape([rows, places, 1]));
}

/** A series as the sum of what moves slowly and what is left. */
export interface Decomposed {
	readonly seasonal: Tensor; // [rows, places, width]
	readonly trend: Tensor; // [rows, places, width]
}

/** What moves slowly, the moving average, and what is left: x [rows, places, width] is their sum. */
export function decompose(
	x: Tensor,
	/** `averages` or `paddedAverages` of its places. */
	average: Tensor,
): Decomposed {
	const trend = average.matmul(x);
	return { seasonal: x.sub(trend), trend };
}

/** [rows, places, 1] of [rows, places]. */
export const column = (x: Tensor): Tensor => x.reshape([...x.shape, 1]);

/** The mean of x [rows, places, width] over the events, [rows, 1, width]. */
export const meanOverEvents = (x: Tensor, mask: Tensor): Tensor =>
	x
		.mul(column(mask))
		.sum(1, true)
		.div(column(mask.sum(1, true)).maximum(1));

/** Layer norm, less its mean over the places: what is seasonal has no trend. */
export function seasonalNorm(p: Weights, name: string, x: Tensor, mask: Tensor): Tensor {
	const y = norm(p, name, x);
	return y.sub(meanOverEvents(y, mask));
}

/** Complex numbers, one for each mode of a real series: [..., modes, width]. */
export interface Spectrum {
	readonly real: Tensor;
	readonly imaginary: Tensor;
}

/** The modes of a real series; those above are the conjugates of these. */
export const modesOf = (length: number): number[] =>
	Array.from({ length: Math.floor(length / 2) + 1 }, (_, m) => m);

/** [modes, length]: f(2π m t / length) times a factor of the mode's own. */
function waves(
	f: (angle: number) => number,
	length: number,
	modes: readonly number[],
	factor: (mode: number) => number = () => 1,
): number[] {
	return modes.flatMap((m) =>
		// m t is taken modulo the length, so that the angle keeps its digits.
		Array.from({ length }, (_, t) => factor(m) * f((2 * Math.PI * ((m * t) % length)) / length)),
	);
}

/**
 * X_m = Σ_t x_t exp(−2πi m t / length) for x [..., length, width], by two constant matrices in one
 * product. Only the modes asked for, in their order; all if left out.
 */
export function fourier(
	x: Tensor,
	modes: readonly number[] = modesOf(x.shape.at(-2) as number),
): Spectrum {
	const length = x.shape.at(-2) as number;
	const matrix = constant(
		[...waves(Math.cos, length, modes), ...waves((angle) => -Math.sin(angle), length, modes)],
		[2 * modes.length, length],
		x.dtype,
	);
	const parts = matrix.matmul(x).split(-2, [modes.length, modes.length]);
	const [real, imaginary] = parts as [Tensor, Tensor];
	return { real, imaginary };
}

/**
 * The real series [..., length, width] whose modes these are; modes that are not there are 0. Of mode 0,
 * and of length / 2, the imaginary part has no say.
 */
export function inverseFourier(
	{ real, imaginary }: Spectrum,
	length: number,
	modes: readonly number[] = modesOf(length),
): Tensor {
	// A mode stands for its conjugate too, unless it is its own.
	const factor = (m: number) => ((2 * m) % length === 0 ? 1 : 2) / length;
	const matrix = constant(
		[
			...waves(Math.cos, length, modes, factor),
			...waves((angle) => -Math.sin(angle), length, modes, factor),
		],
		[2 * modes.length, length],
		real.dtype,
	);
	return matrix.matmul(concat([real, imaginary], -2), { transposeA: true });
}

/** a b̄: of two series, the spectrum of their correlation Σ_t a_(t + τ) b_t at every delay τ, around the end. */
export const timesConjugate = (a: Spectrum, b: Spectrum): Spectrum => ({
	real: a.real.mul(b.real).add(a.imaginary.mul(b.imaginary)),
	imaginary: a.imaginary.mul(b.real).sub(a.real.mul(b.imaginary)),
});

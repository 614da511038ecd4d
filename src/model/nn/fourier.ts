import {
	add,
	concat,
	constant,
	matmul,
	mul,
	split,
	sub,
	type Tensor,
} from "../../engine/tensor/index.js";

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
	const parts = split(matmul(matrix, x), -2, [modes.length, modes.length]);
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
	return matmul(matrix, concat([real, imaginary], -2), { transposeA: true });
}

/** a b̄: of two series, the spectrum of their correlation Σ_t a_(t + τ) b_t at every delay τ, around the end. */
export const timesConjugate = (a: Spectrum, b: Spectrum): Spectrum => ({
	real: add(mul(a.real, b.real), mul(a.imaginary, b.imaginary)),
	imaginary: sub(mul(a.imaginary, b.real), mul(a.real, b.imaginary)),
});

import {
	mean,
	placeAdd,
	reshape,
	softmax,
	type Tensor,
	topK,
} from "../../../engine/tensor/index.js";
import { fourier, inverseFourier, type Spectrum, timesConjugate } from "../../nn/fourier.js";

/** ⌊c ln n⌋ delays of a series of n places, at least one. */
export const delaysOf = (places: number, factor: number): number =>
	Math.min(places, Math.max(1, Math.floor(factor * Math.log(places))));

export interface AutoCorrelationOptions {
	readonly heads: number;
	/** c: how many delays are taken. */
	readonly factor: number;
}

/**
 * How well each head's keys fit its queries at each delay τ, Σ_t q_(t + τ) k_t around the end, by the
 * product of their spectra; the mean over the head's channels.
 */
export function correlation(q: Tensor, k: Tensor, heads: number): Tensor {
	const [rows, places] = q.shape as [number, number];
	const { real, imaginary } = timesConjugate(fourier(q), fourier(k)); // [rows, modes, width]
	const perHead = (x: Tensor) => mean(reshape(x, [rows, x.shape[1] as number, heads, -1]), 3);
	return inverseFourier({ real: perHead(real), imaginary: perHead(imaginary) }, places); // [rows, places, heads]
}

/**
 * In place of attention: each head takes the delays at which queries and keys fit best, and adds up the
 * values rolled forward by each, Σ_i softmax(R)_i v_(t + τ_i). q, k and v are [rows, places, width] and 0
 * at padding.
 */
export function autoCorrelation(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ heads, factor }: AutoCorrelationOptions,
): Tensor {
	const [rows, places, width] = v.shape as [number, number, number];
	const { values, indices } = topK(correlation(q, k, heads), delaysOf(places, factor), 1);
	const weights = placeAdd(softmax(values, 1), indices, 1, places); // [rows, places, heads]: by delay
	// A weighted sum of rolls is a correlation too: it is done in the same way.
	const perHead = ({ real, imaginary }: Spectrum): Spectrum => {
		const shape = [rows, real.shape[1] as number, heads, -1];
		return { real: reshape(real, shape), imaginary: reshape(imaginary, shape) };
	};
	const rolled = timesConjugate(perHead(fourier(v)), perHead(fourier(weights)));
	const whole = (x: Tensor) => reshape(x, [rows, -1, width]);
	return inverseFourier({ real: whole(rolled.real), imaginary: whole(rolled.imaginary) }, places);
}

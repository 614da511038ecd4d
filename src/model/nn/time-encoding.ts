import {
	concat,
	constant,
	cos,
	div,
	reshape,
	sin,
	type Tensor,
} from "../../engine/tensor/index.js";

export interface TimeEncodingOptions {
	/** Sines and cosines together: even. */
	readonly width: number;
	/** Of the slowest wave, which turns once in 2π of them; the fastest has 1. */
	readonly longest: number;
}

/**
 * Times as waves: sin(t / λ) of all scales λ, then cos(t / λ), where λ go from 1 to the longest in
 * equal ratios. [..., width]
 */
export function timeEncoding(times: Tensor, { width, longest }: TimeEncodingOptions): Tensor {
	const waves = width / 2;
	const scales = Array.from(
		{ length: waves },
		(_, i) => longest ** (waves === 1 ? 0 : i / (waves - 1)),
	);
	const angles = div(reshape(times, [...times.shape, 1]), constant(scales, [waves], times.dtype));
	return concat([sin(angles), cos(angles)], -1);
}

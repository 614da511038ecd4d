import { add, mul, pad, type Tensor } from "../../../engine/tensor/index.js";
import { filledWith, normal, type WeightSpecs, type Weights } from "../../nn/weights.js";

/** Square kernels of 1, 3, 5 … places a side; a side is [columns, rows, in, out]. */
export const inceptionWeights = (
	kernels: number,
	inside: number,
	outside: number,
): WeightSpecs => ({
	...Object.fromEntries(
		Array.from({ length: kernels }, (_, i) => {
			const side = 2 * i + 1;
			const deviation = Math.sqrt(2 / (outside * side ** 2));
			return [`kernels.${i}`, normal([side, side, inside, outside], deviation)];
		}),
	),
	bias: filledWith(0, [outside]),
});

/**
 * The mean of the kernels' convolutions is one convolution: by the mean of the kernels, each put in the
 * middle of the largest.
 */
export function meanKernel(p: Weights, kernels: number): Tensor {
	const centred = Array.from({ length: kernels }, (_, i) => {
		const margin = kernels - 1 - i;
		const wide = pad(p(`kernels.${i}`), 0, margin, margin);
		return pad(wide, 1, margin, margin);
	});
	return mul(centred.reduce(add), 1 / kernels); // [taps, taps, in, out]
}

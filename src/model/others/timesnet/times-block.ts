import {
	add,
	constant,
	gather,
	gelu,
	matmul,
	mean,
	mul,
	pad,
	reshape,
	slice,
	softmax,
	split,
	sqrt,
	square,
	stack,
	sum,
	type Tensor,
	topK,
	transpose,
} from "../../../engine/tensor/index.js";
import { fourier, modesOf } from "../../nn/fourier.js";
import { nested, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { type Folds, foldsOf } from "./fold.js";
import { inceptionWeights, meanKernel } from "./inception.js";

export interface TimesBlockConfig {
	readonly dim: number;
	readonly ff: number;
	/** Periods by which a series is folded. */
	readonly periods: number;
	/** Kernels of an Inception block. */
	readonly kernels: number;
}

export const timesBlockWeights = ({ dim, ff, kernels }: TimesBlockConfig): WeightSpecs => ({
	...nested("in", inceptionWeights(kernels, dim, ff)),
	...nested("out", inceptionWeights(kernels, ff, dim)),
});

/**
 * The strongest frequencies of each series, and the weights of the periods they stand for; a series has
 * no more of them than ⌊length / 2⌋.
 */
export function strongest(
	x: Tensor, // [rows, length, dim]
	count: number,
): { readonly frequencies: Tensor; readonly weights: Tensor } {
	const { real, imaginary } = fourier(x, modesOf(x.shape[1] as number).slice(1));
	const amplitudes = mean(sqrt(add(add(square(real), square(imaginary)), 1e-9)), 2); // [rows, frequencies]
	const { values, indices } = topK(amplitudes, Math.min(count, amplitudes.shape[1] as number));
	return { frequencies: indices, weights: softmax(values) }; // from 0 for frequency 1
}

/**
 * x + Σ_k w_k unfold(Inception(gelu(Inception(fold(x, period_k))))), over the strongest periods of x.
 *
 * A convolution of a fold is split in two: `right` or left within a row, then `below` or above. Within a
 * row a neighbour stands at a fixed distance in the series, whatever the period; only whether there is one
 * depends on it. So the first Inception block multiplies x by its kernel once for all periods, and the
 * second adds the periods up before it does.
 */
export function timesBlock(config: TimesBlockConfig, p: Weights, x: Tensor): Tensor {
	const { dim, ff, kernels } = config;
	const [rows, length] = x.shape as [number, number, number];
	const { frequencies, weights } = strongest(x, config.periods);
	const periods = frequencies.shape[1] as number;
	const reach = kernels - 1;
	const taps = 2 * reach + 1;
	const folds = foldsOf(length, reach, x.dtype);
	const { cells } = folds;
	const chosen = chosenFolds(folds, frequencies);

	// Σ over columns: x W for every column and row of the kernel, then what is in the same row of the fold.
	const kernel = reshape(transpose(meanKernel(within(p, "in"), kernels), [0, 2, 1, 3]), [
		...[taps, dim, taps * ff],
	]);
	const beside = reshape(shifted(x, taps, cells), [taps, rows * cells, dim]);
	const products = transpose(matmul(beside, kernel), [1, 0, 2]); // [rows · cells, taps, taps · ff]
	const across = matmul(chosen.right, products); // [rows · cells, periods, taps · ff]
	// Σ over rows.
	const hidden = sum(gather(reshape(across, [-1, ff]), chosen.belowTap), 3); // [rows, cells, periods, ff]
	const active = mul(gelu(add(hidden, p("in.bias"))), chosen.inside);

	const below = reshape(gather(reshape(active, [-1, ff]), chosen.below), [
		...[rows * cells, periods, taps * ff],
	]);
	const weighted = mul(
		reshape(chosen.left, [rows, cells, periods, taps]),
		reshape(weights, [rows, 1, periods, 1]),
	);
	const added = matmul(reshape(weighted, [-1, periods, taps]), below, { transposeA: true }); // [rows · cells, taps, taps · ff]
	const back = reshape(meanKernel(within(p, "out"), kernels), [taps, taps * ff, dim]);
	const parts = reshape(matmul(transpose(added, [1, 0, 2]), back), [taps, rows, cells, dim]);
	return add(x, add(unshifted(parts, length), p("out.bias")));
}

/** The folds of each series, as indices and coefficients. */
function chosenFolds(folds: Folds, frequencies: Tensor) {
	const [rows, periods] = frequencies.shape as [number, number];
	const { cells } = folds;
	const taps = folds.below.shape[2] as number;
	const numbers = gather(folds.periodOf, frequencies); // [rows, periods]
	const of = (table: Tensor) => transpose(gather(table, numbers), [0, 2, 1, 3]); // [rows, cells, periods, …]
	const below = of(folds.below);
	/** Where cell 0 of a series begins among all that hold so many numbers a period. */
	const start = (each: number) =>
		constant(
			Array.from({ length: rows * periods * each }, (_, i) => {
				const row = Math.floor(i / (periods * each));
				return row * cells * periods * each + (i % (periods * each));
			}),
			[rows, 1, periods, each],
			"int32",
		);
	return {
		right: reshape(of(folds.right), [rows * cells, periods, taps]),
		left: of(folds.left),
		inside: of(folds.inside), // [rows, cells, periods, 1]
		/** Among [rows, cells, periods]. */
		below: add(mul(below, periods), start(1)),
		/** Among [rows, cells, periods, taps], each tap from its own. */
		belowTap: add(mul(below, periods * taps), start(taps)),
	};
}

/** [taps, rows, cells, dim]: x moved so many places to the left, −reach … reach, with zeros beyond its ends. */
function shifted(x: Tensor, taps: number, cells: number): Tensor {
	const reach = (taps - 1) / 2;
	const wide = pad(x, 1, reach, cells - (x.shape[1] as number) + reach);
	return stack(
		Array.from({ length: taps }, (_, i) => slice(wide, 1, i, i + cells)),
		0,
	);
}

/** The reverse: the sum of the parts, each moved back, as far as the series goes. */
function unshifted(parts: Tensor, length: number): Tensor {
	const [taps, , cells] = parts.shape as [number, number, number];
	const reach = (taps - 1) / 2;
	const wide = pad(parts, 2, reach, Math.max(0, length + reach - cells));
	return split(wide, 0, Array<number>(taps).fill(1))
		.map((part, i) =>
			reshape(slice(part, 2, i, i + length), [...parts.shape.slice(1, 2), length, -1]),
		)
		.reduce(add);
}

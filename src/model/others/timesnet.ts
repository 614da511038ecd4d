/*
 * TimesNet (Wu et al., ICLR 2023). A series X [T, d] is folded by its strongest periods into images with one period per row:
 *
 *     A_f = mean over the channels of |F(X)_f|,  f = 1 … ⌊T/2⌋;   f_1 … f_k the k = 5 largest;   p_i = ⌊T / f_i⌋
 *     X_i = X, padded with zeros to ⌈T / p_i⌉ rows of p_i columns
 *     Y_i = Inception(gelu(Inception(X_i)));   Inception(·) = ⅙ Σ_j Conv of (2j − 1) × (2j − 1), j = 1 … 6
 *     X  ← norm(X + Σ_i softmax(A_f1 … A_fk)_i Y_i)
 *
 * Periods depend on the data, but shapes must not: a series is never reshaped. For each possible period a table says where
 * the cell a number of rows below is, and whether there is a cell a number of columns to the right. Neighbours within a row
 * are at the same distance whatever the period, so x is multiplied by a kernel once for all periods.
 */

import type { z } from "zod";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { fields, integer, modelSettings } from "../kinds/fields.js";
import { embedded, type Window, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

/**
 * A series of some length, folded by a period into rows one below the other, for every period it can be
 * folded by. The series keeps its shape: place t is the cell in row ⌊t / period⌋ and column t mod period.
 * Cells that fill up the last row come after the series; the very last cell is part of no fold.
 */
function foldsOf(length: number, reach: number, dtype: Tensor["dtype"]) {
	const all = Array.from({ length: Math.floor(length / 2) }, (_, f) =>
		Math.floor(length / (f + 1)),
	);
	const periods = [...new Set(all)];
	const filled = (period: number) => Math.ceil(length / period) * period;
	const cells = Math.max(...periods.map(filled)) + 1;
	const taps = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
	/** A number for every period and cell, and for every tap. */
	const table = (
		value: (cell: number, tap: number, period: number) => number,
		type: Tensor["dtype"],
		steps: readonly number[] = taps,
	) =>
		graph.constant(
			periods.flatMap((period) =>
				Array.from({ length: cells }, (_, cell) =>
					steps.map((tap) => value(cell, tap, period)),
				).flat(),
			),
			[periods.length, cells, steps.length],
			type,
		);
	const isInside = (cell: number, period: number) => cell >= 0 && cell < filled(period);
	const hasBeside = (cell: number, by: number, period: number) => {
		const column = (cell % period) + by;
		return Number(isInside(cell, period) && column >= 0 && column < period);
	};
	return {
		periods,
		/** Cells of the largest fold, and the one that is part of none. */
		cells,
		/** For frequency f + 1 the number of its period ⌊length / (f + 1)⌋. */
		periodOf: graph.constant(
			all.map((period) => periods.indexOf(period)),
			[all.length],
			"int32",
		),
		/** The cell that lies so many rows below, −reach … reach; where there is none, the last cell. */
		below: table((cell, tap, period) => {
			const there = cell + tap * period;
			return isInside(cell, period) && isInside(there, period) ? there : cells - 1;
		}, "int32"),
		/** 1 where there is a cell so many columns to the right, −reach … reach. */
		right: table((cell, tap, period) => hasBeside(cell, tap, period), dtype),
		/** 1 where there is one so many columns to the left. */
		left: table((cell, tap, period) => hasBeside(cell, -tap, period), dtype),
		/** 1 where a cell is part of the fold. */
		inside: table((cell, _, period) => Number(isInside(cell, period)), dtype, [0]),
	};
}

/** Square kernels of 1, 3, 5 … places a side; a side is [columns, rows, in, out]. */
const inceptionWeights = (kernels: number, inside: number, outside: number): nn.WeightSpecs => ({
	...Object.fromEntries(
		Array.from({ length: kernels }, (_, i) => {
			const side = 2 * i + 1;
			const deviation = Math.sqrt(2 / (outside * side ** 2));
			return [`kernels.${i}`, nn.normal([side, side, inside, outside], deviation)];
		}),
	),
	bias: nn.filledWith(0, [outside]),
});

/**
 * The mean of the kernels' convolutions is one convolution: by the mean of the kernels, each put in the
 * middle of the largest.
 */
function meanKernel(p: nn.Weights, kernels: number): Tensor {
	const centred = Array.from({ length: kernels }, (_, i) => {
		const margin = kernels - 1 - i;
		const wide = p(`kernels.${i}`).pad(0, margin, margin);
		return wide.pad(1, margin, margin);
	});
	return centred.reduce(graph.add).mul(1 / kernels); // [taps, taps, in, out]
}

interface TimesBlockConfig {
	readonly dim: number;
	readonly ff: number;
	/** Periods by which a series is folded. */
	readonly periods: number;
	/** Kernels of an Inception block. */
	readonly kernels: number;
}

export const timesBlockWeights = ({ dim, ff, kernels }: TimesBlockConfig): nn.WeightSpecs => ({
	...nn.nested("in", inceptionWeights(kernels, dim, ff)),
	...nn.nested("out", inceptionWeights(kernels, ff, dim)),
});

/**
 * The strongest frequencies of each series, and the weights of the periods they stand for; a series has
 * no more of them than ⌊length / 2⌋.
 */
export function strongest(
	x: Tensor, // [rows, length, dim]
	count: number,
): { readonly frequencies: Tensor; readonly weights: Tensor } {
	const { real, imaginary } = nn.fourier(x, nn.modesOf(x.shape[1] as number).slice(1));
	const amplitudes = real.square().add(imaginary.square()).add(1e-9).sqrt().mean(2); // [rows, frequencies]
	const { values, indices } = graph.topK(
		amplitudes,
		Math.min(count, amplitudes.shape[1] as number),
	);
	return { frequencies: indices, weights: values.softmax() }; // from 0 for frequency 1
}

/**
 * x + Σ_k w_k unfold(Inception(gelu(Inception(fold(x, period_k))))), over the strongest periods of x.
 *
 * A convolution of a fold is split in two: `right` or left within a row, then `below` or above. Within a
 * row a neighbour stands at a fixed distance in the series, whatever the period; only whether there is one
 * depends on it. So the first Inception block multiplies x by its kernel once for all periods, and the
 * second adds the periods up before it does.
 */
export function timesBlock(config: TimesBlockConfig, p: nn.Weights, x: Tensor): Tensor {
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
	const kernel = meanKernel(nn.within(p, "in"), kernels)
		.transpose([0, 2, 1, 3])
		.reshape([taps, dim, taps * ff]);
	const beside = shifted(x, taps, cells).reshape([taps, rows * cells, dim]);
	const products = beside.matmul(kernel).transpose([1, 0, 2]); // [rows · cells, taps, taps · ff]
	const across = chosen.right.matmul(products); // [rows · cells, periods, taps · ff]
	// Σ over rows.
	const hidden = graph.gather(across.reshape([-1, ff]), chosen.belowTap).sum(3); // [rows, cells, periods, ff]
	const active = graph.gelu(hidden.add(p("in.bias"))).mul(chosen.inside);

	const below = graph
		.gather(active.reshape([-1, ff]), chosen.below)
		.reshape([rows * cells, periods, taps * ff]);
	const weighted = chosen.left
		.reshape([rows, cells, periods, taps])
		.mul(weights.reshape([rows, 1, periods, 1]));
	const added = weighted.reshape([-1, periods, taps]).matmul(below, { transposeA: true }); // [rows · cells, taps, taps · ff]
	const back = meanKernel(nn.within(p, "out"), kernels).reshape([taps, taps * ff, dim]);
	const parts = added.transpose([1, 0, 2]).matmul(back).reshape([taps, rows, cells, dim]);
	return x.add(unshifted(parts, length).add(p("out.bias")));
}

/** The folds of each series, as indices and coefficients. */
function chosenFolds(folds: ReturnType<typeof foldsOf>, frequencies: Tensor) {
	const [rows, periods] = frequencies.shape as [number, number];
	const { cells } = folds;
	const taps = folds.below.shape[2] as number;
	const numbers = graph.gather(folds.periodOf, frequencies); // [rows, periods]
	const of = (table: Tensor) => graph.gather(table, numbers).transpose([0, 2, 1, 3]); // [rows, cells, periods, …]
	const below = of(folds.below);
	/** Where cell 0 of a series begins among all that hold so many numbers a period. */
	const start = (each: number) =>
		graph.constant(
			Array.from({ length: rows * periods * each }, (_, i) => {
				const row = Math.floor(i / (periods * each));
				return row * cells * periods * each + (i % (periods * each));
			}),
			[rows, 1, periods, each],
			"int32",
		);
	return {
		right: of(folds.right).reshape([rows * cells, periods, taps]),
		left: of(folds.left),
		inside: of(folds.inside), // [rows, cells, periods, 1]
		/** Among [rows, cells, periods]. */
		below: below.mul(periods).add(start(1)),
		/** Among [rows, cells, periods, taps], each tap from its own. */
		belowTap: below.mul(periods * taps).add(start(taps)),
	};
}

/** [taps, rows, cells, dim]: x moved so many places to the left, −reach … reach, with zeros beyond its ends. */
function shifted(x: Tensor, taps: number, cells: number): Tensor {
	const reach = (taps - 1) / 2;
	const wide = x.pad(1, reach, cells - (x.shape[1] as number) + reach);
	return graph.stack(
		Array.from({ length: taps }, (_, i) => wide.slice(1, i, i + cells)),
		0,
	);
}

/** The reverse: the sum of the parts, each moved back, as far as the series goes. */
function unshifted(parts: Tensor, length: number): Tensor {
	const [taps, , cells] = parts.shape as [number, number, number];
	const reach = (taps - 1) / 2;
	const wide = parts.pad(2, reach, Math.max(0, length + reach - cells));
	return wide
		.split(0, Array<number>(taps).fill(1))
		.map((part, i) =>
			part.slice(2, i, i + length).reshape([...parts.shape.slice(1, 2), length, -1]),
		)
		.reduce(graph.add);
}

const config = modelSettings({
	window: fields.window,
	ahead: fields.ahead,
	layers: fields.layers(2),
	dim: fields.dim(96),
	ff: fields.ff(8).describe("width between the two Inception blocks"),
	periods: integer(1, 64, 5, "strongest periods by which a series is folded (the paper's k)"),
	kernels: integer(1, 16, 6, "kernels of an Inception block: 1 × 1, 3 × 3, 5 × 5 …"),
});

type TimesNetConfig = z.infer<typeof config>;

/** Embedded token, position and time; 0 at padding. */
function read({ dim }: TimesNetConfig, p: nn.Weights, window: Window): Tensor {
	const places = window.mask.shape[1] as number;
	const where = nn
		.linear(p, "times", nn.marksBefore(window))
		.add(nn.sinusoids(places, dim, window.mask.dtype));
	return embedded(p, window).add(where.mul(nn.column(window.mask)));
}

/** One norm for all layers, and zeros where nothing is: they weigh on the next layer's periods. */
function blocks(config: TimesNetConfig, p: nn.Weights, x: Tensor, mask: Tensor): Tensor {
	let y = x.mul(nn.column(mask));
	for (let i = 0; i < config.layers; i++) {
		const after = timesBlock(config, nn.within(p, `layers.${i}`), y);
		y = nn.norm(p, "norm", after).mul(nn.column(mask));
	}
	return y;
}

/** A series folded by its own strongest periods, and read as a picture: within a period, and from one to the next. */
export const timesnet = windowModel<TimesNetConfig>({
	id: "timesnet",
	name: "TimesNet",
	cite: "Wu, Hu, Liu, Zhou, Wang, Long: TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR 2023",
	config,
	learningRate: 1e-3,
	presets: {
		tiny: { dim: 64 },
		default: {},
		paper: { layers: 8, dim: 200 },
	},
	pretraining: "masked",
	forecasts: "after pretraining",
	usesQueryTime: false,
	weights(config) {
		const { layers, dim, window, ahead } = config;
		const block = timesBlockWeights(config);
		return {
			...nn.nested("times", nn.linearWeights(nn.marks, dim)),
			...nn.numbered("layers", layers, block),
			...nn.nested("norm", nn.normWeights(dim)),
			...nn.nested("extend", nn.linearWeights(window, window + ahead)),
		};
	},
	encode: (config, p, window) => blocks(config, p, read(config, p, window), window.mask),
	/** The window is first made longer, linearly and place by place; then it is read as a whole. */
	query(config, p, _, window) {
		const { ahead } = config;
		const rows = window.mask.shape[0] as number;
		const longer = p("extend.weight")
			.matmul(read(config, p, window))
			.add(
				// [rows, window + ahead, dim]
				nn.column(p("extend.bias")),
			);
		const mask = graph.concat([window.mask, graph.filled(1, [rows, ahead], window.mask.dtype)], 1);
		return blocks(config, p, longer, mask).slice(1, -ahead);
	},
});

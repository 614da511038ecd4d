import { constant, type Tensor } from "../../../engine/tensor/index.js";

/**
 * A series of some length, folded by a period into rows one below the other, for every period it can be
 * folded by. The series keeps its shape: place t is the cell in row ⌊t / period⌋ and column t mod period.
 * Cells that fill up the last row come after the series; the very last cell is part of no fold.
 */
export interface Folds {
	readonly periods: readonly number[];
	/** Cells of the largest fold, and the one that is part of none. */
	readonly cells: number;
	/** For frequency f + 1 the number of its period ⌊length / (f + 1)⌋. */
	readonly periodOf: Tensor; // [⌊length / 2⌋], int32
	/** The cell that lies so many rows below, −reach … reach; where there is none, the last cell. */
	readonly below: Tensor; // [periods, cells, taps], int32
	/** 1 where there is a cell so many columns to the right, −reach … reach. */
	readonly right: Tensor; // [periods, cells, taps]
	/** 1 where there is one so many columns to the left. */
	readonly left: Tensor; // [periods, cells, taps]
	/** 1 where a cell is part of the fold. */
	readonly inside: Tensor; // [periods, cells, 1]
}

export function foldsOf(length: number, reach: number, dtype: Tensor["dtype"]): Folds {
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
		constant(
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
		cells,
		periodOf: constant(
			all.map((period) => periods.indexOf(period)),
			[all.length],
			"int32",
		),
		below: table((cell, tap, period) => {
			const there = cell + tap * period;
			return isInside(cell, period) && isInside(there, period) ? there : cells - 1;
		}, "int32"),
		right: table((cell, tap, period) => hasBeside(cell, tap, period), dtype),
		left: table((cell, tap, period) => hasBeside(cell, -tap, period), dtype),
		inside: table((cell, _, period) => Number(isInside(cell, period)), dtype, [0]),
	};
}

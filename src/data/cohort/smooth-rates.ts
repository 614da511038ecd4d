import { bandCount, type RatesByAgeAndSex, sexes } from "./age-sex-rates.js";
import type { OnsetSums } from "./onset-sums.js";

/**
 * Precisions of what is expected of the logarithm of a rate before anything is counted. Chosen by the likelihood of
 * first records of 19,177 simulated people after counts of 2,257 and of 19,046 others; neighbouring values are as good.
 */
const precisions = {
	/** Of the step from an age band to the next. */
	step: 1,
	/** Of the change of that step. */
	bend: 10,
	/** Of the step of the difference between the sexes. */
	sexStep: 100,
	/** Of the difference between the sexes in each band. */
	sexes: 0.001,
};

/** Onsets that are added at the same rate at all ages: a code that was never recorded has a rate too. */
const added = 0.5;

/** Unknowns of an output: the logarithm of the rate in each band, women before men. */
const unknowns = bandCount * sexes.length;
/** A row of the Hessian reaches two bands back. */
const reach = 2 * sexes.length;
const rowWidth = reach + 1;
const mostSteps = 100;
const tolerance = 1e-6;
/** The largest change of a logarithm in one step: Newton's method alone can overshoot. */
const longest = 2;

/** The lower half of a symmetric band matrix: row i holds columns i − reach to i. */
type BandMatrix = Float64Array;

/** Adds ½ · precision · (weights · unknowns)² to a quadratic form. */
function addSquare(form: BandMatrix, precision: number, terms: readonly [number, number][]): void {
	for (const [row, a] of terms)
		for (const [column, b] of terms)
			if (column <= row) {
				const at = row * rowWidth + reach + column - row;
				form[at] = (form[at] as number) + precision * a * b;
			}
}

/** What is expected before anything is counted, as a quadratic form. */
function priorForm(): BandMatrix {
	const { step, bend, sexStep, sexes: apart } = precisions;
	const form = new Float64Array(unknowns * rowWidth);
	const place = (band: number, sex: number) => band * sexes.length + sex;
	for (let band = 0; band < bandCount; band++) {
		const women = place(band, 0);
		const men = place(band, 1);
		addSquare(form, apart, [
			[women, 1],
			[men, -1],
		]);
		if (band === 0) continue;
		addSquare(form, sexStep, [
			[women, 1],
			[men, -1],
			[place(band - 1, 0), -1],
			[place(band - 1, 1), 1],
		]);
		for (const sex of [0, 1]) {
			const own = place(band, sex);
			const before = place(band - 1, sex);
			addSquare(form, step, [
				[own, 1],
				[before, -1],
			]);
			if (band === 1) continue;
			addSquare(form, bend, [
				[own, 1],
				[before, -2],
				[place(band - 2, sex), 1],
			]);
		}
	}
	return form;
}

/** Solves A x = b for a positive definite band matrix, by Cholesky's method; overwrites both. */
function solveBands(matrix: BandMatrix, x: Float64Array): Float64Array {
	const at = (row: number, column: number) => row * rowWidth + reach + column - row;
	for (let row = 0; row < unknowns; row++) {
		const first = Math.max(0, row - reach);
		for (let column = first; column <= row; column++) {
			let sum = matrix[at(row, column)] as number;
			for (let k = Math.max(first, column - reach); k < column; k++)
				sum -= (matrix[at(row, k)] as number) * (matrix[at(column, k)] as number);
			matrix[at(row, column)] =
				column === row ? Math.sqrt(sum) : sum / (matrix[at(column, column)] as number);
		}
		let sum = x[row] as number;
		for (let k = first; k < row; k++) sum -= (matrix[at(row, k)] as number) * (x[k] as number);
		x[row] = sum / (matrix[at(row, row)] as number);
	}
	for (let row = unknowns - 1; row >= 0; row--) {
		let sum = x[row] as number;
		for (let k = row + 1; k <= Math.min(unknowns - 1, row + reach); k++)
			sum -= (matrix[at(k, row)] as number) * (x[k] as number);
		x[row] = sum / (matrix[at(row, row)] as number);
	}
	return x;
}

/** The logarithms of the rates of one output that are most probable after its onsets and days at risk. */
function fit(onsets: Float64Array, days: Float64Array, prior: BandMatrix): Float64Array {
	const total = days.reduce((sum, own) => sum + own, 0);
	const overall = (added + onsets.reduce((sum, own) => sum + own, 0)) / Math.max(1, total);
	const logRates = new Float64Array(unknowns).fill(Math.log(overall));
	for (let n = 0; n < mostSteps; n++) {
		const hessian = prior.slice();
		const slope = new Float64Array(unknowns);
		for (let row = 0; row < unknowns; row++) {
			const expected = (days[row] as number) * Math.exp(logRates[row] as number);
			const share = total > 0 ? (days[row] as number) / total : 0;
			slope[row] = (slope[row] as number) + (onsets[row] as number) + added * share - expected;
			const diagonal = row * rowWidth + reach;
			hessian[diagonal] = (hessian[diagonal] as number) + expected;
			for (let column = Math.max(0, row - reach); column <= row; column++) {
				const own = prior[diagonal + column - row] as number;
				slope[row] = (slope[row] as number) - own * (logRates[column] as number);
				if (column < row)
					slope[column] = (slope[column] as number) - own * (logRates[row] as number);
			}
		}
		const change = solveBands(hessian, slope);
		const most = change.reduce((max, own) => Math.max(max, Math.abs(own)), 0);
		const size = Math.min(1, longest / most);
		for (let row = 0; row < unknowns; row++)
			logRates[row] = (logRates[row] as number) + size * (change[row] as number);
		if (most < tolerance) break;
	}
	return logRates;
}

/**
 * Rates by age and sex. What was counted says most where many were at risk; elsewhere a rate continues those of the
 * ages around it, and the difference between the sexes that these show.
 */
export function smoothRates({ onsets, days, width }: OnsetSums): RatesByAgeAndSex {
	const prior = priorForm();
	const bands = sexes.map(() => Array.from({ length: bandCount }, () => new Float64Array(width)));
	for (let output = 0; output < width; output++) {
		const column = (sums: Float64Array) =>
			Float64Array.from({ length: unknowns }, (_, row) => sums[row * width + output] as number);
		const own = column(days);
		if (own.every((none) => none === 0)) continue;
		for (const [row, value] of fit(column(onsets), own, prior).entries()) {
			const band = bands[row % sexes.length]?.[Math.floor(row / sexes.length)] as Float64Array;
			band[output] = Math.exp(value);
		}
	}
	const [female, male] = bands as [Float64Array[], Float64Array[]];
	return { female, male };
}

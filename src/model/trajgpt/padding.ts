const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** Rounds up to one of `lengths` sizes between two powers of two. */
function rounded(n: number, lengths: number): number {
	if (n === 0) return 0;
	const step = Math.max(1, powerOfTwo(n) / 2 / lengths);
	return Math.ceil(n / step) * step;
}

/** Pads numbers of rows, slots and queries. */
export interface Padding {
	rows(n: number): number;
	slots(n: number): number;
	queries(n: number): number;
}

/**
 * Each length compiles anew, so there are few. Histories come in all lengths; short ones are padded
 * up to twice, longer ones by a fifth. The number of queries seldom changes, and is met closely.
 */
export const fewShapes: Padding = {
	rows: powerOfTwo,
	slots: (n) => rounded(n, n <= 16 ? 1 : 4),
	queries: (n) => rounded(n, 8),
};

/** For programs that take any size. */
export const noPadding: Padding = { rows: (n) => n, slots: (n) => n, queries: (n) => n };

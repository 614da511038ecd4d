const z = 1.959963984540054;

/** Wilson (1927): a 95 % interval of a share, valid for few cases and for shares of 0 and 1. */
export function wilson(positive: number, total: number): readonly [low: number, high: number] {
	if (total === 0) return [0, 1];
	const p = positive / total;
	const n = 1 + z ** 2 / total;
	const middle = (p + z ** 2 / (2 * total)) / n;
	const half = (z / n) * Math.sqrt((p * (1 - p)) / total + z ** 2 / (4 * total ** 2));
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** Formats the percentages of an axis, all with the digits of the one that needs most. */
export function percentTicks(shares: readonly number[]): (share: number) => string {
	const exact = (digits: number) =>
		shares.every((share) => Math.abs(Number((100 * share).toFixed(digits)) - 100 * share) < 1e-9);
	const digits = [0, 1, 2, 3, 4, 5].find(exact) ?? 6;
	return (share) => (share === 0 ? "0" : `${(100 * share).toFixed(digits)} %`);
}

/** The quantile of sorted values, with linear interpolation. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
	const place = part * (sorted.length - 1);
	const below = Math.floor(place);
	const low = sorted[below] as number;
	const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
	return low + (high - low) * (place - below);
}

/** Assigns marks, in order of x, to lanes in which they do not overlap; beyond `most`, to the one that is free first. */
export function lanesOf(
	marks: readonly { readonly x: number; readonly r: number }[],
	most: number,
): number[] {
	const ends: number[] = [];
	return marks.map(({ x, r }) => {
		const free = ends.findIndex((end) => end <= x - r);
		const next = ends.length < most ? ends.length : ends.indexOf(Math.min(...ends));
		const lane = free >= 0 ? free : next;
		ends[lane] = x + r + 1;
		return lane;
	});
}

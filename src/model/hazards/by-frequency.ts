/** Outputs with fewer first records than the first of these are taken together, and so on. */
const limits = [10, 100, 1000, Number.POSITIVE_INFINITY];

/** Outputs in groups that are about as frequent: each alone has too few first records to choose anything by. */
export const byFrequency = (
	outputs: readonly number[],
	onsetsOf: (output: number) => number,
): number[][] =>
	limits.map((limit, i) =>
		outputs.filter((output) => {
			const onsets = onsetsOf(output);
			return onsets < limit && onsets >= (limits[i - 1] ?? 0);
		}),
	);

/** The learning rate of a step (from 1): a straight rise, then a half cosine down to a tenth. */
export function learningRateAt(
	step: number,
	total: number,
	{ learningRate, warmup }: { readonly learningRate: number; readonly warmup: number },
): number {
	const rise = Math.round(total * warmup);
	if (step <= rise) return (learningRate * step) / rise;
	const progress = Math.min(1, (step - rise) / Math.max(1, total - rise));
	return learningRate * (0.1 + 0.45 * (1 + Math.cos(Math.PI * progress)));
}

/** The Kolmogorov–Smirnov distance of a sample from a distribution function, times √n. */
export function kolmogorov(sample: readonly number[], cdf: (x: number) => number): number {
	const sorted = sample.toSorted((a, b) => a - b);
	const n = sorted.length;
	let distance = 0;
	for (const [i, x] of sorted.entries()) {
		const f = cdf(x);
		distance = Math.max(distance, (i + 1) / n - f, f - i / n);
	}
	return distance * Math.sqrt(n);
}

/** Area under the ROC curve, ties counted half. */
export function auroc(scores: readonly number[], labels: readonly boolean[]): number {
	const order = [...scores.keys()].sort((a, b) => scores[a] - scores[b]);
	let positives = 0;
	let rankSum = 0;
	for (let start = 0; start < order.length; ) {
		let end = start;
		while (end < order.length && scores[order[end]] === scores[order[start]]) end++;
		for (let i = start; i < end; i++)
			if (labels[order[i]]) {
				positives++;
				rankSum += (start + end + 1) / 2;
			}
		start = end;
	}
	return (rankSum - (positives * (positives + 1)) / 2) / (positives * (scores.length - positives));
}

export function mean(values: readonly number[]): number {
	return values.reduce((a, b) => a + b, 0) / values.length;
}

export function quantile(values: readonly number[], share: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

import { type SimulatedPatient, simulatePatient } from "../patients.js";

export function population(seed: number, patients: number): SimulatedPatient[] {
	return Array.from({ length: patients }, (_, i) => simulatePatient(seed, i + 1));
}

export interface Visit {
	readonly day: number;
	/** Positions in the catalogue, reason first. */
	readonly records: readonly number[];
}

export function visitsOf({ claims }: SimulatedPatient): Visit[] {
	const visits: { day: number; records: number[] }[] = [];
	for (const { day, at } of claims) {
		const visit = visits.at(-1);
		if (visit?.day === day) visit.records.push(at);
		else visits.push({ day, records: [at] });
	}
	return visits;
}

/**
 * Tests run on few patients; TRAJGPT_SIMULATE=5 runs those of this room on five times as many and
 * prints what they measure.
 */
const asked = process.env.TRAJGPT_SIMULATE;

export const scale = asked === undefined ? 1 : Number(asked);

export function report(what: string, values: Record<string, number | string>): void {
	if (asked === undefined) return;
	const rounded = Object.entries(values).map(
		([name, value]) =>
			`${name} ${typeof value === "number" ? Number(value.toPrecision(4)) : value}`,
	);
	process.stdout.write(`${what}: ${rounded.join(", ")}\n`);
}

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

import type { Dataset } from "./dataset.js";
import type { Split } from "./manifest.js";
import { splitNames } from "./manifest.js";

/** The shape of a distribution in a few numbers. */
export interface Spread {
	readonly min: number;
	readonly quarter: number;
	readonly median: number;
	readonly threeQuarters: number;
	readonly max: number;
	readonly mean: number;
}

export interface SplitSummary {
	readonly patients: number;
	readonly events: number;
	readonly withBirth: number;
	readonly female: number;
	readonly male: number;
	/** Events a patient, birth not counted. */
	readonly records: Spread | null;
	/** From a patient's first event to the last, in days. */
	readonly spanDays: Spread | null;
	/** Between consecutive events of a patient, in days. */
	readonly gapDays: Spread | null;
}

export interface CodeSummary {
	readonly code: string;
	readonly name: string;
	readonly kind: string;
	readonly category: string | null;
	/** In all splits. */
	readonly events: number;
	readonly patients: number;
}

export interface DatasetSummary {
	readonly splits: Record<Split, SplitSummary>;
	/** The most frequent first. */
	readonly topCodes: readonly CodeSummary[];
}

function spread(values: Float64Array): Spread | null {
	if (values.length === 0) return null;
	const sorted = values.slice().sort();
	const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))] as number;
	return {
		min: at(0),
		quarter: at(0.25),
		median: at(0.5),
		threeQuarters: at(0.75),
		max: at(1),
		mean: values.reduce((sum, value) => sum + value, 0) / values.length,
	};
}

export async function summarize(dataset: Dataset, top: number): Promise<DatasetSummary> {
	const { tokens, size } = dataset.vocabulary;
	const unit = dataset.manifest.timeUnit.days;
	const events = new Int32Array(size);
	const patients = new Int32Array(size);
	const lastPatient = new Int32Array(size).fill(-1);
	let patient = 0;

	const summarizeSplit = async (split: Split): Promise<SplitSummary> => {
		const counts = dataset.manifest.counts.splits[split];
		const records = new Float64Array(counts.patients);
		const spans = new Float64Array(counts.patients);
		const gaps = new Float64Array(Math.max(0, counts.events - counts.patients));
		let [row, gap, withBirth, female, male] = [0, 0, 0, 0, 0];
		for await (const history of dataset.histories(split)) {
			const times = history.times.subarray(history.birthEvents);
			withBirth += history.birthEvents;
			if (history.sex === "female") female++;
			if (history.sex === "male") male++;
			records[row] = times.length;
			spans[row] = ((times.at(-1) as number) - (times[0] as number)) * unit;
			for (let i = 1; i < times.length; i++)
				gaps[gap++] = ((times[i] as number) - (times[i - 1] as number)) * unit;
			for (const token of history.tokens.subarray(history.birthEvents)) {
				events[token] = (events[token] as number) + 1;
				if (lastPatient[token] === patient) continue;
				lastPatient[token] = patient;
				patients[token] = (patients[token] as number) + 1;
			}
			row++;
			patient++;
		}
		return {
			...counts,
			withBirth,
			female,
			male,
			records: spread(records),
			spanDays: spread(spans),
			gapDays: spread(gaps),
		};
	};

	const splits = {} as Record<Split, SplitSummary>;
	for (const split of splitNames) splits[split] = await summarizeSplit(split);
	const topCodes = tokens
		.map(({ code, name, kind, category }, token) => ({
			code,
			name,
			kind,
			category,
			events: events[token] as number,
			patients: patients[token] as number,
		}))
		.filter(({ kind }) => kind !== "special")
		.sort((a, b) => b.events - a.events)
		.slice(0, top);
	return { splits, topCodes };
}

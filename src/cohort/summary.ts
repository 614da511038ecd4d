import { yearDays } from "../base/time.js";
import type { Dataset } from "./dataset.js";
import type { Histogram } from "./histogram.js";
import { durationHistogram, gapHistogram, recordHistogram } from "./histogram.js";
import type { History } from "./history.js";
import type { Manifest, Split } from "./manifest.js";
import { splitNames } from "./manifest.js";
import { oldestShownAgeDays, roundUpAge, roundUpCount, roundUpDays } from "./privacy-rounding.js";
import type { Spread, ValueCounts } from "./value-counts.js";
import { countValues } from "./value-counts.js";
import type { Token } from "./vocabulary.js";
import { specialCount } from "./vocabulary.js";

export interface SplitSummary {
	readonly patients: number;
	readonly events: number;
	readonly withBirth: number;
	readonly female: number;
	readonly male: number;
	/** Events per patient, birth events not counted. */
	readonly records: Spread | null;
	/** From a patient's first event to the last, in days. */
	readonly spanDays: Spread | null;
	/** Between consecutive events of a patient, in days. */
	readonly gapDays: Spread | null;
	/** Ages at the events of patients with a known birth, in days; ages above 90 years count as 90. */
	readonly ageDays: Spread | null;
}

export interface CodeSummary {
	readonly code: string;
	readonly system: string | null;
	readonly name: string;
	readonly kind: Token["kind"];
	readonly category: string | null;
	/** In all splits, like patients. */
	readonly events: number;
	readonly patients: number;
}

export interface CategorySummary {
	/** Null: codes without a category. */
	readonly category: string | null;
	readonly codes: number;
	readonly events: number;
	/** Patients with at least one of its codes. */
	readonly patients: number;
}

export type LabelSummary = Manifest["labels"][number] & {
	/** Patients with at least one label. */
	readonly patients: number;
	readonly splits: Record<Split, { readonly labels: number; readonly positive: number }>;
};

export interface DatasetSummary {
	readonly splits: Record<Split, SplitSummary>;
	/** All splits together, like the fields below. */
	readonly all: SplitSummary;
	readonly histograms: {
		readonly records: Histogram | null;
		readonly span: Histogram | null;
		readonly gap: Histogram | null;
		readonly age: Histogram | null;
	};
	/** All codes of the vocabulary, the most frequent first. */
	readonly codes: readonly CodeSummary[];
	/** The most frequent first. */
	readonly categories: readonly CategorySummary[];
	readonly labels: readonly LabelSummary[];
}

/** Statistics of a group of patients. */
interface Counts {
	withBirth: number;
	female: number;
	male: number;
	readonly records: ValueCounts;
	readonly spans: ValueCounts;
	readonly gaps: ValueCounts;
	readonly ages: ValueCounts;
}

const noCounts = (): Counts => ({
	withBirth: 0,
	female: 0,
	male: 0,
	records: countValues(),
	spans: countValues(),
	gaps: countValues(),
	ages: countValues(),
});

function mergeCounts(parts: readonly Counts[]): Counts {
	const sum = (of: (part: Counts) => number) => parts.reduce((total, part) => total + of(part), 0);
	return {
		withBirth: sum((part) => part.withBirth),
		female: sum((part) => part.female),
		male: sum((part) => part.male),
		records: countValues(parts.map((part) => part.records)),
		spans: countValues(parts.map((part) => part.spans)),
		gaps: countValues(parts.map((part) => part.gaps)),
		ages: countValues(parts.map((part) => part.ages)),
	};
}

function countHistory(counts: Counts, { times, birthEvents, sex }: History) {
	counts.withBirth += birthEvents;
	if (sex !== null) counts[sex]++;
	const own = times.subarray(birthEvents);
	const birth = birthEvents ? (times[0] as number) : null;
	counts.records.add(own.length);
	counts.spans.add((own.at(-1) as number) - (own[0] as number));
	for (const [i, time] of own.entries()) {
		if (i > 0) counts.gaps.add(time - (own[i - 1] as number));
		if (birth !== null) counts.ages.add(Math.min(time - birth, oldestShownAgeDays));
	}
}

/** Counts events, and patients with an event, for each of `size` kinds. */
function counter(size: number) {
	const events = new Float64Array(size);
	const patients = new Int32Array(size);
	const lastPatient = new Int32Array(size).fill(-1);
	return {
		events,
		patients,
		add(kind: number, patient: number) {
			events[kind] = (events[kind] as number) + 1;
			if (lastPatient[kind] === patient) return;
			lastPatient[kind] = patient;
			patients[kind] = (patients[kind] as number) + 1;
		},
	};
}

/** Reads the events once, in the order on disk; memory does not grow with their number. */
export async function summarize(dataset: Dataset): Promise<DatasetSummary> {
	const { manifest, vocabulary } = dataset;
	const splitOf = splitsOf(dataset);
	const bySplit = { train: noCounts(), valid: noCounts(), test: noCounts() };
	const categories = new Map<string | null, { readonly at: number; codes: number }>();
	const categoryOf = vocabulary.tokens.map(({ category, kind }) => {
		const known = categories.get(category) ?? { at: categories.size, codes: 0 };
		categories.set(category, known);
		if (kind !== "special") known.codes++;
		return known.at;
	});
	const byToken = counter(vocabulary.size);
	const byCategory = counter(categories.size);
	for (const [patient, split] of splitOf.entries()) {
		const history = await dataset.read(patient);
		countHistory(bySplit[split], history);
		for (const token of history.tokens.subarray(history.birthEvents)) {
			byToken.add(token, patient);
			byCategory.add(categoryOf[token] as number, patient);
		}
	}

	const codes = vocabulary.tokens
		.map(({ code, system, name, kind, category }, token) => ({
			code,
			system,
			name,
			kind,
			category,
			events: byToken.events[token] as number,
			patients: byToken.patients[token] as number,
		}))
		.slice(specialCount)
		.sort((a, b) => b.events - a.events);
	const all = mergeCounts(Object.values(bySplit));
	return {
		splits: {
			train: summaryOf(bySplit.train, manifest.counts.splits.train),
			valid: summaryOf(bySplit.valid, manifest.counts.splits.valid),
			test: summaryOf(bySplit.test, manifest.counts.splits.test),
		},
		all: summaryOf(all, manifest.counts),
		histograms: {
			records: roundUpMax(recordHistogram(all.records), roundUpCount),
			span: roundUpMax(durationHistogram(all.spans), roundUpDays),
			gap: roundUpMax(gapHistogram(all.gaps), roundUpDays),
			age: roundUpMax(durationHistogram(all.ages), roundUpAge),
		},
		codes,
		categories: [...categories]
			.map(([category, { at, codes }]) => ({
				category,
				codes,
				events: byCategory.events[at] as number,
				patients: byCategory.patients[at] as number,
			}))
			.filter((category) => category.codes > 0)
			.sort((a, b) => b.events - a.events),
		labels: await Promise.all(
			manifest.labels.map((label) => summarizeLabel(dataset, label, splitOf)),
		),
	};
}

/** The split of each patient, by number. */
function splitsOf(dataset: Dataset): readonly Split[] {
	const splits = new Array<Split>(dataset.manifest.counts.patients);
	for (const split of splitNames)
		for (const patient of dataset.patients(split)) splits[patient] = split;
	return splits;
}

function summaryOf(
	{ withBirth, female, male, records, spans, gaps, ages }: Counts,
	{ patients, events }: { readonly patients: number; readonly events: number },
): SplitSummary {
	return {
		patients,
		events,
		withBirth,
		female,
		male,
		records: roundUpSpread(records.spread(), roundUpCount),
		spanDays: roundUpSpread(spans.spread(), roundUpDays),
		gapDays: roundUpSpread(gaps.spread(), roundUpDays),
		ageDays: roundUpSpread(ages.spread(), roundUpAge),
	};
}

/** Rounds up the largest value, which belongs to a single patient. */
const roundUpSpread = (spread: Spread | null, rounded: (value: number) => number): Spread | null =>
	spread && { ...spread, max: rounded(spread.max) };

function roundUpMax(
	histogram: Histogram | null,
	rounded: (value: number) => number,
): Histogram | null {
	if (!histogram) return null;
	const unit = histogram.unit === "years" ? yearDays : 1;
	return { ...histogram, max: rounded(histogram.max * unit) / unit };
}

async function summarizeLabel(
	dataset: Dataset,
	label: Manifest["labels"][number],
	splitOf: readonly Split[],
): Promise<LabelSummary> {
	const none = () => ({ labels: 0, positive: 0 });
	const splits = { train: none(), valid: none(), test: none() };
	const patients = new Set<number>();
	for (const { patient, value } of await dataset.labels(label.task)) {
		const split = splits[splitOf[patient] as Split];
		split.labels++;
		if (value) split.positive++;
		patients.add(patient);
	}
	return { ...label, patients: patients.size, splits };
}

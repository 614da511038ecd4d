import { yearDays } from "../../base/time.js";
import { observedDays } from "./at-risk.js";
import type { Dataset } from "./dataset.js";
import {
	countValues,
	durationHistogram,
	gapHistogram,
	type Histogram,
	recordHistogram,
	type Spread,
	type ValueCounts,
} from "./distributions.js";
import type { History } from "./history.js";
import { taskOfLabels } from "./label-rules.js";
import { type Manifest, type Split, splitNames } from "./manifest.js";
import { oldestShownAgeDays, roundUpAge, roundUpCount, roundUpDays } from "./privacy-rounding.js";
import { specialCount, type Token } from "./vocabulary.js";

export interface SplitSummary {
	readonly patients: number;
	readonly events: number;
	readonly withBirth: number;
	readonly female: number;
	readonly male: number;
	/** Patients with a known date of death. */
	readonly deaths: number;
	/** Observation periods. */
	readonly periods: number;
	/** Of all patients together. */
	readonly totalObservedDays: number;
	/** Observed days per patient, over patients with an observation period. */
	readonly observedDays: Spread | null;
	/** Events per patient, birth events not counted. */
	readonly records: Spread | null;
	/** From a patient's first event to the last, in days. */
	readonly spanDays: Spread | null;
	/** Between consecutive events of a patient, in days. */
	readonly gapDays: Spread | null;
	/** Ages at the events of patients with a known birth, in days; ages above 90 years count as 90. */
	readonly ageDays: Spread | null;
}

export interface CodeSummary extends Omit<Token, "count"> {
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

/** The values that are counted, and how the largest one, which belongs to a single patient, is rounded up. */
const roundUp = {
	observedDays: roundUpDays,
	records: roundUpCount,
	spanDays: roundUpDays,
	gapDays: roundUpDays,
	ageDays: roundUpAge,
} as const;
type Counted = keyof typeof roundUp;
const counted = Object.keys(roundUp) as Counted[];

/** Sums over a group of patients. */
const noSums = () => ({
	withBirth: 0,
	female: 0,
	male: 0,
	deaths: 0,
	periods: 0,
	totalObservedDays: 0,
});

/** Statistics of a group of patients. */
interface Counts {
	readonly sums: ReturnType<typeof noSums>;
	readonly values: Readonly<Record<Counted, ValueCounts>>;
}

/** The counts of all the groups. */
function mergeCounts(groups: readonly Counts[]): Counts {
	const sums = noSums();
	for (const name of Object.keys(sums) as (keyof typeof sums)[])
		for (const group of groups) sums[name] += group.sums[name];
	return {
		sums,
		values: byCounted((name) => countValues(groups.map(({ values }) => values[name]))),
	};
}

const byCounted = <T>(of: (name: Counted) => T) =>
	Object.fromEntries(counted.map((name) => [name, of(name)])) as Record<Counted, T>;

function countHistory({ sums, values }: Counts, history: History) {
	const { times, birthEvents, sex, death, observed } = history;
	sums.withBirth += birthEvents;
	if (sex !== null) sums[sex]++;
	if (death !== null) sums.deaths++;
	sums.periods += observed.length;
	sums.totalObservedDays += observedDays(observed);
	if (observed.length > 0) values.observedDays.add(observedDays(observed));
	const recordTimes = times.subarray(birthEvents);
	const birth = birthEvents ? times[0] : null;
	const { records, spanDays, gapDays, ageDays } = values;
	records.add(recordTimes.length);
	spanDays.add((recordTimes.at(-1) as number) - recordTimes[0]);
	// A plain loop: this runs for every event.
	for (let i = 0; i < recordTimes.length; i++) {
		const time = recordTimes[i];
		if (i > 0) gapDays.add(time - recordTimes[i - 1]);
		if (birth !== null) ageDays.add(Math.min(time - birth, oldestShownAgeDays));
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
			events[kind] += 1;
			if (lastPatient[kind] === patient) return;
			lastPatient[kind] = patient;
			patients[kind] += 1;
		},
	};
}

/** Reads the events once, in the order on disk; memory does not grow with their number. */
export async function summarize(dataset: Dataset): Promise<DatasetSummary> {
	const { manifest, vocabulary } = dataset;
	const splitOf = splitsOf(dataset);
	const bySplit = { train: mergeCounts([]), valid: mergeCounts([]), test: mergeCounts([]) };
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
			byCategory.add(categoryOf[token], patient);
		}
	}

	const codes = vocabulary.tokens
		.map(({ count: _inTraining, ...code }, token) => ({
			...code,
			events: byToken.events[token],
			patients: byToken.patients[token],
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
			records: roundUpMax(recordHistogram(all.values.records), roundUp.records),
			span: roundUpMax(durationHistogram(all.values.spanDays), roundUp.spanDays),
			gap: roundUpMax(gapHistogram(all.values.gapDays), roundUp.gapDays),
			age: roundUpMax(durationHistogram(all.values.ageDays), roundUp.ageDays),
		},
		codes,
		categories: [...categories]
			.map(([category, { at, codes }]) => ({
				category,
				codes,
				events: byCategory.events[at],
				patients: byCategory.patients[at],
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

const summaryOf = (
	{ sums, values }: Counts,
	{ patients, events }: { readonly patients: number; readonly events: number },
): SplitSummary => ({
	patients,
	events,
	...sums,
	...byCounted((name) => {
		const spread = values[name].spread();
		return spread && { ...spread, max: roundUp[name](spread.max) };
	}),
});

function roundUpMax(
	histogram: Histogram | null,
	rounded: (value: number) => number,
): Histogram | null {
	if (!histogram) return null;
	const unit = histogram.unit === "years" ? yearDays : histogram.unit === "hours" ? 1 / 24 : 1;
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
		const split = splits[splitOf[patient]];
		split.labels++;
		if (value) split.positive++;
		patients.add(patient);
	}
	return { ...label, task: taskOfLabels(label.task), patients: patients.size, splits };
}

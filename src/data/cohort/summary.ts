import { join } from "node:path";
import { type TimeUnit, unitFor, yearDays } from "../../base/time.js";
import { parquetRows, type Store, withStore } from "../records/store.js";
import { observedDays } from "./at-risk.js";
import type { Dataset } from "./dataset.js";
import { taskOfLabels } from "./label-rules.js";
import { type Manifest, type Split, splitNames } from "./manifest.js";
import { oldestShownAgeDays, roundUpAge, roundUpCount, roundUpDays } from "./privacy-rounding.js";
import { specialCount } from "./vocabulary.js";

/** The values that are counted, and how the largest one, which belongs to a single patient, is rounded up. */
const roundUp = {
	observedDays: roundUpDays,
	records: roundUpCount,
	spanDays: roundUpDays,
	gapDays: roundUpDays,
	ageDays: roundUpAge,
} as const;
type Counted = keyof typeof roundUp;

export type DatasetSummary = Awaited<ReturnType<typeof summarize>>;
export type SplitSummary = DatasetSummary["all"];
export type LabelSummary = DatasetSummary["labels"][number];

const memory = 2 ** 30;

/** Describes a dataset by statistics that identify nobody. */
export async function summarize(dataset: Dataset) {
	const { manifest, vocabulary } = dataset;
	const { patients, distribution, tokens, categories } = await countAll(dataset);
	const labels: ReturnType<typeof summarizeLabel>[] = [];
	for (const label of manifest.labels)
		labels.push(summarizeLabel(label, await dataset.labels(label.task), splitsOf(dataset)));
	const group = (split: Split | "all") => {
		const { patients: count, events } =
			split === "all" ? manifest.counts : manifest.counts.splits[split];
		const spread = (name: Counted): Spread | null => {
			const known = distribution(split, name).spread();
			return known && { ...known, max: roundUp[name](known.max) };
		};
		return {
			patients: count,
			events,
			...patients(split),
			/** Observed days per patient, over patients with an observation period. */
			observedDays: spread("observedDays"),
			/** Events per patient, birth events not counted. */
			records: spread("records"),
			/** From a patient's first event to the last, in days. */
			spanDays: spread("spanDays"),
			/** Between consecutive events of a patient, in days. */
			gapDays: spread("gapDays"),
			/** Ages at the events of patients with a known birth, in days; ages above 90 years count as 90. */
			ageDays: spread("ageDays"),
		};
	};
	const histogram = (name: Counted, draw: (values: Distribution) => Histogram | null) => {
		const drawn = draw(distribution("all", name));
		if (!drawn) return null;
		const unit = drawn.unit === "years" ? yearDays : drawn.unit === "hours" ? 1 / 24 : 1;
		return { ...drawn, max: roundUp[name](drawn.max * unit) / unit };
	};
	return {
		splits: { train: group("train"), valid: group("valid"), test: group("test") },
		/** All splits together, like the fields below. */
		all: group("all"),
		histograms: {
			records: histogram("records", recordHistogram),
			span: histogram("spanDays", durationHistogram),
			gap: histogram("gapDays", gapHistogram),
			age: histogram("ageDays", durationHistogram),
		},
		/** All codes of the vocabulary, the most frequent first. */
		codes: vocabulary.tokens
			.map(({ count: _inTraining, ...code }, token) => ({ ...code, ...tokens(token) }))
			.slice(specialCount)
			.sort((a, b) => b.events - a.events),
		/** The most frequent first. */
		categories,
		labels,
	};
}

/** Counts by split ("all": all splits together), read from the tables of a dataset. */
async function countAll(dataset: Dataset) {
	const [eventsFile, patientsFile] = ["events.parquet", "patients.parquet"].map((name) =>
		join(dataset.folder, name),
	) as [string, string];
	return withStore({ memory, files: [eventsFile, patientsFile] }, async (store) => {
		const events = parquetRows(eventsFile);
		await store.create("observed", "patient INTEGER, periods INTEGER, days DOUBLE");
		await store.append("observed", observedRows(dataset));
		await store.run(`
			CREATE TABLE member AS SELECT * EXCLUDE (file_row_number)
			FROM ${parquetRows(patientsFile)} JOIN observed ON observed.patient = file_row_number`);
		return {
			patients: await countPatients(store),
			distribution: await countValues(store, events),
			...(await countCodes(store, events, dataset)),
		};
	});
}

function* observedRows(dataset: Dataset) {
	for (const split of splitNames)
		for (const patient of dataset.patients(split)) {
			const observed = dataset.observedOf(patient);
			yield { patient, periods: observed.length, days: observedDays(observed) };
		}
}

/** Counts the patients of each split. */
async function countPatients(store: Store) {
	const sums = {
		withBirth: "count(birth)",
		female: "count(*) FILTER (sex = 'female')",
		male: "count(*) FILTER (sex = 'male')",
		/** Patients with a known date of death. */
		deaths: "count(death)",
		/** Observation periods. */
		periods: "coalesce(sum(periods), 0)::DOUBLE",
		/** Of all patients together. */
		totalObservedDays: "coalesce(sum(days), 0)",
	} as const;
	const columns = Object.entries(sums).map(([name, sql]) => `${sql} AS ${name}`);
	type Sums = { -readonly [Name in keyof typeof sums]: number };
	const rows = await store.all<Sums & { split: string }>(`
		SELECT coalesce(split, 'all') AS split, ${columns.join(", ")}
		FROM member GROUP BY GROUPING SETS (split, ())`);
	const none = Object.fromEntries(Object.keys(sums).map((name) => [name, 0])) as Sums;
	return (split: Split | "all"): Sums => {
		const { split: _, ...found } = rows.find((row) => row.split === split) ?? { split, ...none };
		return found;
	};
}

/** Counts how often each value occurs in each split, rounded (see `roundedSql`) so that there are few. */
async function countValues(store: Store, events: string) {
	// Events are ordered by patient: looking back needs no sorting.
	const rows = await store.all<
		Record<"value" | "times" | "sum", number> & { name: string; split: string }
	>(`
		WITH event AS (
			SELECT patient, time, lag(time) OVER () AS before, lag(patient) OVER () AS earlier FROM ${events}
		), counted AS (
			SELECT split, 'observedDays' AS name, days AS value FROM member WHERE periods > 0
			UNION ALL SELECT split, 'records', count FROM member
			UNION ALL SELECT split, 'spanDays', span
				FROM member JOIN (SELECT patient, max(time) - min(time) AS span FROM event GROUP BY patient) USING (patient)
			UNION ALL SELECT split, 'gapDays', time - before
				FROM event JOIN member USING (patient) WHERE earlier = patient
			UNION ALL SELECT split, 'ageDays', least(time - birth, ${oldestShownAgeDays})
				FROM event JOIN member USING (patient) WHERE birth IS NOT NULL
		)
		SELECT name, coalesce(split, 'all') AS split, value, count(*) AS times,
			CASE WHEN grouping(split) = 1 THEN sum(value) ELSE sum(exact) END AS sum
		FROM (SELECT split, name, value AS exact, ${roundedSql("counted.value")} AS value FROM counted)
		GROUP BY GROUPING SETS ((name, value, split), (name, value)) ORDER BY value`);
	return (split: Split | "all", name: Counted): Distribution =>
		distributionOf(rows.filter((row) => row.split === split && row.name === name));
}

/** Counts events, and patients with an event, of each code and category. */
async function countCodes(store: Store, events: string, { vocabulary }: Dataset) {
	const names = [...new Set(vocabulary.tokens.map(({ category }) => category))];
	await store.create("category", "token INTEGER, category INTEGER");
	await store.append(
		"category",
		vocabulary.tokens.map(({ category }, token) => ({ token, category: names.indexOf(category) })),
	);
	await store.run(`
		CREATE TABLE recorded AS
		SELECT patient, token, count(*)::INTEGER AS n FROM ${events} GROUP BY patient, token`);
	const counts = async (kind: string) => {
		const rows = await store.all<Record<"kind" | "events" | "patients", number>>(`
			SELECT ${kind} AS kind, sum(n)::DOUBLE AS events, count(DISTINCT patient) AS patients
			FROM recorded JOIN category USING (token) GROUP BY kind`);
		const known = new Map(rows.map(({ kind, ...count }) => [kind, count]));
		return (kind: number) => known.get(kind) ?? { events: 0, patients: 0 };
	};
	const ofCategory = await counts("category");
	const codes = vocabulary.tokens.slice(specialCount);
	return {
		tokens: await counts("token"),
		categories: names
			.map((category, at) => ({
				/** Null: codes without a category. */
				category,
				codes: codes.filter((code) => code.category === category).length,
				...ofCategory(at),
			}))
			.filter((category) => category.codes > 0)
			.sort((a, b) => b.events - a.events),
	};
}

/** The split of each patient, by number. */
function splitsOf(dataset: Dataset): readonly Split[] {
	const splits = new Array<Split>(dataset.manifest.counts.patients);
	for (const split of splitNames)
		for (const patient of dataset.patients(split)) splits[patient] = split;
	return splits;
}

function summarizeLabel(
	label: Manifest["labels"][number],
	labels: Awaited<ReturnType<Dataset["labels"]>>,
	splitOf: readonly Split[],
) {
	const none = () => ({ labels: 0, positive: 0 });
	const splits = { train: none(), valid: none(), test: none() };
	for (const { patient, value } of labels) {
		const split = splits[splitOf[patient]];
		split.labels++;
		if (value) split.positive++;
	}
	/** Patients with at least one label. */
	const patients = new Set(labels.map(({ patient }) => patient)).size;
	return { ...label, task: taskOfLabels(label.task), patients, splits };
}

/** The shape of a distribution in a few numbers; in summaries of a dataset `max` is rounded up: see `privacy-rounding.ts`. */
export type Spread = Readonly<
	Record<"min" | "quarter" | "median" | "threeQuarters" | "max" | "mean", number>
>;

const wholeLimit = 2 ** 17;

/**
 * SQL that rounds a value, so that a distribution has few different ones: to a whole number (days: 2^17 is 358 years)
 * within a second of it, any other to ten binary digits, which is one part in a thousand.
 */
export function roundedSql(value: string): string {
	const step = `pow(2, floor(log2(abs(${value}))) - 10)`;
	return `CASE WHEN round(${value}) BETWEEN 0 AND ${wholeLimit - 1} AND abs(${value} - round(${value})) < 1e-5
		THEN round(${value}) + 0 ELSE round(${value} / ${step}) * ${step} END`;
}

/** How often each rounded value occurs, and the sum of the values before rounding; ascending. */
export function distributionOf(
	entries: readonly { readonly value: number; readonly times: number; readonly sum: number }[],
) {
	const size = entries.reduce((sum, { times }) => sum + times, 0);
	/** The value that the fraction `part` of all values does not exceed; NaN if there are none. */
	const quantile = (part: number): number => {
		const position = Math.round(part * (size - 1));
		let before = 0;
		for (const { value, times } of entries) {
			before += times;
			if (before > position) return value;
		}
		return Number.NaN;
	};
	return {
		size,
		entries,
		quantile,
		/** Null if there are no values. */
		spread: (): Spread | null =>
			size === 0
				? null
				: {
						min: quantile(0),
						quarter: quantile(0.25),
						median: quantile(0.5),
						threeQuarters: quantile(0.75),
						max: quantile(1),
						mean: entries.reduce((total, { sum }) => total + sum, 0) / size,
					},
	};
}

type Distribution = ReturnType<typeof distributionOf>;

export interface Histogram {
	/** The unit of `edges`. */
	readonly unit: "records" | TimeUnit["name"];
	/** `log`: each bin is twice as wide as the previous one. */
	readonly scale: "linear" | "log";
	/** Whether all values are whole numbers. */
	readonly whole: boolean;
	/** One more than `counts`: bin i contains values ≥ edges[i] and < edges[i + 1]. */
	readonly edges: readonly number[];
	readonly counts: readonly number[];
	/** The number of zeros, which a log scale cannot show. */
	readonly zero: number;
	/** The number of values above the last edge: a thin tail, left out to keep the rest legible. */
	readonly above: number;
	/** In summaries of a dataset rounded up: see `privacy-rounding.ts`. */
	readonly max: number;
}

const mostBins = 30;
/** A tail is cut off if it would take more than this share of the width. */
const tailShare = 0.4;
/** The cut-off tail contains at most this share of the values. */
const tailPart = 0.01;

/** The smallest bin width of 1, 2 or 5 times a power of ten that needs at most 30 bins. */
function niceStep(width: number, least: number): number {
	const step = Math.max(width / mostBins, least);
	const power = 10 ** Math.floor(Math.log10(step));
	return ([1, 2, 5, 10].find((times) => times * power >= step * (1 - 1e-9)) as number) * power;
}

const areWhole = (values: Distribution) =>
	values.entries.every(({ value }) => Number.isInteger(value));

function linear(values: Distribution, unit: Histogram["unit"], unitSize: number, finest: number) {
	if (values.size === 0) return null;
	const areAllWhole = unitSize === 1 && areWhole(values);
	const min = values.quantile(0) / unitSize;
	const max = values.quantile(1) / unitSize;
	const body = values.quantile(1 - tailPart) / unitSize;
	const shown = max - body > tailShare * (max - min) ? body : max;
	const step = niceStep(shown - min, areAllWhole ? 1 : finest);
	// Edges as quotients, since 3 · 0.1 is not 0.3.
	const edge = (at: number) => (step < 1 ? at / Math.round(1 / step) : at * step);
	const first = Math.floor(min / step + 1e-9);
	const bins = Math.max(1, Math.floor(shown / step + 1e-9) - first + 1);
	const counts = Array.from({ length: bins }, () => 0);
	let above = 0;
	for (const { value, times } of values.entries) {
		const bin = Math.floor(value / unitSize / step + 1e-9) - first;
		if (bin < bins) counts[bin] += times;
		else above += times;
	}
	return {
		unit,
		scale: "linear" as const,
		whole: areAllWhole,
		edges: Array.from({ length: bins + 1 }, (_, at) => edge(first + at)),
		counts,
		zero: 0,
		above,
		max,
	};
}

export const recordHistogram = (records: Distribution): Histogram | null =>
	linear(records, "records", 1, 1);

/** The narrowest bins. */
const finest = { years: 0.1, days: 0.001, hours: 0.01 } as const;

/** A histogram of days, in the unit that fits the longest. */
export function durationHistogram(days: Distribution): Histogram | null {
	const { name, days: size } = unitFor(days.quantile(1));
	return linear(days, name, size, finest[name]);
}

/** 2^-10 days: 84 seconds. */
const leastExponent = -10;

/** A histogram of days in bins that double; gaps below 84 seconds go into the first bin. */
export function gapHistogram(days: Distribution): Histogram | null {
	if (days.size === 0) return null;
	const byExponent = new Map<number, number>();
	let zero = 0;
	for (const { value, times } of days.entries) {
		if (value <= 0) zero += times;
		else {
			const exponent = Math.max(leastExponent, Math.floor(Math.log2(value)));
			byExponent.set(exponent, (byExponent.get(exponent) ?? 0) + times);
		}
	}
	const exponents = [...byExponent.keys()];
	const first = exponents.length > 0 ? Math.min(...exponents) : 0;
	const last = exponents.length > 0 ? Math.max(...exponents) : 0;
	const all = Array.from({ length: last - first + 1 }, (_, at) => first + at);
	return {
		unit: "days",
		scale: "log",
		whole: areWhole(days),
		edges: [...all, last + 1].map((exponent) => 2 ** exponent),
		counts: all.map((exponent) => byExponent.get(exponent) ?? 0),
		zero,
		above: 0,
		max: days.quantile(1),
	};
}

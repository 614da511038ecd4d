import { InputError } from "../../base/errors.js";
import { mapValues } from "../../base/map-values.js";
import { yearDays } from "../../base/time.js";
import { indexPeriods, usualLookBack } from "../../data/cohort/at-risk.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Events } from "../../model/index.js";
import { futureModel, futureRules } from "../../predict/futures.js";
import { measured, type PatientRow, ratioOf } from "../bootstrap.js";
import type { EvaluateOptions, MeasureRun } from "../evaluation.js";
import { type IndexedPatient, indexCohort } from "../onset/index-days.js";
import { indexRuleOf } from "../onset/task.js";
import { sequenceTask } from "./sequences.js";

/**
 * Task *futures*. Where it is known when patients were observed, sampled futures are compared with what happened.
 * Elsewhere, patients are event sequences, and predictions are scored as in the HoTPP benchmark.
 */
export const futuresTask = (dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> => {
	const { observation } = dataset.manifest;
	const isKnown = observation !== undefined && observation.from !== "records";
	return (isKnown ? populationTask : sequenceTask)(dataset, options);
};

/** Futures per patient, and how far they go. */
const samples = 4;
const horizonDays = 365;

/**
 * Whether sampled futures look like what happened: visits per year, codes per visit, first records and deaths within
 * a year of an index day. The same date for everybody unless told otherwise: a day that depends on how long a patient
 * will be observed would favour those who die.
 */
async function populationTask(dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> {
	const { split, seed, lookBackDays = usualLookBack } = options;
	const rule = options.index
		? indexRuleOf(dataset, options.index)
		: { kind: "date" as const, day: await commonDay(dataset, options) };
	const { patients, excluded } = await indexCohort(dataset, split, rule, { seed, lookBackDays });
	if (patients.length === 0)
		throw new InputError(
			`${dataset.folder}: no patient is at risk after the index day; choose another \`index\``,
			{ field: "index" },
		);
	const rules = futureRules(dataset.vocabulary, dataset.manifest.filters.dedup);
	const observed = countsOf(patients, rules.leftOut, ({ history, atRisk }) => [
		{
			...recordsAfter(history, atRisk.from),
			death: atRisk.endedBy === "death" ? atRisk.until : null,
		},
	]);
	const notes = [
		`index: ${options.index ?? "the day on which most patients are observed for a year before and after"}; ${samples} futures of one year per patient, cut where the patient's observation ends`,
		"onsets: codes that the patient did not have, per year; deaths per 1,000 years",
		`patients without an index day: ${Object.values(excluded).reduce((sum, count) => sum + count, 0)}`,
	];
	return async (runtime, trained) => {
		const rows: PatientRow[] = [row({ who: "observed", label: "observed" }, observed)];
		if (trained) {
			const model = futureModel(runtime, trained);
			const futures = await model
				.draw(
					patients.map(({ history }) => history),
					patients.map(({ day }) => day),
					{ days: horizonDays, samples, seed, ...rules },
				)
				.finally(() => model.dispose());
			const sampled = countsOf(patients, rules.leftOut, (_, index) => futures[index] ?? []);
			rows.unshift(row({ who: "model", label: `${trained.model.name}, futures` }, sampled));
			notes.push(`futures / observed: ${ratiosText(sampled, observed)}`);
		}
		return measured("futures", options, rows, {
			patients: patients.length,
			events: observed.records.reduce((sum, count) => sum + count, 0),
			notes,
		});
	};
}

const metrics = {
	visitsPerYear: { of: "visits", per: "years", scale: 1 },
	codesPerVisit: { of: "records", per: "visits", scale: 1 },
	onsetsPerYear: { of: "onsets", per: "years", scale: 1 },
	deathsPer1000Years: { of: "deaths", per: "years", scale: 1000 },
} as const;

const row = (name: PatientRow["name"], counts: Counts): PatientRow => ({
	name,
	statistics: mapValues(metrics, ({ of, per, scale }) =>
		ratioOf(
			counts[of].map((count) => count * scale),
			counts[per],
		),
	),
});

const ratiosText = (one: Counts, other: Counts) => {
	const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
	const rate = (counts: Counts, { of, per }: (typeof metrics)[keyof typeof metrics]) =>
		total(counts[of]) / total(counts[per]);
	return Object.entries(metrics)
		.map(([name, metric]) => `${name} ${(rate(one, metric) / rate(other, metric)).toFixed(3)}`)
		.join(", ");
};

type Counts = ReturnType<typeof countsOf>;

/**
 * What happened, or is sampled, after the index day: means over the courses of each patient, up to the horizon, death or
 * the end of the patient's own observation. Tokens that futures leave out, such as one for death, do not count as
 * records; onsets are codes that are recorded for the first time.
 */
function countsOf(
	patients: readonly IndexedPatient[],
	leftOut: readonly number[],
	coursesOf: (
		patient: IndexedPatient,
		index: number,
	) => readonly (Events & { readonly death: number | null })[],
) {
	const zeros = () => new Float64Array(patients.length);
	const counts = {
		years: zeros(),
		visits: zeros(),
		records: zeros(),
		onsets: zeros(),
		deaths: zeros(),
	};
	for (const [index, patient] of patients.entries()) {
		const { history, day, atRisk } = patient;
		const observedUntil = atRisk.endedBy === "death" ? Number.POSITIVE_INFINITY : atRisk.until;
		const end = Math.min(day + horizonDays, observedUntil);
		const courses = coursesOf(patient, index);
		const add = (field: keyof Counts, value: number) => {
			counts[field][index] += value / courses.length;
		};
		const known = history.tokens.filter((_, n) => Math.floor(history.times[n]) <= day);
		for (const { tokens, times, death } of courses) {
			const until = Math.min(end, death ?? end);
			add("years", (until - day) / yearDays);
			if (death !== null && death <= end) add("deaths", 1);
			const had = new Set(known);
			let last = Number.NaN;
			for (let n = 0; n < tokens.length; n++) {
				const visitDay = Math.floor(times[n]);
				if (visitDay > until) break;
				const token = tokens[n];
				if (leftOut.includes(token)) continue;
				add("records", 1);
				if (visitDay !== last) add("visits", 1);
				last = visitDay;
				if (token >= specialCount && !had.has(token)) add("onsets", 1);
				had.add(token);
			}
		}
	}
	return counts;
}

function recordsAfter({ tokens, times }: IndexedPatient["history"], day: number): Events {
	const first = times.findIndex((time) => Math.floor(time) > day);
	return first < 0
		? { tokens: [], times: [] }
		: { tokens: tokens.subarray(first), times: times.subarray(first) };
}

/** The day on which most patients of the split can be indexed and are followed for the horizon. */
async function commonDay(
	dataset: Dataset,
	{ split, lookBackDays = usualLookBack }: EvaluateOptions,
): Promise<number> {
	const changes = new Map<number, number>();
	const change = (day: number, by: number) => changes.set(day, (changes.get(day) ?? 0) + by);
	for (const patient of dataset.patients(split)) {
		const { observed } = await dataset.read(patient);
		for (const { start, end } of indexPeriods({ observed, death: null }, lookBackDays)) {
			if (end - horizonDays < start) continue;
			change(start, 1);
			change(end - horizonDays + 1, -1);
		}
	}
	let [count, most, best] = [0, 0, Number.NaN];
	for (const day of [...changes.keys()].sort((a, b) => a - b)) {
		count += changes.get(day) as number;
		if (count > most) [most, best] = [count, day];
	}
	if (Number.isNaN(best))
		throw new InputError(
			`${dataset.folder}: no patient is observed for ${lookBackDays} days and a year after; evaluate another dataset`,
		);
	return best;
}

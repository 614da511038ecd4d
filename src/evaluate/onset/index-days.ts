import { InputError } from "../../base/errors.js";
import { type Random, random } from "../../base/random.js";
import { dayOfIsoDate, type TimeAxis, yearDays } from "../../base/time.js";
import * as observation from "../../data/cohort/at-risk.js";
import * as data from "../../data/cohort/index.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { sortFollowUp, statusOf } from "../survival/follow-up.js";

/**
 * Where the index day of a patient lies:
 * - random: drawn evenly from the middle of the observed time (30 to 70 %);
 * - visit: the day of a record, drawn evenly;
 * - a day: the same date for everybody;
 * - an age in years.
 */
export type IndexRule =
	| { readonly kind: "random" | "visit" }
	| { readonly kind: "date"; readonly day: number }
	| { readonly kind: "age"; readonly years: number };

const oldest = 120;

export function parseIndexRule(text: string): IndexRule {
	if (text === "random" || text === "visit") return { kind: text };
	const years = /^age:(\d+(?:\.\d+)?)$/.exec(text)?.[1];
	if (years !== undefined && Number(years) > oldest)
		throw new InputError(
			`\`index\` is ${text}; expected an age of at most ${oldest} years, as in age:60`,
			{ field: "index", value: text },
		);
	if (years !== undefined) return { kind: "age", years: Number(years) };
	const day = dayOfIsoDate(text);
	if (day !== undefined) return { kind: "date", day };
	throw new InputError(
		`\`index\` is ${JSON.stringify(text)}; expected random, visit, a date such as 2015-01-01, or age:N`,
		{ field: "index", value: text },
	);
}

/** The same; refuses a date where times are not dates. */
export function indexRuleFor(text: string, axis: TimeAxis, where: string): IndexRule {
	const rule = parseIndexRule(text);
	if (rule.kind === "date" && axis !== "dates")
		throw new InputError(
			`${where} has no dates, so the index cannot be ${text}; choose random, visit or age:N as \`index\``,
			{ field: "index", value: text },
		);
	return rule;
}

export interface IndexedPatient {
	/** Number in the dataset. */
	readonly patient: number;
	readonly history: data.History;
	readonly day: number;
	readonly atRisk: observation.TimeAtRisk;
}

type Excluded = observation.NotAtRisk | "birth unknown" | "no time in the middle of observation";

export type IndexedCohort = Awaited<ReturnType<typeof indexCohort>>;

/** The share of observed time in which random index days lie. */
const middle = { from: 0.3, to: 0.7 };

interface IndexOptions {
	readonly seed: number;
	readonly lookBackDays: number;
}

/**
 * One index day for each patient of a split, which depends on the seed and the patient alone, and the patients without
 * one, by reason.
 */
export async function indexCohort(
	dataset: data.Dataset,
	split: data.Split,
	rule: IndexRule,
	options: IndexOptions,
) {
	const patients: IndexedPatient[] = [];
	const excluded: Partial<Record<Excluded, number>> = {};
	const exclude = (reason: Excluded) => {
		excluded[reason] = (excluded[reason] ?? 0) + 1;
	};
	for await (const patient of indexedPatients(dataset, split, rule, options, exclude))
		patients.push(patient);
	return { patients, excluded };
}

/** The same, patient by patient: the histories of a large split do not fit in memory. */
async function* indexedPatients(
	dataset: data.Dataset,
	split: data.Split,
	rule: IndexRule,
	{ seed, lookBackDays }: IndexOptions,
	exclude?: (reason: Excluded) => void,
): AsyncGenerator<IndexedPatient> {
	for (const patient of dataset.patients(split)) {
		const history = await dataset.read(patient);
		const day = indexDay(history, rule, drawOf(seed, history.id), lookBackDays);
		const reason =
			typeof day === "string" ? day : observation.whyNotAtRisk(history, day, lookBackDays);
		if (reason !== null) exclude?.(reason);
		else {
			const atRisk = observation.timeAtRisk(
				history,
				day as number,
				lookBackDays,
			) as observation.TimeAtRisk;
			yield { patient, history, day: day as number, atRisk };
		}
	}
}

/** The draws of a patient's index day. */
export const drawOf = (seed: number, id: string): Random => random(seed).fork("index").fork(id);

/** The index day of a patient by a rule, or why there is none. */
export function indexDay(history: data.History, rule: IndexRule, draw: Random, lookBack: number) {
	switch (rule.kind) {
		case "date":
			return rule.day;
		case "age":
			if (history.birthEvents === 0) return "birth unknown";
			return Math.floor(history.times[0] + rule.years * yearDays);
		case "visit": {
			const days = new Set<number>();
			for (let i = history.birthEvents as number; i < history.times.length; i++) {
				const day = Math.floor(history.times[i]);
				if (observation.whyNotAtRisk(history, day, lookBack) === null) days.add(day);
			}
			const all = [...days];
			return all[draw.integer(all.length)] ?? "look-back not covered";
		}
		case "random":
			return middleDay(history, draw, lookBack);
	}
}

/** A day of the middle of observation on which the patient is at risk. */
function middleDay(history: data.History, draw: Random, lookBack: number): number | Excluded {
	const total = observation.observedDays(history.observed);
	const allowed = observation.indexPeriods(history, lookBack);
	let before = 0;
	const stretches: data.Period[] = [];
	for (const period of history.observed) {
		const days = period.end - period.start + 1;
		const from = period.start + Math.max(0, Math.ceil(middle.from * total) - before);
		const to = Math.min(period.end, period.start + Math.floor(middle.to * total) - before);
		for (const { start, end } of allowed) {
			const begin = Math.max(from, start);
			const last = Math.min(to, end, period.end);
			if (begin <= last && begin >= period.start) stretches.push({ start: begin, end: last });
		}
		before += days;
	}
	const day = observation.nthDay(stretches, draw.integer(observation.observedDays(stretches) || 1));
	return day ?? "no time in the middle of observation";
}

/** The horizon of onset tasks. */
export const onsetHorizonDays = Math.round(3 * yearDays);

/** Index days are the same in every evaluation and fine-tuning. */
const indexSeed = 0;

/**
 * Labels of a first record of any of the tokens within the horizon, one index day per patient of every split, drawn
 * as in task *onset*: it does not depend on records of the tokens, but on the end of observation, and so on death.
 * Patients who have a token by then are not at risk; those who died without it are negative; those whose observation
 * ends before count through the weights of the others, which are estimated in each split.
 */
export async function onsetLabels(dataset: data.Dataset, tokens: readonly number[]) {
	const group = new Set(tokens);
	/** Of patients whose outcome is known, with the weights that correct for the others. */
	const labels: data.Label[] = [];
	/** Patients at risk whose observation ended before the horizon, without an outcome. */
	const censored = { train: 0, valid: 0, test: 0 };
	for (const split of data.splitNames) {
		const cohort = await atRiskIn(dataset, split, group);
		const followUp = sortFollowUp({
			time: cohort.map(({ after }) => after),
			status: cohort.map(({ status }) => status),
		});
		const outcome = outcomeAt(followUp, onsetHorizonDays);
		const weighed = outcome.weigh();
		if (!weighed) continue;
		const splitLabels: data.Label[] = [];
		for (const [index, entry] of followUp.entry.entries()) {
			const weight = weighed.weights[index];
			if (weight === 0) {
				censored[split]++;
				continue;
			}
			const { patient, time, events } = cohort[entry];
			if (time === undefined) continue;
			splitLabels.push({ patient, time, events, value: outcome.labels[index] === 1, weight });
		}
		for (const label of splitLabels.sort((one, other) => one.patient - other.patient))
			labels.push(label);
	}
	return { labels, censored };
}

/** Patients who have none of the tokens on the index day: days until the outcome, and which it is. */
async function atRiskIn(dataset: data.Dataset, split: data.Split, group: ReadonlySet<number>) {
	const patients = [];
	const options = { seed: indexSeed, lookBackDays: observation.usualLookBack };
	for await (const one of indexedPatients(dataset, split, { kind: "random" }, options)) {
		const { patient, history, day, atRisk } = one;
		if (observation.lastRecordBefore(history, group, day) !== Number.NEGATIVE_INFINITY) continue;
		const { after, what } = observation.outcomeOf(
			atRisk,
			observation.firstRecordAfter(history, group, day),
		);
		let seen = 0;
		while (seen < history.times.length && Math.floor(history.times[seen]) <= day) seen++;
		// Of the prediction; undefined without a record by then.
		const time = seen === 0 ? undefined : Math.max(day, history.times[seen - 1]);
		const events = seen - history.birthEvents;
		patients.push({ patient, time, events, after, status: statusOf[what] });
	}
	return patients;
}

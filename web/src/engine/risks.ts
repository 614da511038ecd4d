import { yearDays } from "../../../src/base/time.js";
import {
	incidenceByAgeAndSex,
	type RatesByAgeAndSex,
} from "../../../src/data/cohort/age-sex-rates.js";
import { specialCount, type Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Sex } from "../../../src/data/records/rows.js";
import type { Calls } from "../../../src/predict/calls.js";
import type { HistoryStart } from "../../../src/predict/hazards.js";
import type { Edit } from "../../../src/predict/histories.js";
import { explainIncidence, type ReasonOptions } from "../../../src/predict/reasons.js";
import type { History } from "../data/patient.js";

/** Points of a curve per year. */
const perYear = 4;

/** A patient on a date: the records up to and including that day are known. */
export interface PatientOnDate {
	readonly history: History;
	readonly sex: Sex | null;
	readonly date: number;
}

/** A state from which a patient's history can be read; null if there is none. */
export type StartFor = (patient: PatientOnDate) => HistoryStart | null;

/** What risks are computed with. */
export interface RiskModel {
	readonly calls: Pick<Calls, "incidence">;
	/** The farthest day after a date that the model can answer. */
	readonly longest: number;
	/** Rates of first records by age and sex; null if the model has none. */
	readonly rates: RatesByAgeAndSex | null;
}

/** The farthest day after a date that a model can answer; undefined if it has learned no hazards. */
export function longestDays(config: Readonly<Record<string, unknown>>): number | undefined {
	const hazards = config.hazards as { readonly binDays?: readonly number[] } | null | undefined;
	return hazards?.binDays?.at(-1);
}

/** The days after a date at which curves have a point. Ten years are 3,652.5 days, and bins end on whole days. */
export const curveDays = (longest: number): number[] =>
	Array.from({ length: Math.round((perYear * longest) / yearDays) }, (_, at) =>
		Math.min(((at + 1) * yearDays) / perYear, longest),
	);

/** The value of a curve after so many years; undefined beyond what the model has learned. */
export const afterYears = (curve: readonly number[], years: number): number | undefined =>
	curve[perYear * years - 1];

/** The risks of every code of the vocabulary, of one history on one date. */
export type RiskTable = Awaited<ReturnType<typeof riskTables>>[number];

/** The tables of several histories, in one call of the model. */
export async function riskTables(
	{ calls, longest }: Pick<RiskModel, "calls" | "longest">,
	patients: readonly PatientOnDate[],
	{ size }: Pick<Vocabulary, "size">,
	startFor: StartFor = () => null,
) {
	const codes = Array.from({ length: size - specialCount }, (_, at) => [specialCount + at]);
	const incidences = await calls.incidence(
		patients.map(({ history: { tokens, times } }) => ({ tokens, times })),
		codes,
		patients.map(({ date }) => [date]),
		curveDays(longest),
		patients.map(startFor),
	);
	return patients.map((patient, i) => {
		const codeRisks = incidences[i] ?? [];
		return {
			...patient,
			curve: (token: number) => Array.from(codeRisks[token - specialCount]?.probabilities ?? []),
			/** The time of the first record up to the date; null if there is none. */
			recordedAt: (token: number) => codeRisks[token - specialCount]?.recordedAt[0] ?? null,
		};
	});
}

/** The probability that a code is recorded after a date, death competing: at the days of `curveDays`. */
export type CodeRisk = ReturnType<typeof riskOf>;

/** The risk of a code, beside people of the same age and sex. */
export function riskOf(
	table: RiskTable,
	{ longest, rates }: Pick<RiskModel, "longest" | "rates">,
	token: number,
) {
	const others = curveDays(longest).map((days) => ofSameAgeAndSex(table, rates, token, days));
	return {
		token,
		/** The time of the first record up to the date: the risk is that of another one. Null: of the first. */
		recordedAt: table.recordedAt(token),
		curve: table.curve(token),
		/** The same of people of this age and sex; null if these or their rates are unknown. */
		sameAgeAndSex: others.every((risk) => risk !== null) ? others : null,
	};
}

const ofSameAgeAndSex = (
	{ history, sex, date }: PatientOnDate,
	rates: RatesByAgeAndSex | null,
	token: number,
	days: number,
): number | null =>
	(rates && incidenceByAgeAndSex(rates, { ...history, sex }, date, [token], days)) ?? null;

/** What is rarer, here or among other people, is not compared: a multiple of almost nothing says little. */
const leastCompared = 0.001;

/** A diagnosis that a patient does not have, and its probability within a year. */
export interface NewDiagnosis {
	readonly token: number;
	readonly probability: number;
	/** Of people of this age and sex; null if unknown. */
	readonly sameAgeAndSex: number | null;
}

/** The new diagnoses that lead by probability, and by probability relative to other people: at most `most` each. */
export function newDiagnoses(
	table: RiskTable,
	rates: RatesByAgeAndSex | null,
	{ tokens }: Vocabulary,
	most: number,
) {
	const all = [...tokens.keys()]
		.filter(
			(token) =>
				token >= specialCount &&
				tokens[token]?.kind === "diagnosis" &&
				table.recordedAt(token) === null,
		)
		.map(
			(token): NewDiagnosis => ({
				token,
				probability: afterYears(table.curve(token), 1) ?? 0,
				sameAgeAndSex: ofSameAgeAndSex(table, rates, token, yearDays),
			}),
		);
	return {
		likely: all.toSorted((a, b) => b.probability - a.probability).slice(0, most),
		/** Empty if people of this age and sex are unknown. */
		above: all
			.filter(
				(one) =>
					Math.min(one.probability, one.sameAgeAndSex ?? 0) >= leastCompared &&
					timesOthers(one) > 1,
			)
			.sort((a, b) => timesOthers(b) - timesOthers(a))
			.slice(0, most),
	};
}

/** The probability as a multiple of that of people of this age and sex; 0 if theirs is unknown. */
export const timesOthers = ({ probability, sameAgeAndSex }: NewDiagnosis): number =>
	sameAgeAndSex ? probability / sameAgeAndSex : 0;

/** An edit as the library takes it, and in words. */
export interface NamedEdit {
	readonly edit: Edit;
	readonly name: string;
}

export interface RiskRequest extends PatientOnDate {
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	/** What leads from the unedited history to this one. */
	readonly edits: readonly NamedEdit[];
	readonly codes: readonly number[];
}

export type Risks = Awaited<ReturnType<ReturnType<typeof riskSource>>>;

/** Tables kept: the unedited history, and the edits that undo and redo come back to. */
const mostTables = 12;
const mostNew = 8;

const isSame = (a: readonly number[], b: readonly number[]) =>
	a.length === b.length && a.every((value, at) => value === b[at]);

const answers = (a: PatientOnDate, b: PatientOnDate) =>
	Math.floor(a.date) === Math.floor(b.date) &&
	a.sex === b.sex &&
	isSame(a.history.tokens, b.history.tokens) &&
	isSame(a.history.times, b.history.times);

/** Answers requests with one call of the model each, or with none if history and date were seen before. */
export function riskSource(model: RiskModel, vocabulary: Vocabulary, startFor?: StartFor) {
	let tables: readonly RiskTable[] = [];
	return async (request: RiskRequest) => {
		const { history, sex, date, original, codes } = request;
		if (history.tokens.length === 0)
			throw new Error("the history is empty and the birth is unknown; add an event");
		const needed: PatientOnDate[] = [{ history, sex, date }];
		if (original) needed.push({ history: original, sex, date });
		const missing = needed.filter((one) => !tables.some((table) => answers(table, one)));
		const made = missing.length > 0 ? await riskTables(model, missing, vocabulary, startFor) : [];
		const all = [...made, ...tables];
		const [current, before] = needed.map((one) => all.find((table) => answers(table, one)));
		if (!current) throw new Error("the model gave no risks");
		const used = [current, ...(before ? [before] : [])];
		tables = [...used, ...all.filter((table) => !used.includes(table))].slice(0, mostTables);
		const risksIn = (table: RiskTable) => codes.map((token) => riskOf(table, model, token));
		return {
			risks: risksIn(current),
			/** Of the unedited history; null if nothing is edited. */
			before: before ? risksIn(before) : null,
			...newDiagnoses(current, model.rates, vocabulary, mostNew),
		};
	};
}

/** The horizon of what is explained, in years. */
export const reasonYears = 5;

/** What the records of each code add to the risk of another code or, with edits, what each edit adds. */
export const reasonsAt = (
	{ calls, longest }: Pick<RiskModel, "calls" | "longest">,
	{ history, date, original, edits }: Pick<RiskRequest, "history" | "date" | "original" | "edits">,
	code: number,
	options: Pick<ReasonOptions, "parameters" | "onProgress" | "signal">,
) =>
	explainIncidence(
		(...query) => calls.incidence(...query),
		original ?? history,
		Math.min(reasonYears * yearDays, longest),
		{ ...options, of: [code], day: date, edits: edits.map(({ edit }) => edit) },
	);

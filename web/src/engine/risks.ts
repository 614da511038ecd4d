import type { Calls } from "../../../src/api/calls.js";
import { yearDays } from "../../../src/base/time.js";
import { incidenceByAgeAndSex, type RatesByAgeAndSex } from "../../../src/cohort/age-sex-rates.js";
import { specialCount, type Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Sex } from "../../../src/records/rows.js";
import type { History } from "../data/patient.js";

/** Horizons of the page, in years. */
export const riskYears = [1, 5, 10] as const;

/** Points of a curve per year. */
const perYear = 4;

/** A patient on a date: the records up to and including that day are known. */
export interface PatientOnDate {
	readonly history: History;
	readonly sex: Sex | null;
	readonly date: number;
}

/** What risks are computed with. */
export interface RiskModel {
	readonly calls: Pick<Calls, "incidence">;
	/** The farthest day after a date that the model can answer. */
	readonly longest: number;
	/** Rates of first records by age and sex; null if the model has none. */
	readonly rates: RatesByAgeAndSex | null;
}

/** The probability that a code is recorded after a date, death competing: at the days of `curveDays`. */
export interface CodeRisk {
	readonly token: number;
	/** The time of the first record up to the date: the risk is that of another one. Null: of the first. */
	readonly recordedAt: number | null;
	readonly curve: readonly number[];
	/** The same of people of this age and sex; null if these or their rates are unknown. */
	readonly sameAgeAndSex: readonly number[] | null;
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

/** The risks of codes at a date. */
export async function risksAt(
	{ calls, longest, rates }: RiskModel,
	{ history, sex, date }: PatientOnDate,
	codes: readonly number[],
): Promise<CodeRisk[]> {
	const days = curveDays(longest);
	const [found = []] = await calls.incidence(
		[{ tokens: history.tokens, times: history.times }],
		codes.map((token) => [token]),
		...([[[date]], days] as const),
	);
	return codes.map((token, at) => {
		const { probabilities = [], recordedAt = [Number.NaN] } = found[at] ?? {};
		const [recorded = Number.NaN] = recordedAt;
		const others =
			rates &&
			days.map((own) => incidenceByAgeAndSex(rates, { ...history, sex }, date, [token], own));
		return {
			token,
			recordedAt: Number.isNaN(recorded) ? null : recorded,
			curve: Array.from(probabilities),
			sameAgeAndSex: others?.every((own) => own !== undefined) ? others : null,
		};
	});
}

/** A diagnosis that a patient does not have, and its probability. */
export interface NewDiagnosis {
	readonly token: number;
	readonly probability: number;
	/** Of people of this age and sex; null if unknown. */
	readonly sameAgeAndSex: number | null;
}

/** The diagnoses most likely to be recorded for the first time within so many days of a date. */
export async function likelyNew(
	{ calls, rates }: Pick<RiskModel, "calls" | "rates">,
	{ history, sex, date }: PatientOnDate,
	{ tokens }: Vocabulary,
	days: number,
	most: number,
): Promise<NewDiagnosis[]> {
	const codes = [...tokens.keys()].filter(
		(token) => token >= specialCount && tokens[token]?.kind === "diagnosis",
	);
	const [found = []] = await calls.incidence(
		[{ tokens: history.tokens, times: history.times }],
		codes.map((token) => [token]),
		...([[[date]], [days]] as const),
	);
	return codes
		.map((token, at) => ({ token, own: found[at] }))
		.filter(({ own }) => Number.isNaN(own?.recordedAt[0] ?? 0))
		.map(({ token, own }) => ({ token, probability: own?.probabilities[0] ?? 0 }))
		.sort((a, b) => b.probability - a.probability)
		.slice(0, most)
		.map((one) => ({
			...one,
			sameAgeAndSex:
				(rates && incidenceByAgeAndSex(rates, { ...history, sex }, date, [one.token], days)) ??
				null,
		}));
}

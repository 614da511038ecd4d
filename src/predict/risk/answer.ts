import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import { incidenceByAgeAndSex, type RatesByAgeAndSex } from "../../data/cohort/age-sex-rates.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import type { HazardSettings } from "../../model/hazards/settings.js";
import type { Events } from "../../model/index.js";
import { type Future, shareError } from "../futures.js";
import { edited } from "../histories.js";
import {
	attributeIncidence,
	type IncidenceReader,
	incidenceTrajectories,
	outputsFor,
} from "../incidence.js";
import { explainIncidence, type Reasons } from "../reasons.js";
import type { FoundCode } from "../user-input/find-code.js";
import { momentJson } from "../user-input/moments.js";
import type { RiskQuery } from "./question.js";

/** The hazards that risks are computed from, wherever the model runs. */
export interface RiskModel {
	readonly read: IncidenceReader;
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly longestDays: number;
	/** Weights of the model: see `ReasonOptions`. Needed for reasons. */
	readonly parameters?: number | undefined;
	readonly rates?: RatesByAgeAndSex | null | undefined;
}

export interface IndexRisk {
	/** The time of the first record up to the index day: the risk is that of another record. Null: of the first one. */
	readonly recordedAt: number | null;
	readonly probabilities: readonly number[];
	readonly lowest?: readonly number[] | undefined;
	readonly highest?: readonly number[] | undefined;
}

export type CodeAnswer = Awaited<ReturnType<typeof answerRisk>>[number];
/** Why a risk after the index day is what it is: by the records or, with edits, by how these change it. */
export type RiskReasons = Reasons & { readonly horizonDays: number };

export interface RiskAnswer {
	readonly query: RiskQuery;
	readonly risks: readonly CodeAnswer[];
	/** Of groups that the model has no hazards for, after the index day. */
	readonly groups: ReturnType<typeof groupRisks>;
	/** Futures that the risks of groups come from. */
	readonly samples: number;
	/** Number of runs behind the risks after the index day; the trajectories are of the first. */
	readonly runs: number;
	readonly simulated: boolean;
	readonly vocabulary: Vocabulary;
	readonly warnings: readonly string[];
}

/** Risks after one index day of each history: [histories][codes]. */
export async function indexRisks(
	read: IncidenceReader,
	histories: readonly Events[],
	codes: readonly FoundCode[],
	indexDays: readonly number[],
	horizons: readonly number[],
): Promise<IndexRisk[][]> {
	const risks = await read(
		histories,
		codes.map(({ tokens }) => tokens),
		indexDays.map((day) => [day]),
		horizons,
	);
	return risks.map((codeRisks) =>
		codeRisks.map(({ probabilities, recordedAt: [recordedAt = null] }) => ({
			recordedAt,
			probabilities: [...probabilities],
		})),
	);
}

/** The history of a query and, if there are edits, the edited one. */
const historiesOf = ({ patient: { history }, whatIf }: RiskQuery): Events[] =>
	whatIf ? [history, edited(history, whatIf.edits)] : [history];

/** Risks after the index day of the history and of the edited one: [histories][codes]. */
export function queryIndexRisks(
	{ read, longestDays }: Pick<RiskModel, "read" | "longestDays">,
	query: RiskQuery,
): Promise<IndexRisk[][]> {
	const histories = historiesOf(query);
	const indexDays = histories.map(() => query.at);
	const horizons = query.horizons.map(({ days }) => Math.min(days, longestDays));
	return indexRisks(read, histories, query.codes, indexDays, horizons);
}

/** Answers a query about one patient, from one model. */
export async function answerRisk(model: RiskModel, query: RiskQuery) {
	const { codes, times, horizonDays, horizons, at } = query;
	const { history } = query.patient;
	const [index = [], whatIfIndex] = await queryIndexRisks(model, query);
	if (query.explainedDays !== null) checkComparable(codes, index, whatIfIndex);
	const histories = historiesOf(query);
	const [trajectories = [], whatIf] = await incidenceTrajectories(
		model.read,
		histories,
		codes.map(({ tokens }) => tokens),
		histories.map(() => times),
		horizonDays,
	);
	const contributions = await contributionsTo(model.read, query);
	const reasons: (RiskReasons | undefined)[] = [];
	for (const code of codes) reasons.push(await reasonsFor(model, query, code));
	const days = horizons.map((horizon) => horizon.days);
	return codes.map((code, i) => {
		const risk = index[i];
		const isFirst = risk.recordedAt === null;
		return {
			code,
			index: risk,
			whatIfIndex: whatIfIndex?.[i],
			/** The same of people of this age and sex; of first records only. */
			sameAgeAndSex: isFirst
				? riskOfSameAgeAndSex(model, history, at, code.tokens, days)
				: undefined,
			reasons: reasons[i],
			trajectory: trajectories[i],
			whatIf: whatIf?.[i],
			contributions: contributions[i] ?? [],
		};
	});
}

/** By horizon, of people of the age and the sex of a patient; undefined if these or their rates are unknown. */
function riskOfSameAgeAndSex(
	{ rates, ...model }: Pick<RiskModel, "rates" | "settings" | "vocab">,
	person: Parameters<typeof incidenceByAgeAndSex>[1],
	day: number,
	tokens: readonly number[],
	horizons: readonly number[],
): readonly number[] | undefined {
	if (!rates) return undefined;
	const outputs = outputsFor(model, tokens);
	const risks = horizons.map((days) => incidenceByAgeAndSex(rates, person, day, outputs, days));
	return risks.every((risk) => risk !== undefined) ? risks : undefined;
}

async function contributionsTo(
	read: IncidenceReader,
	{ patient: { history }, codes, attributed, horizonDays }: RiskQuery,
) {
	if (attributed.length === 0) return [];
	const effects = await attributeIncidence(read, history, {
		risks: codes.map(({ tokens }) => tokens),
		days: attributed,
		horizonDays,
	});
	return effects.map(({ base, effect }) =>
		attributed.map((time, i) => ({
			time,
			risk: base[i],
			effects: Array.from(history.times, (_, event) => effect[event * attributed.length + i]),
		})),
	);
}

/** What the records of each code, or each edit, adds to the risk of a code after the index day. */
async function reasonsFor(
	{ read, parameters = 0 }: RiskModel,
	{ patient, whatIf, at, explainedDays }: RiskQuery,
	{ tokens }: FoundCode,
): Promise<RiskReasons | undefined> {
	if (explainedDays === null) return undefined;
	const reasons = await explainIncidence(read, patient.history, explainedDays, {
		of: tokens,
		day: at,
		parameters,
		edits: whatIf?.edits,
	});
	return { ...reasons, horizonDays: explainedDays };
}

/** Edits that make a code's first record another one, or the reverse, leave no risk before them to compare with. */
function checkComparable(
	codes: readonly FoundCode[],
	index: readonly IndexRisk[],
	whatIfIndex: readonly IndexRisk[] = index,
): void {
	for (const [i, { code }] of codes.entries()) {
		const isFirst = index[i]?.recordedAt === null;
		if (isFirst === (whatIfIndex[i]?.recordedAt === null)) continue;
		const [was, is] = isFirst ? ["a first", "another"] : ["another", "a first"];
		throw new InputError(
			`\`why\` explains how edits change the risk of ${code}, and these edits make that of ${was} record one of ${is} record; leave out \`why\`, or the edits of ${code}`,
			{ field: "why" },
		);
	}
}

/** The answers of the first model, with the risks after the index day averaged over all models. */
export const averaged = (
	answers: readonly CodeAnswer[],
	others: readonly (readonly (readonly IndexRisk[])[])[], // [models][histories][codes]
): CodeAnswer[] =>
	answers.map((answer, code) => {
		const spreadOf = (history: number, first: IndexRisk) =>
			spread([first, ...others.flatMap((risks) => risks[history]?.[code] ?? [])]);
		return {
			...answer,
			index: spreadOf(0, answer.index),
			whatIfIndex: answer.whatIfIndex && spreadOf(1, answer.whatIfIndex),
		};
	});

function spread(risks: readonly IndexRisk[]): IndexRisk {
	const [first] = risks as [IndexRisk];
	if (risks.length === 1) return first;
	const over = (of: (values: readonly number[]) => number) =>
		first.probabilities.map((_, horizon) =>
			of(risks.map(({ probabilities }) => probabilities[horizon])),
		);
	return {
		...first,
		probabilities: over((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
		lowest: over((values) => Math.min(...values)),
		highest: over((values) => Math.max(...values)),
	};
}

/**
 * Risks of groups after an index day, from sampled futures. The hazards of members cannot be summed: codes that are
 * recorded together would count twice.
 */
export function groupRisks(
	{ patient: { history }, at, groups, horizons }: RiskQuery,
	futures: readonly Future[],
) {
	const day = Math.floor(at);
	return groups.map((group) => {
		const first = Array.from(history.tokens).findIndex((token) => group.tokens.has(token));
		const recorded = history.times[first];
		const probabilities = horizons.map(({ days }) => shareWith(futures, group.tokens, day + days));
		return {
			...group,
			/** By horizon: the share of futures with a record of any member. */
			probabilities,
			/** The time of the first record of a member up to the index day: the risk is that of another record. */
			recordedAt: recorded !== undefined && Math.floor(recorded) <= day ? recorded : null,
			/** Of the probabilities, from the number of futures. */
			standardErrors: probabilities.map((share) => shareError(share, futures.length)),
		};
	});
}

/** The share of futures with a record of any of the tokens up to a day. */
const shareWith = (futures: readonly Future[], tokens: ReadonlySet<number>, until: number) =>
	futures.filter((future) =>
		future.tokens.some((token, n) => tokens.has(token) && future.times[n] <= until),
	).length / futures.length;

/** When something was recorded, as JSON; null if it was not. */
export const recordedJson = (time: number | null, birth: number | null, axis: TimeAxis) =>
	time === null ? null : momentJson(time, birth, axis);

/** The risks of a code after the index day, as programs get them. */
export const indexRiskJson = (
	{ code, name, note }: Omit<FoundCode, "tokens">,
	{ recordedAt, probabilities }: IndexRisk,
	birth: number | null,
	axis: TimeAxis,
) => ({
	code,
	name,
	...(note !== undefined && { note }),
	recorded: recordedJson(recordedAt, birth, axis),
	probabilities: [...probabilities],
});

/** The fields of a response over HTTP. `places` has the position of each event in the request, below 0 if it has none. */
export function riskResponse(
	query: RiskQuery,
	answers: readonly CodeAnswer[],
	places: readonly number[],
) {
	const { patient, axis, at, horizons, horizonDays, times } = query;
	const when = (time: number) => momentJson(time, patient.birth, axis);
	const trajectoryPlaces = answers[0]?.trajectory.places;
	return {
		index: when(at),
		horizons: horizons.map(({ days }) => days),
		horizonDays,
		times: Array.from(times, (time, i) => ({
			...when(time),
			place: trajectoryPlaces?.[i] ?? "after",
		})),
		codes: answers.map(({ code, index, trajectory, contributions: [drivers] }) => ({
			...indexRiskJson(code, index, patient.birth, axis),
			risk: [...trajectory.risk],
			growth: [...trajectory.growth],
			recordedFrom: trajectory.recorded.includes(1) ? trajectory.recorded.indexOf(1) : null,
			surges: trajectory.surges.map((surge) => ({
				...surge,
				events: surge.events.flatMap((event) => places[event] ?? []).filter((place) => place >= 0),
			})),
			...(drivers && {
				drivers: places
					.map((event, i) => ({ event, effect: drivers.effects[i] }))
					.filter(({ event }) => event >= 0)
					.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
			}),
		})),
	};
}

import { simulatedText } from "../../base/simulated.js";
import { csvLine } from "../../base/table.js";
import type { TimeAxis } from "../../base/time.js";
import type { Token, Vocabulary } from "../../data/cohort/vocabulary.js";
import type { IncidenceTrajectory } from "../incidence.js";
import type { Reason } from "../reasons.js";
import { type FoundCode, momentJson, spanText } from "../user-input/index.js";
import {
	type CodeAnswer,
	type IndexRisk,
	type RiskAnswer,
	type RiskReasons,
	recordIndices,
	recordTimes,
} from "./answer.js";
import type { RiskQuery } from "./question.js";

/** When something was recorded, as JSON; null if it was not. */
const recordedJson = (time: number | null, birth: number | null, axis: TimeAxis) =>
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
			surges: trajectory.surges.map(({ from, to, growth, events }) => ({
				from,
				to,
				growth,
				events: events.flatMap((event) => places[event] ?? []).filter((place) => place >= 0),
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

const tokenJson = (token: number, { tokens }: Vocabulary) => {
	const { code, system, name } = tokens[token];
	return { code, system, name };
};

/** An event of the history with its number, counted from 1 without birth. */
function eventJson(index: number, { query: { patient, axis }, vocabulary }: RiskAnswer) {
	const { tokens, times, birthEvents } = patient.history;
	return {
		number: index + 1 - birthEvents,
		...momentJson(times[index], patient.birth, axis),
		...tokenJson(tokens[index], vocabulary),
	};
}

/** The answer as `risk --json` prints it. */
export function riskJson(answer: RiskAnswer) {
	const { query, vocabulary } = answer;
	const { patient, axis, at, horizons, horizonDays, times, whatIf } = query;
	const { id, sex, birth, death } = patient;
	const moment = (time: number) => momentJson(time, birth, axis);
	const recorded = (time: number | null) => recordedJson(time, birth, axis);
	const events = recordIndices(patient).map((index) => eventJson(index, answer));
	const surgesJson = ({ surges }: IncidenceTrajectory) =>
		surges.map(({ from, to, growth, events }) => ({
			from: moment(from),
			to: moment(to),
			growth,
			events: events
				.filter((index) => index >= patient.history.birthEvents)
				.map((index) => eventJson(index, answer)),
		}));
	const indexJson = ({ probabilities, lowest, highest }: IndexRisk) =>
		horizons.map(({ years, days }, i) => ({
			years,
			days,
			probability: probabilities[i],
			...(lowest && { lowest: lowest[i] }),
			...(highest && { highest: highest[i] }),
		}));
	return {
		...(answer.simulated && { population: simulatedText }),
		quantity: `probability of a first record within ${spanText(horizonDays)}, from the records up to each time; death competes; where the code is recorded already, of another record`,
		patient: { id, sex, birth: recorded(birth), death: recorded(death), events },
		...(whatIf && { whatIf: whatIf.name }),
		runs: answer.runs,
		index: moment(at),
		horizonDays,
		risks: answer.risks.map((risk) => ({
			code: risk.code.code,
			name: risk.code.name,
			tokens: risk.code.tokens.map((token) => tokenJson(token, vocabulary)),
			recorded: recorded(risk.index.recordedAt),
			incidence: indexJson(risk.index),
			...(risk.whatIfIndex && {
				whatIfRecorded: recorded(risk.whatIfIndex.recordedAt),
				whatIfIncidence: indexJson(risk.whatIfIndex),
			}),
			...(risk.sameAgeAndSex && { sameAgeAndSex: risk.sameAgeAndSex }),
			...(risk.reasons && { reasons: reasonsJson(risk.reasons, answer) }),
			points: Array.from(times, (time, i) => ({
				...moment(time),
				place: risk.trajectory.places[i],
				recorded: risk.trajectory.recorded[i] === 1,
				risk: risk.trajectory.risk[i],
				growth: risk.trajectory.growth[i],
				...(risk.whatIf && {
					whatIfRisk: risk.whatIf.risk[i],
					whatIfGrowth: risk.whatIf.growth[i],
				}),
			})),
			surges: surgesJson(risk.trajectory),
			attribution: risk.contributions.map(({ time, risk, effects }) => ({
				...moment(time),
				risk,
				events: recordIndices(patient).map((index, i) => ({
					...events[i],
					effect: effects[index],
				})),
			})),
		})),
		...(answer.groups.length > 0 && {
			futures: answer.samples,
			groups: answer.groups.map((group) => ({
				name: group.name,
				codes: group.codes.map(({ code }) => code),
				recorded: recorded(group.recordedAt),
				incidence: horizons.map(({ years, days }, i) => ({
					years,
					days,
					probability: group.probabilities[i],
					standardError: group.standardErrors[i],
				})),
			})),
		}),
	};
}

function reasonsJson(
	{ risk, start, listed, others, horizonDays }: RiskReasons,
	{ query, vocabulary }: RiskAnswer,
) {
	const change = risk - start;
	const effectOf = ({ effect, error }: Reason) => ({ effect, standardError: error });
	if (query.whatIf) {
		const { names } = query.whatIf;
		return {
			horizonDays,
			risk,
			beforeEdits: start,
			change,
			edits: listed.map((reason) => ({
				edit: names[reason.parts[0]],
				...effectOf(reason),
			})),
			others: others && { edits: others.parts.map((part) => names[part]), ...effectOf(others) },
		};
	}
	const moment = (time: number) => momentJson(time, query.patient.birth, query.axis);
	return {
		horizonDays,
		risk,
		withoutRecords: start,
		change,
		codes: listed.map((reason) => {
			const [token = 0] = reason.parts;
			const { first, last } = recordTimes(token, query);
			return {
				...tokenJson(token, vocabulary),
				first: moment(first),
				last: moment(last),
				records: reason.records,
				...effectOf(reason),
			};
		}),
		others: others && {
			codes: others.parts.map((token) => tokenJson(token, vocabulary)),
			records: others.records,
			...effectOf(others),
		},
	};
}

/** Trajectories as CSV, one line per code and time. */
export function riskCsv(answer: RiskAnswer): string {
	const header = "patient,code,name,date,day,age_years,place,horizon_days,recorded,risk,growth";
	const changed = answer.query.whatIf ? ["what_if_risk", "what_if_growth"] : [];
	const { patient, risks, horizonDays } = riskJson(answer);
	return [
		csvLine([...header.split(","), ...changed]),
		...risks.flatMap(({ code, name, points }) =>
			points.map((point) =>
				csvLine([
					patient.id,
					code,
					name,
					point.date ?? "",
					point.day,
					point.ageYears,
					point.place ?? "",
					horizonDays,
					point.recorded ? 1 : 0,
					point.risk,
					point.growth,
					...(changed.length > 0 ? [point.whatIfRisk ?? null, point.whatIfGrowth ?? null] : []),
				]),
			),
		),
	].join("");
}

/** The answer as the data of a figure. */
export function riskPicture(answer: RiskAnswer) {
	const { query, risks } = answer;
	const { whatIf, patient, axis } = query;
	const { id, birth, death, history } = patient;
	const times = history.times.subarray(history.birthEvents);
	return {
		patient: id,
		clock: { axis, birth },
		curves: risks.map(({ code: { code, name, tokens }, trajectory }) => ({
			...trajectory,
			code,
			name,
			recordedAt: history.times[history.tokens.findIndex((token) => tokens.includes(token))],
			surges: trajectory.surges.map((surge) => ({
				...surge,
				phenotypes: namesIn(surge.events, answer, (token) => token.name),
			})),
		})),
		...(whatIf && {
			whatIf: {
				name:
					whatIf.name.length <= longestLine
						? whatIf.name
						: `with ${whatIf.edits.length} ${whatIf.edits.length === 1 ? "event" : "events"} changed`,
				curves: risks.flatMap(({ code: { code, name }, whatIf }) =>
					whatIf ? [{ ...whatIf, code, name }] : [],
				),
			},
		}),
		horizonDays: query.horizonDays,
		death,
		simulated: answer.simulated,
		events: [...times],
		now: times.at(-1) ?? query.times[0],
	};
}

/** What one line of a drawing has room for. */
const longestLine = 60;

/** What was recorded, each once, with how often; the birth does not count. */
export function namesIn(
	events: readonly number[],
	{ query, vocabulary }: RiskAnswer,
	nameOf: (token: Token) => string,
): string[] {
	const { tokens, birthEvents } = query.patient.history;
	const counts = new Map<number, number>();
	for (const index of events) {
		if (index < birthEvents) continue;
		const token = tokens[index];
		counts.set(token, (counts.get(token) ?? 0) + 1);
	}
	return [...counts].map(
		([token, count]) => nameOf(vocabulary.tokens[token]) + (count > 1 ? ` ×${count}` : ""),
	);
}

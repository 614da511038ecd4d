import { simulatedText } from "../../base/simulated.js";
import { csvLine } from "../../base/table.js";
import type { Reason } from "../reasons.js";
import { momentJson, spanText } from "../user-input/moments.js";
import { type IndexRisk, type RiskAnswer, type RiskReasons, recordedJson } from "./answer.js";
import type { RiskQuery } from "./question.js";

/** The answer as `risk --json` prints it. */
export function riskJson(answer: RiskAnswer) {
	const { query, vocabulary } = answer;
	const { patient, axis, at, horizons, horizonDays, times, whatIf } = query;
	const { id, sex, birth, death, history } = patient;
	const moment = (time: number) => momentJson(time, birth, axis);
	const recorded = (time: number | null) => recordedJson(time, birth, axis);
	const tokenJson = (token: number) => {
		const { code, system, name } = vocabulary.tokens[token];
		return { code, system, name };
	};
	/** Of the history, numbered from 1 without birth. */
	const numbered = Array.from(history.times, (time, index) => ({
		number: index + 1 - history.birthEvents,
		...moment(time),
		...tokenJson(history.tokens[index]),
	}));
	const events = numbered.slice(history.birthEvents);
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
		risks: answer.risks.map(({ code, index, trajectory, reasons, ...risk }) => ({
			code: code.code,
			name: code.name,
			tokens: code.tokens.map(tokenJson),
			recorded: recorded(index.recordedAt),
			incidence: indexJson(index),
			...(risk.whatIfIndex && {
				whatIfRecorded: recorded(risk.whatIfIndex.recordedAt),
				whatIfIncidence: indexJson(risk.whatIfIndex),
			}),
			...(risk.sameAgeAndSex && { sameAgeAndSex: risk.sameAgeAndSex }),
			...(reasons && { reasons: reasonsJson(reasons, query, tokenJson) }),
			points: Array.from(times, (time, i) => ({
				...moment(time),
				place: trajectory.places[i],
				recorded: trajectory.recorded[i] === 1,
				risk: trajectory.risk[i],
				growth: trajectory.growth[i],
				...(risk.whatIf && {
					whatIfRisk: risk.whatIf.risk[i],
					whatIfGrowth: risk.whatIf.growth[i],
				}),
			})),
			surges: trajectory.surges.map((surge) => ({
				from: moment(surge.from),
				to: moment(surge.to),
				growth: surge.growth,
				events: surge.events
					.filter((event) => event >= history.birthEvents)
					.map((event) => numbered[event]),
			})),
			attribution: risk.contributions.map(({ time, risk, effects }) => ({
				...moment(time),
				risk,
				events: events.map((event, i) => ({ ...event, effect: effects[history.birthEvents + i] })),
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

/** The answer as programs and tables read it. */
export type RiskJson = ReturnType<typeof riskJson>;

function reasonsJson<Token>(
	{ risk, start, listed, others, horizonDays }: RiskReasons,
	{ whatIf, patient, axis, at }: RiskQuery,
	tokenJson: (token: number) => Token,
) {
	const change = risk - start;
	const effectOf = ({ effect, error }: Reason) => ({ effect, standardError: error });
	if (whatIf) {
		const { names } = whatIf;
		return {
			horizonDays,
			risk,
			beforeEdits: start,
			change,
			edits: listed.map((reason) => ({ edit: names[reason.parts[0]], ...effectOf(reason) })),
			others: others && { edits: others.parts.map((part) => names[part]), ...effectOf(others) },
		};
	}
	const moment = (time: number) => momentJson(time, patient.birth, axis);
	const { tokens, times } = patient.history;
	return {
		horizonDays,
		risk,
		withoutRecords: start,
		change,
		codes: listed.map((reason) => {
			const [token] = reason.parts;
			const recorded = times.filter(
				(time, event) => Math.floor(time) <= Math.floor(at) && tokens[event] === token,
			);
			return {
				...tokenJson(token),
				first: moment(recorded[0]),
				last: moment(recorded[recorded.length - 1]),
				records: reason.records,
				...effectOf(reason),
			};
		}),
		others: others && {
			codes: others.parts.map(tokenJson),
			records: others.records,
			...effectOf(others),
		},
	};
}

export function riskCsv(answer: RiskAnswer): string {
	const header = "patient,code,name,date,day,age_years,place,horizon_days,recorded,risk,growth";
	const changed = answer.query.whatIf ? ["what_if_risk", "what_if_growth"] : [];
	const { patient, risks, horizonDays } = riskJson(answer);
	const lines = risks.flatMap(({ code, name, points }) =>
		points.map(({ date = "", day, ageYears, place, recorded, ...point }) => [
			patient.id,
			code,
			name,
			date,
			day,
			ageYears,
			place ?? "",
			horizonDays,
			recorded ? 1 : 0,
			point.risk,
			point.growth,
			...(changed.length > 0 ? [point.whatIfRisk ?? null, point.whatIfGrowth ?? null] : []),
		]),
	);
	return [[...header.split(","), ...changed], ...lines].map(csvLine).join("");
}

/** What one line of a drawing has room for. */
const longestLine = 60;

export function riskPicture({ query, risks, simulated, vocabulary }: RiskAnswer) {
	const { whatIf, patient, axis } = query;
	const { id, birth, death, history } = patient;
	const { tokens, birthEvents } = history;
	const times = history.times.subarray(birthEvents);
	return {
		patient: id,
		clock: { axis, birth },
		curves: risks.map(({ code, trajectory }) => ({
			...trajectory,
			code: code.code,
			name: code.name,
			recordedAt: history.times[tokens.findIndex((token) => code.tokens.includes(token))],
			surges: trajectory.surges.map((surge) => ({
				...surge,
				phenotypes: counted(
					surge.events
						.filter((event) => event >= birthEvents)
						.map((event) => vocabulary.tokens[tokens[event]].name),
				),
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
		simulated,
		events: [...times],
		now: times.at(-1) ?? query.times[0],
	};
}

/** Each name once, with how often it is there. */
export function counted(names: readonly string[]): string[] {
	const counts = new Map<string, number>();
	for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
	return [...counts].map(([name, count]) => name + timesText(count));
}

export const timesText = (count: number) => (count > 1 ? ` ×${count}` : "");

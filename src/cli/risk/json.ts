import type { TimeAxis } from "../../base/time.js";
import type { Token, Vocabulary } from "../../cohort/vocabulary.js";
import { momentJson } from "../../infer/asking/index.js";
import type { RiskTrajectory } from "../../infer/index.js";
import { csvLine } from "../asking/csv.js";
import type { CodeRisk, RiskQuestion } from "./risks.js";

/** What is needed to tell risks to programs and people. */
export interface RiskWords {
	readonly question: RiskQuestion;
	readonly axis: TimeAxis;
	readonly vocabulary: Vocabulary;
}

/** An event of the history with the number it goes by: from 1, birth not counted. */
function eventJson(index: number, { question, axis, vocabulary }: RiskWords) {
	const { patient } = question;
	const { tokens, times, birthEvents } = patient.history;
	const { code, system, name } = vocabulary.tokens[tokens[index] as number] as Token;
	return {
		number: index + 1 - birthEvents,
		...momentJson(times[index] as number, patient.birth, axis),
		...{ code, system, name },
	};
}

/** Indices of the history's events, birth not among them. */
export const ownEvents = ({ question }: RiskWords): number[] => {
	const { tokens, birthEvents } = question.patient.history;
	return Array.from({ length: tokens.length - birthEvents }, (_, at) => birthEvents + at);
};

export function risksJson(risks: readonly CodeRisk[], words: RiskWords) {
	const { patient, times, whatIf } = words.question;
	const { id, sex, birth, death } = patient;
	const moment = (time: number) => momentJson(time, patient.birth, words.axis);
	const surgesJson = ({ surges }: RiskTrajectory) =>
		surges.map(({ from, to, growth, events }) => ({
			from: moment(from),
			to: moment(to),
			growth,
			events: events
				.filter((index) => index >= patient.history.birthEvents)
				.map((index) => eventJson(index, words)),
		}));
	return {
		patient: {
			id,
			sex,
			birth: birth === null ? null : moment(birth),
			death: death === null ? null : moment(death),
			events: ownEvents(words).map((index) => eventJson(index, words)),
		},
		...(whatIf && { whatIf: whatIf.name }),
		risks: risks.map(({ code, trajectory, whatIf: changed, contributions }) => ({
			code: code.code,
			name: code.name,
			tokens: code.tokens.map((token) => {
				const { code: own, system, name } = words.vocabulary.tokens[token] as Token;
				return { code: own, system, name };
			}),
			points: Array.from(times, (time, at) => ({
				...moment(time),
				place: trajectory.places[at],
				risk: trajectory.risk[at] as number,
				growth: trajectory.growth[at] as number,
				...(changed && {
					whatIfRisk: changed.risk[at] as number,
					whatIfGrowth: changed.growth[at] as number,
				}),
			})),
			surges: surgesJson(trajectory),
			attribution: contributions.map(({ time, risk, effects }) => ({
				...moment(time),
				risk,
				events: ownEvents(words).map((index) => ({
					...eventJson(index, words),
					effect: effects[index] as number,
				})),
			})),
		})),
	};
}

export function risksCsv(risks: readonly CodeRisk[], words: RiskWords): string {
	const header = ["patient", "code", "name", "date", "day", "age_years", "place", "risk", "growth"];
	const changed = words.question.whatIf ? ["what_if_risk", "what_if_growth"] : [];
	const { patient, risks: all } = risksJson(risks, words);
	return [
		csvLine([...header, ...changed]),
		...all.flatMap(({ code, name, points }) =>
			points.map((point) =>
				csvLine([
					...[patient.id, code, name, point.date ?? "", point.day, point.ageYears],
					...[point.place ?? "", point.risk, point.growth],
					...(changed.length > 0 ? [point.whatIfRisk ?? null, point.whatIfGrowth ?? null] : []),
				]),
			),
		),
	].join("");
}

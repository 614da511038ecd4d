import { csvLine } from "../../base/csv.js";
import { simulatedText } from "../../base/simulated.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import type { RiskPicture } from "../../evaluate/charts/index.js";
import type { IncidenceTrajectory } from "../../predict/index.js";
import { momentJson, spanText } from "../../predict/user-input/index.js";
import type { IndexRisk } from "./code-risks.js";
import type { RiskResult } from "./risk.js";
import type { Edits } from "./risk-edits.js";
import { reasonsJson } from "./risk-reasons.js";

/** An event of the history with its number, counted from 1 without birth. */
function eventJson(index: number, { query, axis, vocabulary }: RiskResult) {
	const { patient } = query;
	const { tokens, times, birthEvents } = patient.history;
	const { code, system, name } = vocabulary.tokens[tokens[index] as number] as Token;
	return {
		number: index + 1 - birthEvents,
		...momentJson(times[index] as number, patient.birth, axis),
		...{ code, system, name },
	};
}

/** Indices of the history's events, without birth. */
export const ownEvents = ({ query }: RiskResult): number[] => {
	const { tokens, birthEvents } = query.patient.history;
	return Array.from({ length: tokens.length - birthEvents }, (_, at) => birthEvents + at);
};

/** Risks as a JSON value. */
export function risksJson(result: RiskResult) {
	const { patient, at, horizons, horizonDays, times, whatIf } = result.query;
	const { id, sex, birth, death } = patient;
	const moment = (time: number) => momentJson(time, patient.birth, result.axis);
	const surgesJson = ({ surges }: IncidenceTrajectory) =>
		surges.map(({ from, to, growth, events }) => ({
			from: moment(from),
			to: moment(to),
			growth,
			events: events
				.filter((index) => index >= patient.history.birthEvents)
				.map((index) => eventJson(index, result)),
		}));
	const indexJson = (risk: IndexRisk) =>
		horizons.map(({ years, days }, i) => ({
			...{ years, days, probability: risk.probabilities[i] as number },
			...(risk.lowest && { lowest: risk.lowest[i] as number }),
			...(risk.highest && { highest: risk.highest[i] as number }),
		}));
	return {
		...(result.simulated && { population: simulatedText }),
		quantity: quantityText(horizonDays),
		patient: {
			id,
			sex,
			birth: birth === null ? null : moment(birth),
			death: death === null ? null : moment(death),
			events: ownEvents(result).map((index) => eventJson(index, result)),
		},
		...(whatIf && { whatIf: whatIf.name }),
		runs: result.runs,
		index: moment(at),
		horizonDays,
		risks: result.risks.map(({ code, trajectory, whatIf: changed, contributions, ...own }) => ({
			code: code.code,
			name: code.name,
			tokens: code.tokens.map((token) => {
				const { code: own, system, name } = result.vocabulary.tokens[token] as Token;
				return { code: own, system, name };
			}),
			recorded: own.index.recordedAt === null ? null : moment(own.index.recordedAt),
			incidence: indexJson(own.index),
			...(own.whatIfIndex && {
				whatIfRecorded:
					own.whatIfIndex.recordedAt === null ? null : moment(own.whatIfIndex.recordedAt),
				whatIfIncidence: indexJson(own.whatIfIndex),
			}),
			...(own.sameAgeAndSex && { sameAgeAndSex: own.sameAgeAndSex }),
			...(own.reasons && { reasons: reasonsJson(own.reasons, result) }),
			points: Array.from(times, (time, at) => ({
				...moment(time),
				place: trajectory.places[at],
				recorded: trajectory.recorded[at] === 1,
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
				events: ownEvents(result).map((index) => ({
					...eventJson(index, result),
					effect: effects[index] as number,
				})),
			})),
		})),
		...(result.groups.length > 0 && {
			futures: result.samples,
			groups: result.groups.map(({ name, codes, recordedAt, ...own }) => ({
				name,
				codes: codes.map(({ code }) => code),
				recorded: recordedAt === null ? null : moment(recordedAt),
				incidence: horizons.map(({ years, days }, i) => ({
					...{ years, days, probability: own.probabilities[i] as number },
					standardError: own.standardErrors[i] as number,
				})),
			})),
		}),
	};
}

/** What a risk is, in words. */
const quantityText = (horizonDays: number): string =>
	`probability of a first record within ${spanText(horizonDays)}, from the records up to each time; death competes; where the code is recorded already, of another record`;

/** Trajectories as CSV, one line per code and time. */
export function risksCsv(result: RiskResult): string {
	const header = [
		...["patient", "code", "name", "date", "day", "age_years", "place"],
		...["horizon_days", "recorded", "risk", "growth"],
	];
	const changed = result.query.whatIf ? ["what_if_risk", "what_if_growth"] : [];
	const { patient, risks: all, horizonDays } = risksJson(result);
	return [
		csvLine([...header, ...changed]),
		...all.flatMap(({ code, name, points }) =>
			points.map((point) =>
				csvLine([
					...[patient.id, code, name, point.date ?? "", point.day, point.ageYears],
					...[point.place ?? "", horizonDays, point.recorded ? 1 : 0, point.risk, point.growth],
					...(changed.length > 0 ? [point.whatIfRisk ?? null, point.whatIfGrowth ?? null] : []),
				]),
			),
		),
	].join("");
}

/** Risks as the data of a figure. */
export function riskPicture(result: RiskResult): RiskPicture {
	const { query, risks, axis } = result;
	const { whatIf: edits } = query;
	const { id, birth, death, history } = query.patient;
	const times = history.times.subarray(history.birthEvents);
	const curves = risks.map(({ code: { code, name, tokens }, trajectory }) => ({
		...trajectory,
		code,
		name,
		recordedAt: history.times[history.tokens.findIndex((token) => tokens.includes(token))],
		surges: trajectory.surges.map((surge) => ({
			...surge,
			phenotypes: phenotypesIn(surge.events, result, (token) => token.name),
		})),
	}));
	const changed = risks.flatMap(({ code: { code, name }, whatIf }) =>
		whatIf ? [{ ...whatIf, code, name }] : [],
	);
	return {
		patient: id,
		clock: { axis, birth },
		curves,
		...(edits && { whatIf: { name: shortName(edits), curves: changed } }),
		horizonDays: query.horizonDays,
		death,
		simulated: result.simulated,
		events: [...times],
		now: times.at(-1) ?? (query.times[0] as number),
	};
}

/** What one line of a drawing has room for. */
const shortName = ({ name, edits }: Edits): string =>
	name.length <= 60
		? name
		: `with ${edits.length} ${edits.length === 1 ? "event" : "events"} changed`;

/** What was recorded, each once, with how often; the birth does not count. */
export function phenotypesIn(
	events: readonly number[],
	{ query, vocabulary }: RiskResult,
	nameOf: (token: Token) => string,
): string[] {
	const { tokens, birthEvents } = query.patient.history;
	const counts = new Map<number, number>();
	for (const index of events) {
		if (index < birthEvents) continue;
		const token = tokens[index] as number;
		counts.set(token, (counts.get(token) ?? 0) + 1);
	}
	return [...counts].map(
		([token, count]) => nameOf(vocabulary.tokens[token] as Token) + (count > 1 ? ` ×${count}` : ""),
	);
}

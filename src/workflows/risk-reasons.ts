import { InputError } from "../base/errors.js";
import { yearDays } from "../base/time.js";
import type { Token } from "../cohort/vocabulary.js";
import { edited, type HazardModel, incidences } from "../infer/index.js";
import { explainIncidence, type Reason, type Reasons } from "../infer/reasons.js";
import { type FoundCode, momentJson } from "../infer/user-input/index.js";
import { weightCount } from "../models/index.js";
import type { Trained } from "../train/index.js";
import type { RiskResult } from "./risk.js";
import type { RiskOptions, RiskQuery } from "./risk-query.js";

/** What the records of a code add to a risk, with the times of the first and the last of them. */
interface DatedReason extends Reason {
	readonly first: number;
	readonly last: number;
}

/** Why a risk after the index day is what it is. With edits, it is the risk of the edited history. */
export interface RiskReasons extends Reasons {
	readonly horizonDays: number;
	readonly codes: readonly DatedReason[];
}

/** Reasons are of one code: those of several would be tables of their own. */
export function checkExplained({ why, codes, groups = [] }: RiskOptions): void {
	if (!why || (codes.length === 1 && groups.length === 0)) return;
	const [given, advice] =
		groups.length > 0
			? ["`group`", "leave it out"]
			: [codes.length === 0 ? "no code" : `${codes.length} codes`, "name one with `code`"];
	throw new InputError(`\`why\` explains the risk of one code, and was given ${given}; ${advice}`, {
		field: "why",
	});
}

/** The horizon of reasons: `horizon` if it is given, else the only one of `years`, else the usual one. */
export const explainedDays = ({ horizon, years }: RiskOptions, usual: number): number =>
	horizon ?? (years?.length === 1 ? (years[0] as number) * yearDays : usual);

/** What the records of each code add to the risk of another code after the index day. */
export async function reasonsFor(
	model: HazardModel,
	{ weights }: Trained,
	{ patient, whatIf, at }: RiskQuery,
	{ tokens }: FoundCode,
	horizonDays: number,
): Promise<RiskReasons> {
	const history = whatIf ? edited(patient.history, whatIf.edits) : patient.history;
	const found = await explainIncidence(
		(...query) => incidences(model, ...query),
		history,
		horizonDays,
		{ of: tokens, day: at, parameters: weightCount(weights) },
	);
	const codes = found.codes.map((reason) => {
		const times = Array.from(history.times).filter(
			(time, event) =>
				Math.floor(time) <= Math.floor(at) &&
				reason.tokens.includes(history.tokens[event] as number),
		);
		return { ...reason, first: times[0] as number, last: times.at(-1) as number };
	});
	return { ...found, codes, horizonDays };
}

/** Reasons as a JSON value. */
export function reasonsJson(reasons: RiskReasons, { query, axis, vocabulary }: RiskResult) {
	const { risk, unrecorded, codes, others, horizonDays } = reasons;
	const moment = (time: number) => momentJson(time, query.patient.birth, axis);
	const codeJson = (token: number) => {
		const { code, system, name } = vocabulary.tokens[token] as Token;
		return { code, system, name };
	};
	const effectJson = ({ records, effect, error }: Reason) => ({
		...{ records, effect, standardError: error },
	});
	return {
		...{ horizonDays, risk, withoutRecords: unrecorded, change: risk - unrecorded },
		codes: codes.map(({ tokens: [token = 0], first, last, ...own }) => ({
			...codeJson(token),
			...{ first: moment(first), last: moment(last) },
			...effectJson({ tokens: [token], ...own }),
		})),
		others: others && { codes: others.tokens.map(codeJson), ...effectJson(others) },
	};
}

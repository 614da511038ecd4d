import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { weightCount } from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import { type HazardModel, incidences } from "../../predict/index.js";
import { explainIncidence, type Reason, type Reasons } from "../../predict/reasons.js";
import { type FoundCode, momentJson } from "../../predict/user-input/index.js";
import type { IndexRisk } from "./code-risks.js";
import type { RiskResult } from "./risk.js";
import type { RiskOptions, RiskQuery } from "./risk-query.js";

/** Why a risk after the index day is what it is: by the records or, with edits, by how these change it. */
export interface RiskReasons extends Reasons {
	readonly horizonDays: number;
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

/** What the records of each code, or each edit, adds to the risk of a code after the index day. */
export async function reasonsFor(
	model: HazardModel,
	{ weights }: Trained,
	{ patient, whatIf, at }: RiskQuery,
	{ tokens }: FoundCode,
	horizonDays: number,
): Promise<RiskReasons> {
	const reasons = await explainIncidence(
		(...query) => incidences(model, ...query),
		patient.history,
		horizonDays,
		{ of: tokens, day: at, parameters: weightCount(weights), edits: whatIf?.edits },
	);
	return { ...reasons, horizonDays };
}

/** Edits that make a code's first record another one, or the reverse, leave no risk before them to compare with. */
export function checkComparable({ code }: FoundCode, before: IndexRisk, after?: IndexRisk): void {
	if (!after || (before.recordedAt === null) === (after.recordedAt === null)) return;
	const [was, is] = before.recordedAt === null ? ["a first", "another"] : ["another", "a first"];
	throw new InputError(
		`\`why\` explains how edits change the risk of ${code}, and these edits make that of ${was} record one of ${is} record; leave out \`why\`, or the edits of ${code}`,
		{ field: "why" },
	);
}

/** The times of the first and the last record of a code up to the index day. */
export function recordTimes(token: number, { patient: { history }, at }: RiskQuery) {
	const times = Array.from(history.times).filter(
		(time, event) => Math.floor(time) <= Math.floor(at) && history.tokens[event] === token,
	);
	return { first: times[0] as number, last: times.at(-1) as number };
}

/** Reasons as a JSON value. */
export function reasonsJson(reasons: RiskReasons, { query, axis, vocabulary }: RiskResult) {
	const { risk, start, listed, others, horizonDays } = reasons;
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
				edit: names[reason.parts[0] as number] as string,
				...effectOf(reason),
			})),
			others: others && { edits: others.parts.map((at) => names[at]), ...effectOf(others) },
		};
	}
	const moment = (time: number) => momentJson(time, query.patient.birth, axis);
	const codeJson = (token: number) => {
		const { code, system, name } = vocabulary.tokens[token] as Token;
		return { code, system, name };
	};
	return {
		horizonDays,
		risk,
		withoutRecords: start,
		change,
		codes: listed.map((reason) => {
			const [token = 0] = reason.parts;
			const { first, last } = recordTimes(token, query);
			return {
				...codeJson(token),
				first: moment(first),
				last: moment(last),
				records: reason.records,
				...effectOf(reason),
			};
		}),
		others: others && {
			codes: others.parts.map(codeJson),
			records: others.records,
			...effectOf(others),
		},
	};
}

import { type NotAtRisk, whyNotAtRisk } from "../../data/cohort/at-risk.js";
import type { NewPatient } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { edited } from "../../predict/index.js";
import {
	editWarnings,
	nothingRecorded,
	spanText,
	warningsFor,
} from "../../predict/user-input/index.js";
import type { QueriedPatients } from "./patients.js";
import type { RiskQuery } from "./risk-query.js";

/** What an index day lacks that landmarks in training have. */
export function notAtRiskWarnings(
	history: NewPatient["history"],
	at: number,
	lookBackDays: number,
): string[] {
	const reason = whyNotAtRisk(history, at, lookBackDays);
	// Times after death have a warning of their own.
	if (reason === null || (history.death !== null && at > history.death)) return [];
	const texts: Readonly<Record<NotAtRisk, string>> = {
		dead: "the patient died on the index day: the risk is that of somebody alive with these records",
		"not observed at the index day":
			"the index day lies outside the patient's observed time: records near it may be missing, and the risk may be too low",
		"look-back not covered": `the patient was observed for less than ${spanText(lookBackDays)} before the index day: codes that existed before may count as new, and the risk of a first record may be too high or too low`,
	};
	return [texts[reason]];
}

/** Caveats on the times and edits of a query. */
export function queryWarnings(
	{ patient, at, times, attributed, whatIf }: RiskQuery,
	queried: QueriedPatients,
	{ manifest }: Trained,
	lookBackDays: number,
): string[] {
	const { history } = patient;
	const addedLate = whatIf?.edits.filter(
		(edit) => "add" in edit && Math.floor(edit.add.time) > Math.floor(at),
	).length;
	const changed = whatIf && Array.from(edited(history, whatIf.edits).times);
	return [
		...notAtRiskWarnings(history, at, lookBackDays),
		...warningsFor(
			queried,
			[...new Set([at, ...times, ...attributed])].map((time) => ({ patient, time })),
			manifest,
			nothingRecorded,
		),
		...(changed ? editWarnings(changed.slice(history.birthEvents), manifest, addedLate) : []),
	];
}

/** What risks of groups from sampled futures leave out. */
export const groupWarnings = (
	{ folder }: Trained,
	others: readonly Trained[],
	{ whatIf }: RiskQuery,
) => [
	...(others.length > 0 ? [`risks of groups from futures are of ${folder} alone`] : []),
	...(whatIf ? ["risks of groups from futures are of the history without edits"] : []),
];

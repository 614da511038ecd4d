import type { Token } from "../cohort/vocabulary.js";
import { counted } from "../figures/numbers.js";
import { precisionText } from "../infer/reasons.js";
import { dayText, spanText } from "../infer/user-input/index.js";
import type { CodeRisk } from "../workflows/code-risks.js";
import type { RiskResult } from "../workflows/risk.js";
import type { RiskQuery } from "../workflows/risk-query.js";
import type { RiskReasons } from "../workflows/risk-reasons.js";
import { named, shares } from "./risk-words.js";
import { table } from "./table.js";

/** From the risk without records to the risk: what the records of each code add. */
export function reasonsText(
	reasons: RiskReasons,
	{ code, index, whatIfIndex }: CodeRisk,
	{ query, axis, vocabulary }: RiskResult,
): string {
	const { risk, unrecorded, codes, others, horizonDays } = reasons;
	const isRecorded = (query.whatIf ? whatIfIndex : index)?.recordedAt !== null;
	const effects = [...codes, ...(others ? [others] : [])].map(({ effect }) => Math.abs(effect));
	const { share, points } = shares(Math.max(risk, unrecorded, ...effects));
	const times = (count: number) => (count > 1 ? ` ×${count}` : "");
	const day = (time: number) => dayText(time, axis);
	const within = `within ${spanText(horizonDays)}`;
	const rows = [
		["", "", `risk with ${baselineWords(query, isRecorded)}`, share(unrecorded)],
		...codes.map(({ tokens: [token = 0], records, first, last, effect }) => [
			...[day(first), records > 1 ? day(last) : ""],
			`${named(vocabulary.tokens[token] as Token)}${times(records)}`,
			points(effect),
		]),
		...(others
			? [
					[
						...["", "", `${counted(others.tokens.length, "other code")}${times(others.records)}`],
						points(others.effect),
					],
				]
			: []),
		["", "", "change from all records", points(risk - unrecorded)],
		["", "", `risk ${within}`, share(risk)],
	];
	return `\nWhy: what the records of each code add to the risk of ${isRecorded ? "another" : "a first"} record of ${named(code)} ${within} after ${day(query.at)}${query.whatIf ? ", what if" : ""}, in percentage points\n\n${table(["first", "last", "recorded", "points"], rows)}\n${[precisionText(reasons), "The rows show what moves the model's prediction, not what causes a disease."].join(" ").trim()}\n`;
}

/** What is known without the records: what the birth tells, and the code's own records. */
function baselineWords({ patient }: RiskQuery, isRecorded: boolean): string {
	const known = [
		...(patient.history.birthEvents > 0 ? ["age"] : []),
		...(patient.history.birthEvents > 0 && patient.sex ? ["sex"] : []),
		...(isRecorded ? ["its own records"] : []),
	];
	if (known.length === 0) return "nothing known";
	const last = known.pop() as string;
	return `${[known.join(", "), last].filter(Boolean).join(" and ")} alone`;
}

import type { Token } from "../../data/cohort/vocabulary.js";
import { counted } from "../../evaluate/charts/numbers.js";
import { precisionText, type Reason, shownEffects, startText } from "../../predict/reasons.js";
import { dayText, spanText } from "../../predict/user-input/index.js";
import type { CodeRisk } from "../workflows/code-risks.js";
import type { RiskResult } from "../workflows/risk.js";
import { type RiskReasons, recordTimes } from "../workflows/risk-reasons.js";
import { named, shares } from "./risk-words.js";
import { table } from "./table.js";

/** From the start of the reasons to the risk: what the records of each code add or, with edits, each edit. */
export function reasonsText(
	reasons: RiskReasons,
	{ code, index }: CodeRisk,
	{ query, axis, vocabulary }: RiskResult,
): string {
	const { risk, start, listed, others, horizonDays } = reasons;
	const { whatIf, patient } = query;
	const isRecorded = index.recordedAt !== null;
	const effects = [...listed, ...(others ? [others] : [])].map(({ effect }) => Math.abs(effect));
	const { digits, share, points } = shares(Math.max(risk, start, ...effects));
	const shown = shownEffects(reasons, digits);
	const change = shown.reduce((sum, effect) => sum + effect, 0);
	const times = (count: number) => (count > 1 ? ` ×${count}` : "");
	const day = (time: number) => dayText(time, axis);
	const within = `within ${spanText(horizonDays)}`;
	/** The dates are those of the records; an edit says its own. */
	const row = (name: string, value: string, dates = ["", ""]) => [
		...(whatIf ? [] : dates),
		name,
		value,
	];
	const listedRow = ({ parts: [part = 0], records }: Reason, at: number) => {
		const added = points(shown[at] as number);
		if (whatIf) return row(whatIf.names[part] as string, added);
		const { first, last } = recordTimes(part, query);
		const name = `${named(vocabulary.tokens[part] as Token)}${times(records)}`;
		return row(name, added, [day(first), records > 1 ? day(last) : ""]);
	};
	const rows = [
		row(
			startText({
				sex: patient.sex,
				birthEvents: patient.history.birthEvents,
				isRecorded,
				isEdited: whatIf !== undefined,
			}),
			share(start),
		),
		...listed.map(listedRow),
		...(others
			? [
					row(
						`${counted(others.parts.length, whatIf ? "other edit" : "other code")}${whatIf ? "" : times(others.records)}`,
						points(shown[listed.length] as number),
					),
				]
			: []),
		row(`change from all ${whatIf ? "edits" : "records"}`, points(change)),
		row(`risk ${within}${whatIf ? " after the edits" : ""}`, share(risk)),
	];
	const header = whatIf ? ["edit", "points"] : ["first", "last", "recorded", "points"];
	return `\nWhy: what ${whatIf ? "each edit adds" : "the records of each code add"} to the risk of ${isRecorded ? "another" : "a first"} record of ${named(code)} ${within} after ${day(query.at)}, in percentage points\n\n${table(header, rows)}\n${[precisionText(reasons), "The rows show what moves the model's prediction, not what causes a disease."].join(" ").trim()}\n`;
}

import { simulatedText } from "../../base/simulated.js";
import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import type { Token } from "../../data/cohort/vocabulary.js";
import { shareError } from "../../predict/futures.js";
import { dayText, spanText } from "../../predict/user-input/index.js";
import { patientText } from "../../predict/user-input/patient-text.js";
import type { FuturesResult } from "../workflows/futures.js";

/** The futures in a few lines, and the most frequent new codes. */
export function futuresText(result: FuturesResult, top: number): string {
	const { patient, axis, at, days, futures, dead, newCodes, vocabulary, simulated } = result;
	const shareText = (share: number) =>
		`${percent(share)} ± ${(100 * shareError(share, futures.length)).toFixed(1)}`;
	const riskText = (risk: number | undefined) => (risk === undefined ? "" : percent(risk));
	const rows = newCodes.slice(0, top).map(({ token, share, risk }) => {
		const { code, name } = vocabulary.tokens[token] as Token;
		return [code === name ? code : `${code} ${name}`, shareText(share), riskText(risk)];
	});
	const count = thousands(futures.length);
	return [
		`${patientText(patient, axis)}\n`,
		...(simulated ? [`${simulatedText}\n`] : []),
		`\n${count} ${futures.length === 1 ? "future" : "futures"} of ${spanText(days)} after ${dayText(at, axis)}, seed ${result.seed}:\n`,
		`  ${result.visitsPerYear.toFixed(1)} visits per year, ${result.codesPerVisit.toFixed(2)} codes per visit\n`,
		`  dead at the end: ${shareText(dead.share)}${dead.risk === undefined ? "" : `, in closed form ${percent(dead.risk)}`}\n`,
		rows.length === 0
			? "\nNo new code is recorded in any future.\n"
			: `\nNew codes, by the share of futures that record them:\n\n${table(["", "futures", "closed form"], rows)}`,
		"\n±: standard error of the share. Closed form: the risk from the hazards of the code itself.\n",
	].join("");
}

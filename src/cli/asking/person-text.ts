import type { NewPatient } from "../../cohort/index.js";
import { dayText, type TimeAxis, yearDays } from "../../infer/asking/index.js";

/** `p7: female, 84 events from 2003-01-10 to 2014-11-30 (age 57.7)`. */
export function personText({ id, sex, birth, history }: NewPatient, where: TimeAxis): string {
	const times = history.times.subarray(history.birthEvents);
	const [first, last] = [times[0], times.at(-1)];
	const parts: string[] = sex ? [sex] : [];
	if (first === undefined || last === undefined) parts.push("no event that the model knows");
	else if (times.length === 1) parts.push(`1 event, at ${dayText(last, where)}`);
	else
		parts.push(
			`${times.length.toLocaleString("en-US")} events from ${dayText(first, where)} to ${dayText(last, where)}`,
		);
	const age = last !== undefined && birth !== null ? ` (age ${ageText(last, birth, where)})` : "";
	return `${id}: ${parts.join(", ")}${age}`;
}

/** In years, to a tenth. */
export const ageText = (time: number, birth: number, { unitDays }: TimeAxis): string =>
	(((time - birth) * unitDays) / yearDays).toFixed(1);

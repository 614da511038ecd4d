import { thousands } from "../../base/thousands.js";
import { type TimeAxis, yearDays } from "../../base/time.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { dayText } from "./moments.js";

/** `p7: female, 84 events from 2003-01-10 to 2014-11-30 (age 57.7)`. */
export function patientText({ id, sex, birth, history }: NewPatient, axis: TimeAxis): string {
	const times = history.times.subarray(history.birthEvents);
	const [first, last] = [times[0], times.at(-1)] as [number, number];
	const parts: string[] = sex ? [sex] : [];
	if (times.length === 1) parts.push(`1 event, at ${dayText(last, axis)}`);
	else
		parts.push(
			`${thousands(times.length)} events from ${dayText(first, axis)} to ${dayText(last, axis)}`,
		);
	const age = birth !== null ? ` (age ${ageText(last, birth)})` : "";
	return `${id}: ${parts.join(", ")}${age}`;
}

/** In years, to a tenth. */
export const ageText = (time: number, birth: number): string =>
	((time - birth) / yearDays).toFixed(1);

import { yearDays } from "../../../src/base/time.js";
import { lookAheadYears } from "../charts/timeline-layout.js";
import type { About } from "../data/contract.js";
import { endOfDay, type Patient, type PatientEvent } from "../data/patient.js";
import { durationText, yearsText } from "../parts/words.js";

interface QueryDate {
	readonly patient: Pick<Patient, "birth" | "death">;
	readonly events: readonly PatientEvent[];
	readonly date: number;
	/** How far the training histories reach; null where it is not known. */
	readonly reach: About["dataset"]["reach"];
}

const years = (days: number) => `${(days / yearDays).toFixed(1)} years`;

/** Why the predictions at a date may be unreliable; the command line gives the same warnings. */
export function dateWarnings({
	patient: { birth, death = null },
	events,
	date,
	reach,
}: QueryDate): string[] {
	const end = date + lookAheadYears * yearDays;
	const endWords = `The risks within ${yearsText(lookAheadYears)} extend to`;
	const warnings: string[] = [];
	const last = events.findLast(({ time }) => time < endOfDay(date))?.time;
	if (last === undefined)
		warnings.push(
			birth === null
				? "Nothing is recorded before this date: the prediction is based on an empty history, and training had none."
				: "Nothing is recorded before this date: the model knows only the birth, and the sex if it is given.",
		);
	if (death !== null && end > death) {
		const [words, time] = date > death ? ["The date is", date] : ([endWords, end] as const);
		warnings.push(`${words} ${durationText(time - death)} after the patient’s death.`);
	}
	if (!reach) return warnings;
	const { longestDays, oldestDays } = reach;
	/** The first of the date and the end of the risks that lies more than `mostDays` after `since`. */
	const tooFar = (since: number, mostDays: number) =>
		[
			{ words: "The date is at", time: date },
			{ words: endWords, time: end },
		]
			.map(({ words, time }) => ({ words, days: time - since }))
			.find(({ days }) => days > mostDays);
	const gap = last === undefined ? undefined : tooFar(last, longestDays);
	if (gap)
		warnings.push(
			`${gap.words} ${years(gap.days)} after the last record before the date, longer than any training history; the longest spans ${years(longestDays)}.`,
		);
	const age = birth === null || oldestDays === null ? undefined : tooFar(birth, oldestDays);
	if (age)
		warnings.push(
			`${age.words} the age of ${years(age.days)}; the oldest patient in training was ${years(oldestDays as number)} old.`,
		);
	return warnings;
}

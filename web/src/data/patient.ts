import { yearDays } from "../../../src/base/time.js";
import { birthToken, specialCount } from "../../../src/data/cohort/vocabulary.js";
import type { Sex } from "../../../src/data/records/rows.js";
import type { SamplePatient } from "./contract.js";

export interface PatientEvent {
	/** Stable across edits. */
	readonly id: string;
	readonly token: number;
	readonly time: number;
}

/** A patient of the explorer. Times are in days. */
export interface Patient {
	/** The id of a sample; null for patients from a file, which links must not identify. */
	readonly sample: string | null;
	readonly name: string;
	readonly sex: Sex | null;
	readonly birth: number | null;
	/** Null or left out if unknown. */
	readonly death?: number | null;
	/** The time axis of a file; that of the model's records if left out. */
	readonly axis?: "dates" | "days";
	/** In order of time, without birth. */
	readonly events: readonly PatientEvent[];
	/** Of a simulated person, whose true risks can be computed. */
	readonly simulation?: SamplePatient["simulation"];
}

export interface History {
	readonly tokens: readonly number[];
	readonly times: readonly number[];
	/** 1 if it begins with the birth. */
	readonly birthEvents: 0 | 1;
}

export const patientOf = ({
	id,
	name,
	sex,
	birthTime,
	events,
	simulation,
	death,
}: SamplePatient): Patient => ({
	simulation,
	death,
	sample: id,
	name,
	sex,
	birth: birthTime,
	events: events
		.filter(({ token }) => token >= specialCount)
		.map(({ token, time }, at) => ({ id: `e${at}`, token, time })),
});

/** The model's input: the birth if it is known, then the events. */
export function historyOf(
	{ sex, birth }: Pick<Patient, "sex" | "birth">,
	events: readonly PatientEvent[],
): History {
	const born = birth === null ? [] : [{ token: birthToken(sex), time: birth }];
	const all = [...born, ...events];
	return {
		tokens: all.map(({ token }) => token),
		times: all.map(({ time }) => time),
		birthEvents: birth === null ? 0 : 1,
	};
}

/** Records of the index day are history, as in `src/data/cohort/at-risk.ts`: those before this time are known. */
export const endOfDay = (date: number): number => Math.floor(date) + 1;

/** The events of a sample before its initial date, as in the paper's look-up window; of a short history, two thirds. */
const [sampleEvents, shortSample] = [50, 60];

/**
 * The initial date. A patient from a file is predicted from the last record. A sample is predicted from an earlier
 * day, so that the records after it show what came: after 50 events, or after two thirds of fewer than 60.
 */
export function initialDate({ sample, events }: Pick<Patient, "sample" | "events">): number {
	const count = events.length;
	if (count === 0) return 0;
	if (sample === null) return (events[count - 1] as PatientEvent).time;
	const known = count >= shortSample ? sampleEvents : Math.max(1, Math.floor((2 * count) / 3));
	const last = (events[known - 1] as PatientEvent).time;
	const next = events.find(({ time }) => time > last)?.time;
	return next === undefined ? last + 1 : (last + next) / 2;
}

type DatedPatient = Pick<Patient, "birth"> & {
	readonly events: readonly { readonly time: number }[];
};
type Range = readonly [first: number, last: number];

const yearsBeyond = 2;

/** The range of the date, on the slider and in links: from the birth or first event to two years after the last. */
export function dateRange({ birth, events }: DatedPatient): Range {
	const first = birth ?? events[0]?.time ?? 0;
	return [first, (events.at(-1)?.time ?? first) + yearsBeyond * yearDays];
}

/** The range for added events: that of the date, extended by two years before the first event if birth is unknown. */
export function addingRange(patient: DatedPatient): Range {
	const [first, last] = dateRange(patient);
	return [patient.birth ?? first - yearsBeyond * yearDays, last];
}

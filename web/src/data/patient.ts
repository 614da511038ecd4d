import { birthToken, specialCount } from "../../../src/cohort/vocabulary.js";
import type { Sex } from "../../../src/records/rows.js";
import type { SamplePatient } from "./contract.js";

export interface PatientEvent {
	/** The same through all edits. */
	readonly id: string;
	readonly token: number;
	readonly time: number;
}

/** A patient as the page knows them. Times are in the model's unit. */
export interface Patient {
	/** Of a sample; what was read from a file has none that may be told. */
	readonly sample: string | null;
	readonly name: string;
	readonly sex: Sex | null;
	readonly birth: number | null;
	/** Null or left out where nobody knows of one. */
	readonly death?: number | null;
	/** What the times of a file count; as the model's records, if left out. */
	readonly axis?: "dates" | "days";
	/** By time, birth not among them. */
	readonly events: readonly PatientEvent[];
}

export interface History {
	readonly tokens: readonly number[];
	readonly times: readonly number[];
	/** 1 when it begins with the birth. */
	readonly birthEvents: 0 | 1;
}

export const patientOf = ({ id, name, sex, birthTime, events }: SamplePatient): Patient => ({
	sample: id,
	name,
	sex,
	birth: birthTime,
	events: events
		.filter(({ token }) => token >= specialCount)
		.map(({ token, time }, at) => ({ id: `e${at}`, token, time })),
});

/** What the model reads: the birth where it is known, then the events. */
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

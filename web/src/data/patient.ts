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
	...{ simulation, death },
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

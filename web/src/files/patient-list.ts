import { thousands } from "../../../src/base/thousands.js";
import { yearDays } from "../../../src/base/time.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Usual } from "../data/contract.js";
import type { Patient } from "../data/patient.js";
import type { FilePatient, FilePatients } from "./to-patients.js";

/** The patients of a file, in order of their number of events. */
export type PatientList = ReturnType<typeof patientList>;

/** Patients by their place in the list; one with its events is made when it is asked for. */
export function patientList(file: string, { axis, patients }: FilePatients) {
	const places = new Map(patients.map(({ name }, place) => [name, place]));
	const patientAt = (place: number) => patients[place] as FilePatient;
	return {
		/** The name of the file. */
		file,
		length: patients.length,
		events: patients.reduce((sum, { tokens }) => sum + tokens.length, 0),
		nameAt: (place: number) => patientAt(place).name,
		eventsAt: (place: number) => patientAt(place).tokens.length,
		countsAt: (place: number): Pick<FilePatient, "records" | "unknown"> => patientAt(place),
		at(place: number): Patient {
			const { tokens, times, name, sex, birth, death } = patientAt(place);
			const events = Array.from(tokens, (token, index) => ({
				id: `e${index}`,
				token,
				time: times[index] as number,
			}));
			return { sample: null, name, sex, birth, death, axis, events };
		},
		/** The place of a patient of this list. */
		placeOf: ({ name, sample }: Pick<Patient, "name" | "sample">): number | undefined =>
			sample === null ? places.get(name) : undefined,
		/** The places of the first patients whose id contains a text, and how many there are. */
		find(text: string, most: number) {
			const words = text.trim().toLowerCase();
			const nameOf = (place: number) => patientAt(place).name.toLowerCase();
			const matches = [...patients.keys()].filter((place) => nameOf(place).includes(words));
			const exact = matches.findIndex((place) => nameOf(place) === words);
			const first = exact < 0 ? [] : matches.splice(exact, 1);
			return {
				places: [...first, ...matches].slice(0, most),
				count: first.length + matches.length,
			};
		},
	};
}

/** A larger share of unknown records leaves much of a history out. */
const mostUnknown = 0.2;

/** Rates beyond the usual range by this factor are far outside. */
const farOutside = 2;

const number = (value: number) => thousands(Number(value.toPrecision(2)));

/** Why the history of a patient looks unlike those that the model has learned from. */
export function unlikeTraining(
	{ birth, events }: Pick<Patient, "birth" | "events">,
	{ records, unknown }: Pick<FilePatient, "records" | "unknown">,
	usual: Usual["usual"],
): string[] {
	const reasons: string[] = [];
	if (unknown / records > mostUnknown)
		reasons.push(
			`${thousands(unknown)} of ${thousands(records)} records (${percent(unknown / records)}) have codes that the model does not know`,
		);
	const [first, last] = [events[0]?.time, events.at(-1)?.time];
	if (!usual || first === undefined || last === undefined) return reasons;
	const {
		eventsPerYear: [fewest, most],
		ages,
	} = usual;
	const rate = events.length / Math.max(1, (last - first) / yearDays);
	const ofTraining = "98 % of the training patients have";
	if (rate < fewest / farOutside || rate > most * farOutside)
		reasons.push(
			`${number(rate)} events per year; ${ofTraining} ${number(fewest)} to ${number(most)}`,
		);
	if (!ages) return reasons;
	if (birth === null) {
		reasons.push("no date of birth: the model was trained with age and sex, and has neither here");
		return reasons;
	}
	const [youngest, oldest] = [first, last].map((time) => (time - birth) / yearDays) as [
		number,
		number,
	];
	if (youngest < ages[0] || oldest > ages[1])
		reasons.push(
			`records from age ${youngest.toFixed(0)} to ${oldest.toFixed(0)}; ${ofTraining} theirs from ${ages[0].toFixed(0)} to ${ages[1].toFixed(0)}`,
		);
	return reasons;
}

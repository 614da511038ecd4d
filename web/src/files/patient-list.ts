import { thousands } from "../../../src/base/thousands.js";
import { yearDays } from "../../../src/base/time.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Usual } from "../data/contract.js";
import type { Patient } from "../data/patient.js";
import type { FilePatients, FileSummary, RecordCounts } from "./to-patients.js";

/** The patients of a file as a few arrays, which a worker hands over without a copy. */
interface PackedPatients {
	readonly names: readonly string[];
	/** 0 unknown, 1 female, 2 male. */
	readonly sexes: Uint8Array;
	/** NaN if unknown, like deaths. */
	readonly births: Float64Array;
	readonly deaths: Float64Array;
	/** Where the events of each patient begin, and the end. */
	readonly starts: Uint32Array;
	readonly tokens: Int32Array;
	readonly times: Float64Array;
	readonly records: Uint32Array;
	readonly unknown: Uint32Array;
}

/** What a worker sends of a file. */
export interface PackedFile {
	readonly summary: FileSummary;
	readonly packed: PackedPatients;
}

const sexes = [null, "female", "male"] as const;
const orNaN = (value: number | null | undefined) => value ?? Number.NaN;
const orNull = (value: number | undefined) =>
	value === undefined || Number.isNaN(value) ? null : value;

export function packFile({ patients, counts, ...summary }: FilePatients): PackedFile {
	const starts = new Uint32Array(patients.length + 1);
	for (const [i, { events }] of patients.entries())
		starts[i + 1] = (starts[i] as number) + events.length;
	const events = starts[patients.length] as number;
	const packed = {
		names: patients.map(({ name }) => name),
		sexes: Uint8Array.from(patients, ({ sex }) => sexes.indexOf(sex)),
		births: Float64Array.from(patients, ({ birth }) => orNaN(birth)),
		deaths: Float64Array.from(patients, ({ death }) => orNaN(death)),
		starts,
		tokens: new Int32Array(events),
		times: new Float64Array(events),
		records: Uint32Array.from(counts, ({ records }) => records),
		unknown: Uint32Array.from(counts, ({ unknown }) => unknown),
	};
	for (const [i, patient] of patients.entries())
		for (const [k, { token, time }] of patient.events.entries()) {
			packed.tokens[(starts[i] as number) + k] = token;
			packed.times[(starts[i] as number) + k] = time;
		}
	return { summary, packed };
}

/** The buffers to hand over. */
export const buffersOf = ({ packed }: PackedFile): ArrayBuffer[] =>
	Object.values(packed).flatMap((value) =>
		ArrayBuffer.isView(value) ? [value.buffer as ArrayBuffer] : [],
	);

/** The patients of a file, in order of their number of events. A patient is made when it is asked for. */
export interface PatientList {
	/** The name of the file. */
	readonly file: string;
	readonly length: number;
	readonly events: number;
	nameAt(place: number): string;
	eventsAt(place: number): number;
	countsAt(place: number): RecordCounts;
	at(place: number): Patient;
	/** The place of a patient of this list. */
	placeOf(patient: Pick<Patient, "name" | "sample">): number | undefined;
	/** The places of the first patients whose id contains a text, and how many there are. */
	find(text: string, most: number): { readonly places: readonly number[]; readonly count: number };
}

export function patientList(file: string, { summary: { axis }, packed }: PackedFile): PatientList {
	const { names, starts, tokens, times } = packed;
	const places = new Map(names.map((name, place) => [name, place]));
	const lower = names.map((name) => name.toLowerCase());
	const eventsAt = (place: number) => (starts[place + 1] as number) - (starts[place] as number);
	return {
		file,
		length: names.length,
		events: tokens.length,
		eventsAt,
		nameAt: (place) => names[place] as string,
		countsAt: (place) => ({
			records: packed.records[place] as number,
			unknown: packed.unknown[place] as number,
		}),
		at(place) {
			const start = starts[place] as number;
			return {
				sample: null,
				name: names[place] as string,
				sex: sexes[packed.sexes[place] as number] ?? null,
				birth: orNull(packed.births[place]),
				death: orNull(packed.deaths[place]),
				axis,
				events: Array.from({ length: eventsAt(place) }, (_, at) => ({
					id: `e${at}`,
					token: tokens[start + at] as number,
					time: times[start + at] as number,
				})),
			};
		},
		placeOf: ({ name, sample }) => (sample === null ? places.get(name) : undefined),
		find(text, most) {
			const words = text.trim().toLowerCase();
			const exact = lower.indexOf(words);
			const places: number[] = exact < 0 || words === "" ? [] : [exact];
			let count = places.length;
			for (const [place, name] of lower.entries()) {
				if (place === places[0] && words === name) continue;
				if (!name.includes(words)) continue;
				count++;
				if (places.length < most) places.push(place);
			}
			return { places, count };
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
	{ records, unknown }: RecordCounts,
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

import { dayMilliseconds, type TimeAxis } from "../../base/time.js";
import type { NewPatient } from "../../cohort/index.js";
import {
	type GivenRecord,
	type Latest,
	type ReadRecords,
	recordReader,
} from "../../cohort/reading/reader.js";
import { readingRules } from "../../cohort/reading/rules.js";
import { systemNamed } from "../../records/systems.js";
import { firstYear, lastYear } from "../../records/years.js";
import { Refusal } from "../http/refusal.js";
import type { EventRequest, PatientRequest } from "./schemas.js";
import type { Served } from "./served.js";

/** A patient of a request, as the model reads them. */
export interface AskedPatient {
	readonly patient: NewPatient;
	readonly axis: TimeAxis;
	/** Of each event of the history, its place in the request; −1 of the birth. */
	readonly places: readonly number[];
	readonly unknown: readonly { readonly code: string; readonly records: number }[];
	/** The tokens of the latest day or month, where a repetition within it does not count. */
	readonly latest: Latest | undefined;
	readonly notes: readonly string[];
}

/** A date as days since 1970-01-01; a day as it is. */
function dayOf(date: string | number, fieldName: () => string): number {
	if (typeof date === "number") return date;
	const day = Date.parse(inUtc(date)) / dayMilliseconds;
	const year = Number(date.slice(0, 4));
	if (Number.isFinite(day) && year >= firstYear && year <= lastYear) return day;
	const field = fieldName();
	throw new Refusal(422, `${field} is of no year between ${firstYear} and ${lastYear}`, { field });
}

/** A time without a zone is one of nowhere: taken as UTC, as dates are. */
function inUtc(date: string): string {
	if (date.length === 10) return `${date}T00:00:00Z`;
	return /T.*(Z|[+-]\d\d:?\d\d)$/.test(date) ? date : `${date}Z`;
}

/** Whether times are dates or days; both in one request cannot be put in order. */
export function axisOf(
	dates: readonly (string | number)[],
	fieldOf: (place: number) => string,
	usual: TimeAxis,
): TimeAxis {
	const kindOf = (date: string | number) => (typeof date === "number" ? "days" : "dates");
	const [first] = dates;
	if (first === undefined) return usual;
	const kind = kindOf(first);
	const other = dates.findIndex((date) => kindOf(date) !== kind);
	if (other >= 0)
		throw new Refusal(
			422,
			`${fieldOf(0)} is ${kind === "dates" ? "a date" : "a day"} and ${fieldOf(other)} is ${kind === "dates" ? "a day" : "a date"}; give all of them alike`,
			{ field: fieldOf(other) },
		);
	return kind;
}

type Book = Pick<Served, "vocabulary" | "manifest" | "map">;

/** Codes a request holds are looked up anew: nothing of it is kept. */
const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

const recordsOf = (given: readonly EventRequest[], field: string): GivenRecord[] =>
	given.map(({ code, system, date }, place) => ({
		day: dayOf(date, () => `${field}.${place}.date`),
		code: code.trim(),
		system: system === undefined ? null : (systemNamed(system) ?? system),
	}));

/** The codes of a request that stand for nothing the model knows, as they were written. */
function unknownOf({ unknown }: ReadRecords, given: readonly EventRequest[]) {
	const records = new Map<string, Set<number>>();
	for (const { place, alone } of unknown) {
		const code = given[place]?.code;
		if (code === undefined || !alone) continue;
		records.set(code, (records.get(code) ?? new Set()).add(place));
	}
	return [...records].map(([code, places]) => ({ code, records: places.size }));
}

const drugNotes = ({ drugs }: ReadRecords): string[] =>
	drugs === 0
		? []
		: [
				`${drugs} ${drugs === 1 ? "event is a drug" : "events are drugs"}, and the model has none: left out`,
			];

/** Further events of somebody of whom `latest` is known, in order. */
export function readEvents(
	given: readonly EventRequest[],
	served: Book,
	axis: TimeAxis,
	latest: Latest | undefined,
) {
	const records = recordsOf(given, "events");
	const read = readerFor(served).more(records, axis, latest);
	return {
		events: read.events,
		lastDay: records.reduce((most, { day }) => Math.max(most, day), Number.NEGATIVE_INFINITY),
		...{ unknown: unknownOf(read, given), latest: read.latest, notes: drugNotes(read) },
	};
}

/** The history of a patient in a request: read as the model's dataset was. */
export function askedPatient(request: PatientRequest, served: Book): AskedPatient {
	const { source } = served.manifest;
	const { birth: bornAt = null, sex = null, events: given } = request;
	const field = "patient.events";
	const dates = given.map(({ date }) => date);
	if (bornAt !== null) dates.push(bornAt);
	const fieldOf = (i: number) => (i < given.length ? `${field}.${i}.date` : "patient.birth");
	const axis = axisOf(dates, fieldOf, source.axis);
	const birth = bornAt === null ? null : dayOf(bornAt, () => "patient.birth");
	const read = readerFor(served).patient(
		"1",
		{ birth, sex, death: null },
		recordsOf(given, field),
		axis,
	);
	const { patient, places, latest, bornLate } = read;
	return {
		...{ patient, axis, places, latest },
		unknown: unknownOf(read, given),
		notes: [
			...(bornLate ? ["an event lies before the birth: birth taken as unknown"] : []),
			...drugNotes(read),
		],
	};
}

import type { NewPatient } from "../../cohort/index.js";
import {
	type GivenRecord,
	type Latest,
	type ReadRecords,
	recordReader,
} from "../../cohort/reading/reader.js";
import { readingRules } from "../../cohort/reading/rules.js";
import type { TimeAxis } from "../../infer/asking/index.js";
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
function dayOf(date: string | number, field: string): number {
	if (typeof date === "number") return date;
	// A time without a zone is one of nowhere: taken as UTC, as dates are.
	const hasZone = /T.*(Z|[+-]\d\d:?\d\d)$/.test(date);
	const text = date.length === 10 ? `${date}T00:00:00Z` : hasZone ? date : `${date}Z`;
	const day = Date.parse(text) / 86_400_000;
	const year = Number(date.slice(0, 4));
	if (Number.isFinite(day) && year >= firstYear && year <= lastYear) return day;
	throw new Refusal(422, `${field} is of no year between ${firstYear} and ${lastYear}`, { field });
}

/** Whether times are dates or days; both in one request cannot be put in order. */
export function axisOf(
	dates: readonly { readonly date: string | number; readonly field: string }[],
	usual: TimeAxis["axis"],
): TimeAxis["axis"] {
	const kindOf = (date: string | number) => (typeof date === "number" ? "days" : "dates");
	const first = dates[0];
	if (!first) return usual;
	const kind = kindOf(first.date);
	const other = dates.find(({ date }) => kindOf(date) !== kind);
	if (other)
		throw new Refusal(
			422,
			`${first.field} is ${kind === "dates" ? "a date" : "a day"} and ${other.field} is ${kind === "dates" ? "a day" : "a date"}; give all of them alike`,
			{ field: other.field },
		);
	return kind;
}

type Book = Pick<Served, "vocabulary" | "manifest" | "map">;

/** Codes a request holds are looked up anew: nothing of it is kept. */
const readerFor = ({ vocabulary, manifest, map }: Book) =>
	recordReader(vocabulary, readingRules(manifest), map);

const recordsOf = (given: readonly EventRequest[], field: string): GivenRecord[] =>
	given.map(({ code, system, date }, place) => ({
		day: dayOf(date, `${field}.${place}.date`),
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
	axis: TimeAxis["axis"],
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
	const { timeUnit, source } = served.manifest;
	const { birth: bornAt = null, sex = null, events: given } = request;
	const field = "patient.events";
	const dates = given.map(({ date }, i) => ({ date, field: `${field}.${i}.date` }));
	const born = bornAt === null ? [] : [{ date: bornAt, field: "patient.birth" }];
	const axis = { axis: axisOf([...dates, ...born], source.axis), unitDays: timeUnit.days };
	const birth = bornAt === null ? null : dayOf(bornAt, "patient.birth");
	const read = readerFor(served).patient(
		"1",
		{ birth, sex, death: null },
		recordsOf(given, field),
		axis.axis,
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

import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { dayMilliseconds, type TimeAxis, yearDays } from "../../base/time.js";
import type {
	GivenRecord,
	ReadPatient,
	ReadRecords,
	RecordReader,
} from "../../data/cohort/reading/records-to-events.js";
import { firstYear, lastYear } from "../../data/records/dates.js";
import { systemNamed } from "../../data/records/systems.js";

/** A date, or a day relative to an arbitrary origin. */
const dateSchema = z
	.union(
		[z.iso.date(), z.iso.datetime({ offset: true, local: true }), z.number().min(-1e6).max(1e6)],
		{ error: "is neither a date such as 2010-03-01 nor a number of days" },
	)
	.describe("a date (2010-03-01), or a number of days from any origin; use one kind throughout");

export const eventSchema = z.strictObject({
	code: z.string().min(1).max(64).describe("a code of the model, or an ICD code that maps to one"),
	system: z
		.string()
		.min(1)
		.max(100)
		.optional()
		.describe("its classification, such as ICD10CM or PheCode; detected if left out"),
	date: dateSchema.optional(),
	age: z.number().min(0).max(200).optional().describe("age in years, instead of a date"),
	value: z
		.number()
		.optional()
		.describe("a result, for models that were trained with values; others leave it out"),
	unit: z
		.string()
		.min(1)
		.max(64)
		.optional()
		.describe("the unit of the value; by default the one that the model knows for the code"),
});

/**
 * A record of a patient: a code, and a date or the age in years at which it was recorded.
 *
 * @example
 * const byDate = { code: "I10", system: "ICD10CM", date: "2010-03-01" };
 * const byAge = { code: "401", age: 59.7 };
 */
export type PatientEvent = z.infer<typeof eventSchema>;

export const patientSchema = z.strictObject({
	sex: z.enum(["female", "male"]).nullable().optional(),
	birth: dateSchema.nullable().optional().describe("if known; gives the model the age"),
	events: z.array(eventSchema).readonly().describe("the recorded events, in any order"),
});

/**
 * A patient as dated codes, in any order. If every event has an age, no birth is needed.
 *
 * @example
 * const patient = {
 * 	sex: "female",
 * 	birth: "1950-06-01",
 * 	events: [{ code: "I10", system: "ICD10CM", date: "2010-03-01" }],
 * };
 */
export type Patient = z.infer<typeof patientSchema>;

export type ParsedPatient = ReturnType<typeof readPatient>;

/** A date as days since 1970-01-01; a number of days unchanged. */
function dayOf(date: string | number, field: string): number {
	if (typeof date === "number") return date;
	const day = Date.parse(inUtc(date)) / dayMilliseconds;
	const year = Number(date.slice(0, 4));
	if (Number.isFinite(day) && year >= firstYear && year <= lastYear) return day;
	throw new InputError(`\`${field}\` is not in a year between ${firstYear} and ${lastYear}`, {
		field,
		value: date,
	});
}

/** Dates, and times without a zone, are taken as UTC. `Date.parse` does so for dates alone. */
function inUtc(date: string): string {
	return date.length === 10 || /T.*(Z|[+-]\d\d:?\d\d)$/.test(date) ? date : `${date}Z`;
}

/** Whether times are dates or days; a mixture cannot be ordered. */
function axisOf(
	times: readonly (string | number | null | undefined)[],
	fieldOf: (index: number) => string,
	usual: TimeAxis,
): TimeAxis {
	const isTime = (time: string | number | null | undefined) => time !== undefined && time !== null;
	const first = times.findIndex(isTime);
	if (first < 0) return usual;
	const isDay = typeof times[first] === "number";
	const other = times.findIndex((time) => isTime(time) && (typeof time === "number") !== isDay);
	if (other < 0) return isDay ? "days" : "dates";
	const [one, another] = isDay ? ["a day", "a date"] : ["a date", "a day"];
	throw new InputError(
		`\`${fieldOf(first)}\` is ${one} and \`${fieldOf(other)}\` is ${another}; use one kind throughout`,
		{ field: fieldOf(other), value: times[other] },
	);
}

/** Each event needs a date or an age, which counts from the birth. */
function recordsOf(
	events: readonly PatientEvent[],
	field: string,
	birth: number | null,
): GivenRecord[] {
	return events.map(({ code, system, date, age, value, unit }, place) => {
		const path = `${field}.${place}`;
		if ((date === undefined) === (age === undefined))
			throw new InputError(
				`\`${path}\` has ${date === undefined ? "neither a date nor an age" : "a date and an age"}; give one of them`,
				{ field: path },
			);
		if (age !== undefined && birth === null)
			throw new InputError(
				`\`${path}\` has an age, but the birth is unknown; give the birth, or an age for every event`,
				{ field: `${path}.age`, value: age },
			);
		return {
			day:
				date === undefined
					? (birth as number) + (age as number) * yearDays
					: dayOf(date, `${path}.date`),
			code: code.trim(),
			system: system === undefined ? null : (systemNamed(system) ?? system),
			value,
			unit,
		};
	});
}

/** The codes that the model does not know, as they were written. */
function unknownOf({ unknown }: ReadRecords, given: readonly PatientEvent[]) {
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

/** Reads further events of a patient whose latest event is `latest`. */
export function readEvents(
	given: readonly PatientEvent[],
	reader: RecordReader,
	{
		axis: usual,
		birth,
		latest,
	}: { axis: TimeAxis; birth: number | null; latest: ReadPatient["latest"] },
) {
	const axis = axisOf(
		given.map(({ date }) => date),
		(index) => `events.${index}.date`,
		usual,
	);
	const records = recordsOf(given, "events", birth);
	const read = reader.more(records, axis, latest);
	return {
		axis,
		events: read.events,
		lastDay: records.reduce((most, { day }) => Math.max(most, day), Number.NEGATIVE_INFINITY),
		unknown: unknownOf(read, given),
		latest: read.latest,
		drugs: read.drugs,
		notes: drugNotes(read),
	};
}

/** Reads a patient to predict for, who needs a record that the model knows. */
export function readKnownPatient(
	given: Patient,
	reader: RecordReader,
	usual: TimeAxis,
	field = "patient",
): ParsedPatient {
	const parsed = readPatient(given, reader, usual, field);
	const { history } = parsed.patient;
	const events = history.tokens.length - history.birthEvents;
	const lacking = reader.lacksKnown(parsed.records, events, parsed.drugs);
	if (lacking === undefined) return parsed;
	throw new InputError(`\`${field}\` has ${lacking}`, { field });
}

/** Reads a patient's history by the rules of the model's dataset. `field` names the patient in messages. */
export function readPatient(
	{ birth: born = null, sex = null, events }: Patient,
	reader: RecordReader,
	usual: TimeAxis,
	field = "patient",
) {
	const dates = events.map(({ date }) => date);
	const byAge = born === null && events.length > 0 && dates.every((date) => date === undefined);
	const fieldOf = (index: number) =>
		index < events.length ? `${field}.events.${index}.date` : `${field}.birth`;
	const axis = byAge ? "days" : axisOf([...dates, born], fieldOf, usual);
	const birth = byAge ? 0 : born === null ? null : dayOf(born, `${field}.birth`);
	const records = recordsOf(events, `${field}.events`, birth);
	const read = reader.patient("1", { birth, sex, death: null }, records, axis);
	const { patient, places, latest, bornLate } = read;
	return {
		patient,
		axis,
		places,
		latest,
		records: events.length,
		/** Drugs among them, if the model has none. */
		drugs: read.drugs,
		/** Codes that the model does not know, as they were written. */
		unknown: unknownOf(read, events),
		notes: [
			...(bornLate ? ["an event lies before the birth: birth taken as unknown"] : []),
			...drugNotes(read),
		],
	};
}

import { historyOf } from "../../cohort/dataset.js";
import type { NewPatient } from "../../cohort/index.js";
import { Refusal } from "../http/refusal.js";
import { eventTokens } from "./event-tokens.js";
import type { EventRequest, PatientRequest } from "./schemas.js";
import type { Served, TimeAxis } from "./served.js";

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

interface Latest {
	readonly period: number;
	readonly tokens: ReadonlySet<number>;
}

interface ReadEvent {
	readonly token: number;
	readonly day: number;
	readonly place: number;
	/** Diagnoses first: one never has the drug it led to in its past. */
	readonly rank: number;
}

interface ReadEvents {
	/** In order of time. */
	readonly events: readonly ReadEvent[];
	readonly lastDay: number | null;
	readonly unknown: AskedPatient["unknown"];
	readonly latest: AskedPatient["latest"];
}

const [firstYear, lastYear] = [1800, 2300];

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

/** Events with the tokens they stand for, in order, repetitions left out as the dataset's rule has it. */
export function readEvents(
	given: readonly EventRequest[],
	served: Served,
	axis: TimeAxis["axis"],
	field: string,
	before?: Latest,
): ReadEvents {
	const { manifest, vocabulary } = served;
	const read: ReadEvent[] = [];
	const unknown = new Map<string, number>();
	let lastDay: number | null = null;
	for (const [place, { code, system, date }] of given.entries()) {
		const day = dayOf(date, `${field}.${place}.date`);
		lastDay = Math.max(lastDay ?? day, day);
		const tokens = eventTokens(code.trim(), system, served);
		if (tokens.length === 0) unknown.set(code, (unknown.get(code) ?? 0) + 1);
		for (const token of tokens) {
			const rank = vocabulary.tokens[token]?.kind === "diagnosis" ? 0 : 1;
			read.push({ token, day, place, rank });
		}
	}
	read.sort((a, b) => a.day - b.day || a.rank - b.rank || a.place - b.place);
	return {
		...withoutRepetitions(read, periodsOf(manifest.filters.dedup, axis), before),
		lastDay,
		unknown: [...unknown].map(([code, records]) => ({ code, records })),
	};
}

/** The number of the time within which two records of one code are one; undefined where all count. */
function periodsOf(dedup: "none" | "day" | "month", axis: TimeAxis["axis"]) {
	if (dedup === "none") return undefined;
	if (dedup === "day") return Math.floor;
	if (axis === "days") return (day: number) => Math.floor(day / 30.4375);
	return (day: number) => {
		const date = new Date(day * 86_400_000);
		return 12 * date.getUTCFullYear() + date.getUTCMonth();
	};
}

/** Of events in order of time, the first of each code and period. */
function withoutRepetitions(
	events: readonly ReadEvent[],
	periodOf: ((day: number) => number) | undefined,
	before: Latest | undefined,
): Pick<ReadEvents, "events" | "latest"> {
	if (!periodOf) return { events, latest: undefined };
	let period = before?.period;
	let tokens = new Set(before?.tokens);
	const kept = events.filter(({ day, token }) => {
		const own = periodOf(day);
		if (own !== period) tokens = new Set();
		period = own;
		const isFirst = !tokens.has(token);
		tokens.add(token);
		return isFirst;
	});
	return { events: kept, latest: period === undefined ? undefined : { period, tokens } };
}

/** The history of a patient in a request: mapped, ordered and counted as the model's dataset was. */
export function askedPatient(request: PatientRequest, served: Served): AskedPatient {
	const { filters, timeUnit, source } = served.manifest;
	const field = "patient.events";
	const given = request.events.map(({ date }, i) => ({ date, field: `${field}.${i}.date` }));
	const { birth: bornAt = null, sex = null } = request;
	const born = bornAt === null ? [] : [{ date: bornAt, field: "patient.birth" }];
	const axis = { axis: axisOf([...given, ...born], source.axis), unitDays: timeUnit.days };
	const read = readEvents(request.events, served, axis.axis, field);
	const { events: all, lastDay, unknown, latest } = read;
	const most = filters.keep === "last" ? filters.maxRecords : null;
	const events = most === null ? all : all.slice(-most);
	const notes: string[] = [];
	let birth = bornAt === null ? null : dayOf(bornAt, "patient.birth");
	const firstDay = given.reduce(
		(least, { date, field }) => Math.min(least, dayOf(date, field)),
		Number.POSITIVE_INFINITY,
	);
	if (birth !== null && firstDay < birth) {
		notes.push("an event lies before the birth: birth taken as unknown");
		birth = null;
	}
	const unit = (day: number) => day / timeUnit.days;
	const id = "1";
	const history = historyOf(
		{ id, sex, birth: birth === null ? null : unit(birth) },
		{
			tokens: Int32Array.from(events, ({ token }) => token),
			times: Float64Array.from(events, ({ day }) => unit(day)),
		},
	);
	return {
		patient: {
			...{ id, sex, death: null, history },
			birth: birth === null ? null : unit(birth),
			lastRecord: lastDay === null ? null : unit(lastDay),
		},
		axis,
		places: [...(history.birthEvents ? [-1] : []), ...events.map(({ place }) => place)],
		unknown,
		latest,
		notes,
	};
}

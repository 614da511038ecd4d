import { InputError } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import {
	dayOfIsoDate,
	durationName,
	isoDate,
	monthDays,
	type TimeAxis,
	yearDays,
} from "../../base/time.js";
import type { Manifest, NewPatient, UnknownCodes } from "../../data/cohort/index.js";
import { roundUpTimeRange } from "../../data/cohort/privacy-rounding.js";
import { farthestDay } from "../../data/records/dates.js";
import { placeOf } from "../trajectories.js";

/** A time or a code that cannot be used. `problem` says why, without the time, the code, the patient or their dates. */
export class UnusableInputError extends InputError {
	constructor(
		message: string,
		readonly problem: string,
		option?: string,
	) {
		super(message, option === undefined ? {} : { field: option.replaceAll("`", "") });
	}
}

export class QuestionError extends InputError {
	constructor(
		override readonly cause: InputError,
		readonly path: string,
	) {
		super(cause.message, {
			...(cause.field !== undefined && { field: cause.field }),
			value: cause.value,
			cause,
		});
	}

	/** The message for those who must not see values of the question again. */
	get refusal(): string {
		return this.cause instanceof UnusableInputError
			? `${this.path} ${this.cause.problem}`
			: `${this.path}: ${this.message}`;
	}
}

export function inField<T>(path: string, work: () => T): T {
	try {
		return work();
	} catch (error) {
		throw error instanceof InputError ? new QuestionError(error, path) : error;
	}
}

/** A time as a user writes it; most mean another time for each patient. */
export interface Moment {
	readonly text: string;
	/** A date, a day on the source's own axis, an age, or the time since the last record (before it: below 0). */
	readonly kind: "date" | "day" | "age" | "since";
	/** From 1970-01-01, the axis' origin, birth, or the last record. */
	readonly days: number;
}

/** A time in a question: read already, or as users and requests write it. */
export type TimeInput = Moment | string | number;

/** A length of time in a question: `5y`, or a number of days. */
export type SpanInput = string | number;

/** A patient whose times a question names. */
export interface Timed {
	readonly patient: NewPatient;
	readonly axis: TimeAxis;
}

/** The day of the last record, which is where predictions start by default. */
export const lastRecord = "+0d";

/** Horizons of a risk, in years, where a question gives none. */
export const usualYears = [1, 5, 10] as const;
export const usualHorizons = usualYears.map((years) => `${years}y`);
/** The horizon of a trajectory, of attribution and of reasons, where a question gives none. */
export const usualHorizon = "5y";

const spanUnits: Readonly<Record<string, number>> = {
	min: 1 / 1440,
	h: 1 / 24,
	d: 1,
	w: 7,
	m: monthDays,
	y: yearDays,
};

/** The accepted forms, for help texts. */
export const momentForms =
	"a date (2015-06-01), a time after the last record (+12h, +30d, +6m, +2y) or before it (-2y), an age (age:65, age:18m), or a number of days from time 0 where records have no dates";

const amountAndUnit = "(\\d+(?:\\.\\d+)?)(min|[hdwmy])";
const span = new RegExp(`^${amountAndUnit}$`);
const signedSpan = new RegExp(`^([+-])${amountAndUnit}$`);

/** A length of time, in days: 12h, 10d, 2w, 6m, 1y. */
export function spanDays(text: string): number {
	const [, amount, unit] = span.exec(text.trim()) ?? [];
	const days = Number(amount) * (spanUnits[unit ?? ""] ?? Number.NaN);
	if (!(days > 0))
		throw new InputError("Expected a length of time: 30min, 12h, 10d, 2w, 6m or 1y.");
	return checkedSpan(days);
}

/** Longer than any life, and short enough that every date can be written. */
const longestYears = 1000;

function checkedSpan(days: number): number {
	if (days <= longestYears * yearDays) return days;
	throw new InputError(`Expected at most ${longestYears} years (${longestYears}y).`);
}

function checkedDay(day: number): number {
	if (Math.abs(day) <= farthestDay) return day;
	throw new InputError(`Expected a day from -${farthestDay} to ${farthestDay}.`);
}

export function momentOf(time: TimeInput): Moment {
	if (typeof time === "object") return time;
	const text = `${time}`.trim();
	const made = (kind: Moment["kind"], days: number): Moment => ({ text, kind, days });
	if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
		const day = dayOfIsoDate(text);
		if (day === undefined) throw new InputError("There is no such date.");
		return made("date", day);
	}
	const [, sign, amount, unit] = signedSpan.exec(text) ?? [];
	if (sign && unit)
		return made("since", (sign === "-" ? -1 : 1) * checkedSpan(Number(amount) * spanUnits[unit]));
	const [, age, ageUnit = "y"] = /^age:(\d+(?:\.\d+)?)(min|[hdwmy]?)$/.exec(text) ?? [];
	if (age) return made("age", checkedSpan(Number(age) * spanUnits[ageUnit || "y"]));
	if (/^-?\d+(\.\d+)?$/.test(text)) return made("day", checkedDay(Number(text)));
	throw new InputError(`Expected ${momentForms}.`);
}

/** Several, separated by commas or given one after the other. */
export const momentsOf = (given: string, before: readonly Moment[] = []): readonly Moment[] => [
	...before,
	...given.split(",").map(momentOf),
];

/** The day of a moment for a patient; rejects a moment that does not apply to the patient. */
function timeOf(
	{ text, kind, days }: Moment,
	patient: NewPatient,
	axis: TimeAxis,
	option: string,
): number {
	const refused = (what: string, but: string, butOf = but) =>
		new UnusableInputError(`${option} is ${text}, but ${butOf}`, `is ${what}, but ${but}`, option);
	if (kind === "date" && axis === "days")
		throw refused(
			"a date",
			"these records count days from an origin of their own; give a number of days, +6m or age:65",
		);
	if (kind === "day" && axis === "dates")
		throw refused(
			"a day",
			"these records have dates; give a date such as 2015-06-01, +6m or age:65",
		);
	if (kind === "age" && patient.birth === null) {
		const instead = `is not known; give ${axis === "dates" ? "a date" : "a day"}, or a time after the last record such as +6m`;
		throw refused(
			"an age",
			`the birth ${instead}`,
			`the birth of patient ${patient.id} ${instead}`,
		);
	}
	if (kind === "age") return (patient.birth as number) + days;
	if (kind === "since") return (patient.lastRecord as number) + days;
	return days;
}

/** The times of each patient, [patients][moments]; none before a birth. */
export function timesOf(
	moments: readonly Moment[],
	patients: readonly NewPatient[],
	axis: TimeAxis,
	option: string,
): number[][] {
	const times = patients.map((patient) =>
		moments.map((moment) => timeOf(moment, patient, axis, option)),
	);
	for (const [at, { text }] of moments.entries()) {
		const unborn = patients.filter(
			({ birth }, patient) => birth !== null && (times[patient]?.[at] as number) < birth,
		);
		const [first] = unborn;
		if (!first) continue;
		const others =
			unborn.length > 1
				? `, and of ${unborn.length - 1} others of ${patients.length} patients`
				: "";
		throw new UnusableInputError(
			`${option} ${text} lies before the birth of patient ${first.id} (${dayText(first.birth as number, axis)})${others}; choose a later time`,
			"lies before the birth; choose a later time",
			option,
		);
	}
	return times;
}

export const readTime = (time: TimeInput, { patient, axis }: Timed, field: string, path = field) =>
	inField(path, () => timesOf([momentOf(time)], [patient], axis, `\`${field}\``)[0]?.[0] as number);

export const readTimes = (times: readonly TimeInput[], patient: Timed, field: string) =>
	times.map((time, place) => readTime(time, patient, field, `${field}.${place}`));

export const readSpan = (span: SpanInput, field: string, path = field): number =>
	inField(path, () => {
		const days = typeof span === "number" ? span : spanDays(span);
		if (Number.isFinite(days) && days > 0) return days;
		throw new InputError(`\`${field}\` holds ${span}; expected a length of time such as 5y`, {
			field,
			value: span,
		});
	});

/** A length of time below two days: 12 hours, 90 minutes. */
function hoursText(days: number): string {
	const minutes = Math.round(days * 1440);
	if (minutes % 60 !== 0) return `${minutes} minute${minutes === 1 ? "" : "s"}`;
	return `${minutes / 60} hour${minutes === 60 ? "" : "s"}`;
}

/** A length of time in the largest unit that it is a multiple of: 5 years, 6 months, 183 days. */
export function spanText(days: number): string {
	const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`;
	const [years, months] = [days / yearDays, days / monthDays];
	const isWhole = (count: number) => count > 0.9 && Math.abs(count - Math.round(count)) < 0.005;
	if (isWhole(years)) return counted(Math.round(years), "year");
	if (isWhole(months)) return counted(Math.round(months), "month");
	if (days < 2 && !isWhole(days)) return hoursText(days);
	return counted(Number(days.toFixed(1)), "day");
}

/** A time as a date, or as a day on an axis without dates, where the first days tell minutes apart. */
export const dayText = (day: number, axis: TimeAxis): string =>
	axis === "days" ? `day ${Number(day.toFixed(Math.abs(day) < 100 ? 3 : 1))}` : isoDate(day);

/** Beyond it a date has no four-digit year. */
const farthestDateDay = 1e7;

/** A time for programs: date or day, and the age where it is known. */
export const momentJson = (day: number, birth: number | null, axis: TimeAxis) => ({
	...(axis === "dates" && Math.abs(day) < farthestDateDay && { date: isoDate(day) }),
	day,
	ageYears: birth === null ? null : (day - birth) / yearDays,
});

/** `p7: female, 84 events from 2003-01-10 to 2014-11-30 (age 57.7)`. */
export function patientText({ id, sex, birth, history }: NewPatient, axis: TimeAxis): string {
	const times = history.times.subarray(history.birthEvents);
	const [first, last] = [times[0], times.at(-1)] as [number, number];
	const parts: string[] = sex ? [sex] : [];
	if (times.length === 1) parts.push(`1 event, at ${dayText(last, axis)}`);
	else
		parts.push(
			`${thousands(times.length)} events from ${dayText(first, axis)} to ${dayText(last, axis)}`,
		);
	const age = birth !== null ? ` (age ${ageText(last, birth)})` : "";
	return `${id}: ${parts.join(", ")}${age}`;
}

export const ageText = (time: number, birth: number): string =>
	((time - birth) / yearDays).toFixed(1);

export interface GridOptions {
	readonly from?: TimeInput | undefined;
	readonly to?: TimeInput | undefined;
	readonly step?: SpanInput | undefined;
}

/** Steps that people think in, in days. */
const usualSteps = [1, 7, 14, monthDays, yearDays / 4, yearDays / 2, yearDays];
/** As many times as a drawing can show. */
const enough = 250;
const mostTimes = 20_000;

/** Equal steps, by default from the first event to the last record, which is the last time then. */
export function timeGrid(timed: Timed, options: GridOptions): Float64Array {
	const { times, birthEvents } = timed.patient.history;
	const first = times[birthEvents];
	const from = options.from === undefined ? first : readTime(options.from, timed, "from");
	const to = readTime(options.to ?? lastRecord, timed, "to");
	if (from > to) {
		const written = (time: TimeInput | undefined, usual: string) =>
			time === undefined ? usual : momentOf(time).text;
		const unusable = new UnusableInputError(
			`\`from\` ${written(options.from, "(the first event)")} lies after \`to\` ${written(options.to, "(the last record)")}; exchange them, or leave one out`,
			"lies after to; exchange them, or leave one out",
			"from",
		);
		throw new QuestionError(unusable, "from");
	}
	const step = options.step === undefined ? usualStep(to - from) : readSpan(options.step, "step");
	const count = 1 + Math.floor((to - from) / step + 1e-9);
	if (count > mostTimes) {
		const problem = `makes ${thousands(count)} times; expected at most ${thousands(mostTimes)}: choose a longer one, or a shorter time`;
		const unusable = new UnusableInputError(`\`step\` ${problem}`, problem, "step");
		throw new QuestionError(unusable, "step");
	}
	const grid = Array.from({ length: count }, (_, at) => from + at * step);
	if (options.to === undefined && (grid.at(-1) as number) < to) grid.push(to);
	return Float64Array.from(grid);
}

function usualStep(days: number): number {
	return usualSteps.find((step) => days / step <= enough) ?? days / enough;
}

interface Query {
	readonly patient: NewPatient;
	readonly time: number;
}

const count = (number: number, one: string, many: string) =>
	`${thousands(number)} ${number === 1 ? one : many}`;

/** Why a prediction before the first record may be unreliable. */
export const nothingRecorded = "no record is known then, at most age and sex";

/** Why predictions may be unreliable. Patients are named by their id alone. */
export function warningsFor(
	{ unknown }: { readonly unknown: Pick<UnknownCodes, "codes" | "records"> },
	queries: readonly Query[],
	manifest: Manifest,
	beforeFirst = "predicted from the start of a history alone, evolved backwards; nothing in training resembles that",
): string[] {
	const reach = manifest.reach && roundUpTimeRange(manifest.reach);
	const warnings: string[] = [];
	const warnOfQueries = (isMeant: (query: Query) => boolean, where: string, why = "") => {
		const [first, ...others] = queries.filter(isMeant);
		const times = count(1 + others.length, "query time is", "query times are");
		if (first) warnings.push(`${times} ${where} (${first.patient.id} first)${why}`);
	};
	const farthest = largest(
		queries,
		({ patient, time }) => time - (patient.history.times.at(-1) as number),
	);
	const oldest = largest(queries, ({ patient, time }) =>
		patient.birth === null ? 0 : time - patient.birth,
	);
	if (unknown.records > 0)
		warnings.push(
			`${count(unknown.records, "record", "records")} of ${count(unknown.codes, "code", "codes")} that the model does not know: skipped; --json names them`,
		);
	warnOfQueries(
		({ patient, time }) => placeOf(patient.history, time) === "before",
		"before the first event",
		`: ${beforeFirst}`,
	);
	warnOfQueries(
		({ patient, time }) => isBeforeRecords(patient.history, time),
		"before the first record",
		`: ${nothingRecorded}`,
	);
	if (reach && farthest.value > reach.longestDays)
		warnings.push(
			`the latest query time is ${durationName(farthest.value)} after the last event (${farthest.id}), longer than any history the model was trained on; the longest spans ${durationName(reach.longestDays)}`,
		);
	if (reach && reach.oldestDays !== null && oldest.value > reach.oldestDays)
		warnings.push(
			`the latest query time is at the age of ${durationName(oldest.value)} (${oldest.id}); the oldest patient in training was ${durationName(reach.oldestDays)}`,
		);
	warnOfQueries(
		({ patient, time }) => patient.death !== null && time > patient.death,
		"after the patient's death",
	);
	return warnings;
}

/** The largest value of queries, the first of equals, and whose it is. */
function largest(queries: readonly Query[], amountOf: (query: Query) => number) {
	let most = { id: "", value: Number.NEGATIVE_INFINITY };
	for (const query of queries) {
		const value = amountOf(query);
		if (value > most.value) most = { id: query.patient.id, value };
	}
	return most;
}

/** Whether a time lies after a known birth, which is the first event, and before the day of the first record. */
function isBeforeRecords(history: NewPatient["history"], time: number): boolean {
	const { times, birthEvents } = history;
	const first = times[birthEvents];
	if (birthEvents === 0 || first === undefined) return false;
	return placeOf(history, time) !== "before" && Math.floor(time) < Math.floor(first);
}

/** Warns if an edit adds what the risk does not see, or makes a history longer than all that the model was trained on. */
export function editWarnings(
	/** Of its events, in order, without birth. */
	times: readonly number[],
	{ reach }: Pick<Manifest, "reach">,
	/** Events that are added after the index day. */
	addedLate = 0,
): string[] {
	const warnings: string[] = [];
	if (addedLate > 0)
		warnings.push(
			`${count(addedLate, "event is", "events are")} added after the index day: the risk from that day does not change by it; give an earlier time to --add, or a later --at`,
		);
	const days = (times.at(-1) ?? 0) - (times[0] ?? 0);
	const longest = reach ? roundUpTimeRange(reach).longestDays : longestLifeDays;
	if (days > longest)
		warnings.push(
			`the edited history spans ${durationName(days)}, longer than any the model was trained on; the longest spans ${durationName(longest)}: check the times of --add and --move`,
		);
	return warnings;
}

/** Where a dataset does not say how far its histories reach. */
const longestLifeDays = 120 * yearDays;

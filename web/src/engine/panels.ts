import { rankOf as codesBefore } from "../../../src/evaluate/next/scores.js";
import { highestCodes } from "../../../src/predict/likeliest.js";
import { type Surge, surgesOf } from "../../../src/predict/surges.js";
import type { History, Patient, PatientEvent } from "../data/patient.js";
import { endOfDay } from "./index-day.js";
import type { PredictionSet } from "./session.js";

/** Query times of a curve: at most so many along the observed span, and so many beyond the date. */
const [inside, ahead] = [36, 8];
/** For a date early in the span, the step is halved at most so often. */
const mostHalvings = 5;
/** At most so many query times between the end of the span and a date after it. */
const mostBetween = 4;
/** At most so many times of later events. */
const mostLater = 48;
export const topCount = 10;

/** All query times of one patient and date. */
export interface Queries {
	readonly date: number;
	/** The end of that day: what is recorded before it is known. */
	readonly until: number;
	/** Of the curves, not decreasing: up to the end of the day, that end itself, and beyond it. */
	readonly curve: readonly number[];
	/** Events after the date that predictions are compared with. */
	readonly later: readonly PatientEvent[];
	/** Whether further events within the horizon were left out. */
	readonly moreLater: boolean;
	/** Without duplicates: of the curve and of the later events. */
	readonly times: readonly number[];
}

/**
 * Query times of a curve along a span up to a date. They are evenly spaced, but snap to recorded events
 * nearby, whose predictions the model computes on its way. They follow the original history, so that
 * edits do not shift them, and the step changes by factors of two, so that a moving date rarely does.
 * A few more lead to a date that lies more than a step after the span.
 */
export function curveTimes(
	recorded: readonly PatientEvent[],
	[first, last]: readonly [first: number, last: number],
	date: number,
): number[] {
	const whole = last - first;
	if (!(whole > 0 && date > first)) return [];
	const halvings = Math.floor(Math.log2(whole / Math.min(whole, date - first)));
	const step = whole / (inside - 1) / 2 ** Math.min(halvings, mostHalvings);
	let next = 0;
	const along = Array.from({ length: inside }, (_, at) => {
		const time = first + at * step;
		while ((recorded[next]?.time ?? Number.POSITIVE_INFINITY) < time) next++;
		const around = [recorded[next - 1], recorded[next]].flatMap((event) => event?.time ?? []);
		const near = around.filter((own) => Math.abs(own - time) < step / 2);
		return near.sort((a, b) => Math.abs(a - time) - Math.abs(b - time))[0] ?? time;
	}).filter((time) => time < date);
	if (!(date - last > step)) return along;
	const end = along.at(-1) as number;
	const between = Math.min(mostBetween, Math.ceil((date - end) / step) - 1);
	const apart = (date - end) / (between + 1);
	return [...along, ...Array.from({ length: between }, (_, at) => end + (at + 1) * apart)];
}

/** `along` holds the times of `curveTimes`: before the end of the day, not decreasing. */
export function queriesFor(
	events: readonly PatientEvent[],
	along: readonly number[],
	date: number,
	horizon: number,
): Queries {
	const until = endOfDay(date);
	const beyond = Array.from({ length: ahead }, (_, at) => until + ((at + 1) * horizon) / ahead);
	const curve = [...along, until, ...beyond];
	const after = events.filter(({ time }) => time >= until && time <= until + horizon);
	const laterTimes = [...new Set(after.map(({ time }) => time))].slice(0, mostLater);
	const end = laterTimes.at(-1) ?? Number.NEGATIVE_INFINITY;
	const later = after.filter(({ time }) => time <= end);
	return {
		...{ date, until },
		curve,
		later,
		moreLater: later.length < after.length,
		times: [...new Set([...curve, ...laterTimes])],
	};
}

export interface LaterEvent {
	readonly event: PatientEvent;
	/** 1 is the most likely. */
	readonly rank: number;
	readonly probability: number;
	/** Among the `topCount` most likely codes at its time. */
	readonly hit: boolean;
}

export interface Curve {
	readonly token: number;
	readonly times: readonly number[];
	readonly probability: readonly number[];
	readonly surges: readonly Surge[];
}

/** 1 for the most likely code. */
export const rankOf = (row: Float32Array, token: number): number => 1 + codesBefore(row, token);

/** What the panels show, derived from one set of predictions. */
export interface Panels {
	readonly queries: Queries;
	/** Log-probability of every token at the end of the day. */
	readonly atDate: Float32Array;
	readonly top: readonly { readonly token: number; readonly probability: number }[];
	readonly later: readonly LaterEvent[];
	curve(token: number): Curve;
}

export function panelsOf(queries: Queries, predictions: PredictionSet, known: History): Panels {
	const { until, curve, later } = queries;
	const atDate = predictions.row(until);
	return {
		queries,
		atDate,
		top: Array.from(highestCodes(atDate, topCount), (token) => ({
			token,
			probability: Math.exp(atDate[token] as number),
		})),
		later: later.map((event) => {
			const row = predictions.row(event.time);
			const rank = rankOf(row, event.token);
			return {
				event,
				rank,
				probability: Math.exp(row[event.token] as number),
				hit: rank <= topCount,
			};
		}),
		curve: (token) => {
			const probability = curve.map((time) => Math.exp(predictions.row(time)[token] as number));
			const growth = probability.map((value, at) =>
				at === 0 ? 0 : value - (probability[at - 1] as number),
			);
			const end = known.times.filter((time) => time < until).length;
			const seen = { tokens: known.tokens.slice(0, end), times: known.times.slice(0, end) };
			return {
				token,
				times: curve,
				probability,
				surges: surgesOf(seen, curve, probability, growth),
			};
		},
	};
}

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

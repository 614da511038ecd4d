import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { addExpectedRecords, companionChances, rates } from "./hazards.js";
import { isCovered, type OracleHistory, type Person, personOf } from "./person.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { blockOf, positionOf, size } from "./tables.js";

/** Follows a person record by record. */
export function follow(person: Person) {
	/** The states before the current visit, after it, and on a later day. */
	let before = new State();
	let after = new State();
	const ahead = new State();
	before.begin(person);
	const visit = new Int32Array(size);
	let length = 0;
	let visitDay = Number.NEGATIVE_INFINITY;
	/** The number of codes of the visit that `after` includes. */
	let recordedLength = -1;
	const chances = new Float64Array(size);

	const afterVisit = (): State => {
		if (recordedLength !== length) {
			after.copy(before);
			if (length > 0) after.record(visitDay, visit, length);
			recordedLength = length;
		}
		return after;
	};
	const stateOn = (day: number): State => {
		const state = afterVisit();
		if (blockOf(day) <= state.block) return state;
		ahead.copy(state);
		ahead.enter(day);
		return ahead;
	};
	const check = (day: number) => {
		if (day < visitDay)
			throw new InputError(
				`days must not decrease: ${visitDay} → ${day}; give the records in order of time`,
			);
	};

	return {
		/** P(the next record is this code | the records so far, and that it is on `day`), assuming coverage. */
		next(day: number): Float64Array {
			check(day);
			const p = new Float64Array(size);
			if (day === visitDay) {
				companionChances(before, day, visit[0], chances);
				nextCompanion(chances, visit, length, p);
				return p;
			}
			const total = rates(stateOn(day), day, p);
			for (let at = 0; at < size; at++) p[at] /= total;
			return p;
		},
		/** Visits per day on `day`, by reason, if there is none before; 0 without coverage or after a visit that day. */
		intensity(day: number): Float64Array {
			check(day);
			const out = new Float64Array(size);
			if (day !== visitDay && isCovered(person, day)) rates(stateOn(day), day, out);
			return out;
		},
		observe(day: number, code: string): void {
			check(day);
			const at = positionOf(code);
			if (day !== visitDay) {
				afterVisit();
				[before, after] = [after, before];
				before.enter(day);
				visitDay = day;
				length = 0;
			}
			if (!visit.subarray(0, length).includes(at)) visit[length++] = at;
			recordedLength = -1;
		},
		/** The state after all observed records. */
		state: afterVisit,
		/** The state before the last visit, and the visit so far: positions in the catalogue. */
		lastVisit: () => ({ before, visitDay, visit: visit.subarray(0, length) }),
	};
}

export type Follower = ReturnType<typeof follow>;

/** Follows a whole history. */
export function followed({ birth, sex, coverage, events }: OracleHistory): Follower {
	const follower = follow(personOf(birth, sex, coverage));
	for (const { day, code } of events) follower.observe(day, code);
	return follower;
}

/**
 * The next companion on the day of a visit, given that there is one: the first after the last listed code whose
 * draw succeeds.
 */
function nextCompanion(
	chances: Float64Array,
	visit: Int32Array,
	length: number,
	out: Float64Array,
): void {
	let none = 1;
	const start = length > 1 ? visit[length - 1] + 1 : 0;
	for (let at = start; at < size; at++) {
		const chance = at === visit[0] ? 0 : chances[at];
		out[at] = none * chance;
		none *= 1 - chance;
	}
	const any = 1 - none;
	if (any > 0) for (let at = start; at < size; at++) out[at] /= any;
	else {
		// The model has no further companion at this visit: all codes not yet listed are equally likely.
		out.fill(1 / (size - length));
		for (let i = 0; i < length; i++) out[visit[i]] = 0;
	}
}

export interface AheadOptions {
	/** Sampled futures that reach the last day; at most eight times as many are tried. */
	readonly samples?: number;
	readonly seed?: number;
}

/**
 * P(a record on each of `days` is this code | the records so far, and that there is a record on that day), [days,
 * codes]. The days must not decrease, nor lie before the last record, whose visit may be incomplete.
 *
 * It is E N_c / Σ E N, where N_c counts records of a code on the day, reasons and companions alike. The
 * expectation is over sampled lives from the last record to the day, and exact over the visit on the day.
 * Visits on the days between are unknown. On the day of the last record only further companions are possible.
 */
export function recordsAhead(
	history: OracleHistory,
	days: ArrayLike<number>,
	{ samples = 64, seed = 0 }: AheadOptions = {},
): Float64Array {
	const { before, visit, visitDay } = followed(history).lastVisit();
	const day = visit.length > 0 ? visitDay : before.person.coverage[0][0] - 1;
	/** The probabilities of further companions of the last visit. */
	const left = new Float64Array(size);
	if (visit.length > 0) {
		companionChances(before, day, visit[0], left);
		left.fill(0, 0, visit.length > 1 ? visit.at(-1)! + 1 : 0); // companions are listed in order
		left[visit[0]] = 0;
	}
	const sampledDays = sampledDaysOf(days, day);
	const byDay = new Map(sampledDays.map((one) => [one, new Float64Array(size)]));
	byDay.get(day)?.set(left);
	const later = [...byDay.keys()].filter((one) => one > day);
	if (later.length > 0) {
		const streams = random(seed).fork("ahead");
		const [state, whole] = [new State(), new Int32Array(size)];
		let alive = 0;
		for (let sample = 0; alive < samples && sample < 8 * samples; sample++) {
			const stream = streams.fork(sample);
			state.copy(before);
			let length = visit.length;
			whole.set(visit);
			for (let at = 0; at < size; at++)
				if (left[at] > 0 && stream.uniform() < left[at]) whole[length++] = at;
			if (length > 0) state.record(day, whole, length);
			let now = day + 1;
			// Clocks depend on the state only, so a life can be simulated in steps.
			const reached = later.every((until) => {
				if (simulateLife(state, stream, now, until, () => undefined) !== null) return false;
				state.enter(until);
				addExpectedRecords(state, until, byDay.get(until)!);
				now = until;
				return true;
			});
			if (reached) alive++;
		}
	}
	const out = new Float64Array(days.length * size);
	for (let i = 0; i < days.length; i++) {
		const expected = byDay.get(sampledDays[i])!;
		const total = expected.reduce((a, b) => a + b, 0);
		// Nobody lived so long, or there is no further companion: all codes are equally likely.
		for (let at = 0; at < size; at++)
			out[i * size + at] = total > 0 ? expected[at] / total : 1 / size;
	}
	return out;
}

/** Days closer together than this share of their distance from the last record share one sample. */
const sharedDays = 0.05;

/** For each day, the day up to which lives are sampled. */
function sampledDaysOf(days: ArrayLike<number>, known: number): number[] {
	const sampled: number[] = [];
	for (let i = 0; i < days.length; i++) {
		const [day, last] = [days[i], i === 0 ? known : days[i - 1]];
		if (!(day >= last))
			throw new InputError(
				`days must not decrease, nor lie before the last record: ${last} → ${day}`,
			);
		const before = sampled.at(-1);
		const shared = before !== undefined && day - before <= sharedDays * (day - known);
		sampled.push(shared && before > known ? before : day);
	}
	return sampled;
}

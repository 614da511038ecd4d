import { InputError } from "../../base/errors.js";
import { companionChances, rates } from "./hazards.js";
import type { OracleHistory } from "./oracle.js";
import type { Person } from "./person.js";
import { isCovered, personOf } from "./person.js";
import { State } from "./state.js";
import { positionOf, size } from "./tables.js";
import { blockOf } from "./time.js";

/** Follows a person record by record. */
export interface Follower {
	/** P(the next record is this code | the records so far, and that it is on `day`), assuming coverage. */
	next(day: number): Float64Array;
	/** Visits per day on `day`, by reason, if there is none before; 0 without coverage or after a visit that day. */
	intensity(day: number): Float64Array;
	observe(day: number, code: string): void;
	/** The state after all observed records. */
	state(): State;
}

export function follow(person: Person): Follower {
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
		next: (day) => {
			check(day);
			const p = new Float64Array(size);
			if (day === visitDay) {
				companionChances(before, day, visit[0]!, chances);
				nextCompanion(chances, visit, length, p);
				return p;
			}
			const total = rates(stateOn(day), day, p);
			for (let at = 0; at < size; at++) p[at]! /= total;
			return p;
		},
		intensity: (day) => {
			check(day);
			const out = new Float64Array(size);
			if (day !== visitDay && isCovered(person, day)) rates(stateOn(day), day, out);
			return out;
		},
		observe: (day, code) => {
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
		state: afterVisit,
	};
}

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
	const start = length > 1 ? visit[length - 1]! + 1 : 0;
	for (let at = start; at < size; at++) {
		const chance = at === visit[0] ? 0 : chances[at]!;
		out[at] = none * chance;
		none *= 1 - chance;
	}
	const any = 1 - none;
	if (any > 0) for (let at = start; at < size; at++) out[at]! /= any;
	else {
		// The model has no further companion at this visit: all codes not yet listed are equally likely.
		out.fill(1 / (size - length));
		for (let i = 0; i < length; i++) out[visit[i]!] = 0;
	}
}

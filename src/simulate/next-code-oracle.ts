import { InputError } from "../base/errors.js";
import { companionChances, rates } from "./hazards.js";
import type { Person } from "./person.js";
import { isCovered } from "./person.js";
import { State } from "./state.js";
import { positionOf, size } from "./tables.js";
import { blockOf } from "./time.js";

/** A person followed record by record. */
export interface Follower {
	/** P(the next record is this code | the records so far, and that it is on `day`), as if covered. */
	next(day: number): Float64Array;
	/** Visits per day on `day`, by reason, if none comes before; 0 where not covered or one has been. */
	intensity(day: number): Float64Array;
	observe(day: number, code: string): void;
	/** The state once all that was observed is taken in. */
	state(): State;
}

export function follow(person: Person): Follower {
	/** Before the visit under way, after it, and further ahead. */
	let before = new State();
	let after = new State();
	const ahead = new State();
	before.begin(person);
	const visit = new Int32Array(size);
	let length = 0;
	let visitDay = Number.NEGATIVE_INFINITY;
	/** How much of the visit `after` has taken in. */
	let taken = -1;
	const chances = new Float64Array(size);

	const afterVisit = (): State => {
		if (taken !== length) {
			after.copy(before);
			if (length > 0) after.record(visitDay, visit, length);
			taken = length;
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
			taken = -1;
		},
		state: afterVisit,
	};
}

/**
 * The next companion on the day of a visit, given that there is one: the first of those after the
 * last listed whose draw succeeds.
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
		// The law lists nothing more at this visit: whatever is not listed is as good as anything.
		out.fill(1 / (size - length));
		for (let i = 0; i < length; i++) out[visit[i]!] = 0;
	}
}

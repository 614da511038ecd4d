import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { companionChances } from "./hazards.js";
import type { Person } from "./person.js";
import { simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import { size } from "./tables.js";
import { addExpectedRecords } from "./visit-records.js";

/** A history that ends anywhere: its last visit may be incomplete. */
interface OpenHistory {
	readonly person: Person;
	/** By time; positions in the catalogue. */
	readonly records: readonly { readonly day: number; readonly at: number }[];
}

export interface AheadOptions {
	/** Sampled futures that reach the last day; at most eight times as many are tried. */
	readonly samples?: number;
	readonly seed?: number;
}

/**
 * P(a record on each of `days` is this code | the records so far, and that there is a record on that day), [days,
 * codes]. The days must not decrease, nor lie before the last record.
 *
 * It is E N_c / Σ E N, where N_c counts records of a code on the day, reasons and companions alike. The
 * expectation is over sampled lives from the last record to the day, and exact over the visit on the day.
 * Visits on the days between are unknown. On the day of the last record only further companions are possible.
 */
export function recordsAhead(
	{ person, records }: OpenHistory,
	days: ArrayLike<number>,
	{ samples = 64, seed = 0 }: AheadOptions = {},
): Float64Array {
	const { before, visit, day, left } = stateBeforeLastVisit(person, records);
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
				if (left[at]! > 0 && stream.uniform() < left[at]!) whole[length++] = at;
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
		const expected = byDay.get(sampledDays[i]!)!;
		const total = expected.reduce((a, b) => a + b, 0);
		// Nobody lived so long, or there is no further companion: all codes are equally likely.
		for (let at = 0; at < size; at++)
			out[i * size + at] = total > 0 ? expected[at]! / total : 1 / size;
	}
	return out;
}

/** The state before the last visit, the visit so far, and the probabilities of further companions. */
function stateBeforeLastVisit(person: Person, records: OpenHistory["records"]) {
	const before = new State();
	before.begin(person);
	let visit: number[] = [];
	let day = person.coverage[0]![0] - 1;
	for (const record of records) {
		if (record.day !== day) {
			if (visit.length > 0) before.record(day, visit, visit.length);
			visit = [];
			day = record.day;
			before.enter(day);
		}
		if (!visit.includes(record.at)) visit.push(record.at);
	}
	const left = new Float64Array(size);
	if (visit.length > 0) {
		companionChances(before, day, visit[0]!, left);
		left.fill(0, 0, visit.length > 1 ? visit.at(-1)! + 1 : 0); // companions are listed in order
		left[visit[0]!] = 0;
	}
	return { before, visit, day, left };
}

/** Days closer together than this share of their distance from the last record share one sample. */
const sharedDays = 0.05;

/** For each day, the day up to which lives are sampled. */
function sampledDaysOf(days: ArrayLike<number>, known: number): number[] {
	const sampled: number[] = [];
	for (let i = 0; i < days.length; i++) {
		const [day, last] = [days[i]!, i === 0 ? known : days[i - 1]!];
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

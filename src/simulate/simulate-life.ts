import type { Random } from "../base/random.js";
import { companionChances, deathRate } from "./hazards.js";
import { drawRecurrence } from "./recurrence.js";
import type { State } from "./state.js";
import * as tables from "./tables.js";
import { blockDays } from "./time.js";

/** Local copies are faster in the inner loops. */
const { categoryOf, isChronic, size } = tables;

/** Called at each visit, before the state records it: positions in the catalogue, reason first. */
export type OnVisit = (day: number, visit: Int32Array, length: number) => void;

/**
 * Simulates the days [from, until) of a person in this state, and returns the day of death, if any.
 *
 * Every recorded condition has a clock drawn from its recurrence distribution; all onsets share one clock, and
 * death has one. Hazards are constant within a day, so the first clock of a day is that of x with probability
 * λ_x / Λ. A day has one visit: clocks that would ring later on that day are drawn again from the next day.
 */
export function simulateLife(
	state: State,
	stream: Random,
	from: number,
	until: number,
	onVisit: OnVisit,
): number | null {
	const due = new Float64Array(size);
	const visit = new Int32Array(size);
	const chances = new Float64Array(size);
	const exponential = () => -Math.log(1 - stream.uniform());
	const setClock = (at: number, day: number) => {
		const last = state.last[at]!;
		due[at] = last + drawRecurrence(at, day - 1 - last, state.chance[at]!, exponential());
	};
	const deathAfter = (day: number) =>
		day + exponential() / deathRate(state.ageAt(state.block * blockDays), state.mortality);

	let now = from;
	/** Steps through days without coverage, in which only death can occur. */
	const wait = (end: number): number | null => {
		while (now < end) {
			state.enter(now);
			const next = Math.min(end, (state.block + 1) * blockDays);
			const death = deathAfter(now);
			if (death < next) return Math.floor(death);
			now = next;
		}
		return null;
	};

	for (const [start, end] of state.person.coverage) {
		if (end < now || start >= until) continue;
		const died = wait(start);
		if (died !== null) return died;
		const stop = Math.min(end + 1, until);
		for (let i = 0; i < state.recordedCount; i++) setClock(state.recorded[i]!, now);
		while (now < stop) {
			state.enter(now);
			const next = Math.min(stop, (state.block + 1) * blockDays);
			const death = deathAfter(now);
			const total = state.totalOnset();
			let first = now + exponential() / total;
			let reason = -1;
			for (let i = 0; i < state.recordedCount; i++) {
				const at = state.recorded[i]!;
				if (due[at]! < first) {
					first = due[at]!;
					reason = at;
				}
			}
			if (Math.min(first, death) >= next) {
				now = next;
				continue;
			}
			const day = Math.floor(Math.min(first, death));
			if (death < first) return day;
			visit[0] = reason < 0 ? drawOnset(state, stream.uniform() * total) : reason;
			companionChances(state, day, visit[0]!, chances);
			const length = drawCompanions(chances, visit, stream);
			onVisit(day, visit, length);
			state.record(day, visit, length);
			if (death < day + 1) return day;
			now = day + 1;
			for (let i = 0; i < state.recordedCount; i++) {
				const at = state.recorded[i]!;
				if (state.last[at] === day || due[at]! < now) setClock(at, now);
			}
		}
	}
	return null;
}

function drawOnset(state: State, mark: number): number {
	let left = mark;
	let chosen = 0;
	for (let at = 0; at < size; at++) {
		const rate = isChronic[at]
			? state.onset[at]!
			: state.onset[at]! * state.frailty(categoryOf[at]!);
		if (rate === 0) continue;
		chosen = at;
		left -= rate;
		if (left < 0) break;
	}
	return chosen;
}

/** Adds the companions to the visit and returns its length. */
function drawCompanions(chances: Float64Array, visit: Int32Array, stream: Random): number {
	let length = 1;
	for (let at = 0; at < size; at++) {
		const chance = chances[at]!;
		if (chance > 0 && stream.uniform() < chance) visit[length++] = at;
	}
	return length;
}

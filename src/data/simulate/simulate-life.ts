import type { Random } from "../../base/random.js";
import { companionChances, deathRate } from "./hazards.js";
import { drawRecurrence } from "./recurrence.js";
import type { State } from "./state.js";
import * as tables from "./tables.js";

/** Local copies are faster in the inner loops. */
const { blockDays, categoryOf, isChronic, size } = tables;

/**
 * Called at each visit, before the state records it: positions in the catalogue, reason first. `isOnset` says
 * whether the clock of onsets and new episodes rang, or that of a recorded condition.
 */
export type OnVisit = (day: number, visit: Int32Array, length: number, isOnset: boolean) => void;

/** Called for each span of time, with fractions of days, at risk of a visit: onset rates are constant in it. */
export type OnSpan = (from: number, to: number) => void;

/** The memory of a simulation, for reuse by the next one. */
export class LifeBuffers {
	/** The times at which the clocks of recorded conditions ring. */
	readonly due = new Float64Array(size);
	readonly visit = new Int32Array(size);
	readonly chances = new Float64Array(size);
}

/** The hazard of death per day, in this block and since the last visit. */
export function deathRateOf(state: State): number {
	return deathRate(state.ageAt(state.block * blockDays), state.mortality);
}

const drawExponential = (stream: Random) => -Math.log(1 - stream.uniform());

interface LifeOptions {
	/**
	 * Whether the person cannot die. Death does not change the hazards of visits before it, so weighting by the
	 * probability of being alive gives the expectations of lives that end.
	 */
	readonly isImmortal?: boolean;
	readonly onSpan?: OnSpan;
	readonly buffers?: LifeBuffers;
}

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
	{ isImmortal = false, onSpan = () => {}, buffers = new LifeBuffers() }: LifeOptions = {},
): number | null {
	const { due, visit, chances } = buffers;
	const deathAfter = (day: number) =>
		isImmortal ? Number.POSITIVE_INFINITY : day + drawExponential(stream) / deathRateOf(state);
	/** The clock of a recorded condition that rings first. */
	let earliest = Number.POSITIVE_INFINITY;
	let earliestAt = -1;
	const setClocks = (day: number, isSet: (at: number) => boolean) => {
		earliest = Number.POSITIVE_INFINITY;
		for (let i = 0; i < state.recordedCount; i++) {
			const at = state.recorded[i];
			if (!isSet(at)) {
				const last = state.last[at];
				due[at] =
					last + drawRecurrence(at, day - 1 - last, state.chance[at], drawExponential(stream));
			}
			if (due[at] < earliest) {
				earliest = due[at];
				earliestAt = at;
			}
		}
	};

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
		setClocks(now, () => false);
		while (now < stop) {
			state.enter(now);
			const next = Math.min(stop, (state.block + 1) * blockDays);
			const death = deathAfter(now);
			const total = state.totalOnset();
			const onset = now + drawExponential(stream) / total;
			const isOnset = onset <= earliest;
			const first = isOnset ? onset : earliest;
			onSpan(now, Math.min(first, death, next));
			if (Math.min(first, death) >= next) {
				now = next;
				continue;
			}
			const day = Math.floor(Math.min(first, death));
			if (death < first) return day;
			visit[0] = isOnset ? drawOnset(state, stream.uniform() * total) : earliestAt;
			companionChances(state, day, visit[0], chances);
			const length = drawCompanions(chances, visit, stream);
			onVisit(day, visit, length, isOnset);
			state.record(day, visit, length);
			if (death < day + 1) return day;
			now = day + 1;
			setClocks(now, (at) => state.last[at] !== day && due[at] >= now);
		}
	}
	return null;
}

function drawOnset(state: State, mark: number): number {
	let left = mark;
	let chosen = 0;
	for (let at = 0; at < size; at++) {
		const rate = isChronic[at] ? state.onset[at] : state.onset[at] * state.frailty(categoryOf[at]);
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
		const chance = chances[at];
		if (chance > 0 && stream.uniform() < chance) visit[length++] = at;
	}
	return length;
}

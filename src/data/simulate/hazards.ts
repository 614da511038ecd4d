import { yearDays } from "../../base/time.js";
import { recurrenceHazard, survival } from "./recurrence.js";
import type { State } from "./state.js";
import * as tables from "./tables.js";

/** Local copies are faster in the inner loops. */
const { carryAlongChance, categoryOf, companionsOf, establishedAt, isChronic, size } = tables;

/** The version of the simulator's model; files record the version they were drawn from. */
export const lawVersion = 1;

/**
 * Visit rate per day for each condition on `day`, assuming coverage; returns their sum Λ. The state must have
 * entered the day. The day has a visit with probability 1 − exp(−Λ), for reason x with probability λ_x / Λ.
 */
export function rates(state: State, day: number, out: Float64Array): number {
	const { onset, count, last, chance } = state;
	let total = 0;
	for (let at = 0; at < size; at++) {
		let rate = onset[at];
		if (!isChronic[at]) rate *= state.frailty(categoryOf[at]);
		if (count[at] > 0) rate += recurrenceHazard(at, day - last[at], chance[at]);
		out[at] = rate;
		total += rate;
	}
	return total;
}

/** The share of due conditions that a visit also codes: all at a chronic visit, half at an acute one. */
const bundledBy = Float64Array.from(isChronic, (chronic) => (chronic ? 1 : 0.5));
/** A condition that was just recorded is coded again with this share of its full probability. */
const notDueShare = 0.06;
/** Conditions that are due soon are also coded: gaps count as longer by this factor. */
const dueEarlyFactor = 1.6;

/**
 * For a visit on `day` for `reason`: the probability that each other condition is coded too. Draws are
 * independent, and companions are listed in the order of the catalogue.
 */
export function companionChances(
	state: State,
	day: number,
	reason: number,
	out: Float64Array,
): void {
	out.fill(0);
	const { possible } = state.rateTables;
	const { to, value } = companionsOf[reason];
	for (let i = 0; i < to.length; i++) out[to[i]] = possible[to[i]] ? value[i] : 0;
	for (let i = 0; i < state.recordedCount; i++) {
		const at = state.recorded[i];
		if (at === reason) continue;
		const chance = bundledBy[reason] * dueChance(state, day, at);
		out[at] = 1 - (1 - out[at]) * (1 - chance);
	}
}

/** The probability that a recorded condition is due and is coded at a chronic visit. */
function dueChance(state: State, day: number, at: number): number {
	if (!isChronic[at] || state.count[at] < establishedAt[at]) return 0;
	const gap = Math.max(0, day - state.last[at]);
	const away = survival(at, gap);
	const p = state.chance[at];
	const stays = (p * away) / (1 - p + p * away);
	const due = 1 - survival(at, Math.floor(dueEarlyFactor * gap));
	return carryAlongChance[at] * stays * (notDueShare + (1 - notDueShare) * due);
}

const greatestMortality = 40;

/** Hazard of death per day: Gompertz in age, times the factor of established conditions. */
export function deathRate(age: number, mortality: number): number {
	return (Math.min(mortality, greatestMortality) * 1.6e-5 * Math.exp(0.092 * age)) / yearDays;
}

const reasons = new Float64Array(size);
const dues = new Float64Array(size);

/**
 * Adds to `out` the expected number of records of each condition on `day`, assuming coverage: as the reason of a
 * visit or as a companion. The state must have entered the day.
 *
 * With P(visit for x) = w_x, the probability of d at a visit for x is 1 − (1 − c_xd)(1 − b_x q_d) =
 * b_x q_d + c_xd (1 − b_x q_d). The lists c are short, so no loop over all pairs is needed.
 */
export function addExpectedRecords(state: State, day: number, out: Float64Array): void {
	const total = rates(state, day, reasons);
	if (total === 0) return;
	const visit = -Math.expm1(-total) / total;
	const { possible } = state.rateTables;
	dues.fill(0);
	for (let i = 0; i < state.recordedCount; i++) {
		const d = state.recorded[i];
		dues[d] = dueChance(state, day, d);
	}
	let bundled = 0;
	for (let x = 0; x < size; x++) {
		const chance = reasons[x] * visit;
		const bundle = bundledBy[x];
		bundled += chance * bundle;
		out[x] += chance * (1 - bundle * dues[x]);
		const { to, value } = companionsOf[x];
		for (let i = 0; i < to.length; i++) {
			const d = to[i];
			if (possible[d]) out[d] += chance * value[i] * (1 - bundle * dues[d]);
		}
	}
	for (let i = 0; i < state.recordedCount; i++) {
		const d = state.recorded[i];
		out[d] += dues[d] * bundled;
	}
}

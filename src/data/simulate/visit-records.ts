import { bundledBy, dueChance, rates } from "./hazards.js";
import type { State } from "./state.js";
import * as tables from "./tables.js";

/** Local copies are faster in the inner loops. */
const { companionsOf, size } = tables;

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
		const d = state.recorded[i]!;
		dues[d] = dueChance(state, day, d);
	}
	let bundled = 0;
	for (let x = 0; x < size; x++) {
		const chance = reasons[x]! * visit;
		const bundle = bundledBy[x]!;
		bundled += chance * bundle;
		out[x]! += chance * (1 - bundle * dues[x]!);
		const { to, value } = companionsOf[x]!;
		for (let i = 0; i < to.length; i++) {
			const d = to[i]!;
			if (possible[d]) out[d]! += chance * value[i]! * (1 - bundle * dues[d]!);
		}
	}
	for (let i = 0; i < state.recordedCount; i++) {
		const d = state.recorded[i]!;
		out[d]! += dues[d]! * bundled;
	}
}

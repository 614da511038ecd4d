import { outcomeOf, recordDays } from "../../data/cohort/at-risk.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { censored, death, type FollowUp, onset } from "../survival/follow-up.js";
import type { IndexedPatient } from "./index-days.js";

/** What became of the patients who did not have a code on their index day. */
export interface CodeFollowUp extends FollowUp {
	readonly token: number;
	readonly time: Float64Array;
	readonly status: Uint8Array;
	/** Place in the cohort. */
	readonly patient: Int32Array;
}

export const statusOf = { onset, death, "end of observation": censored } as const;

/** The follow-up of every code, by token. */
export function followUps(patients: readonly IndexedPatient[], vocab: number): CodeFollowUp[] {
	const entries = Array.from({ length: vocab }, () => ({
		time: [] as number[],
		status: [] as number[],
		patient: [] as number[],
	}));
	for (const [at, { history, day, atRisk }] of patients.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if ((before[token] as number) > Number.NEGATIVE_INFINITY) continue;
			const outcome = outcomeOf(atRisk, after[token] as number);
			const own = entries[token] as (typeof entries)[0];
			own.time.push(outcome.after);
			own.status.push(statusOf[outcome.what]);
			own.patient.push(at);
		}
	}
	return entries.map(({ time, status, patient }, token) => ({
		token,
		time: Float64Array.from(time),
		status: Uint8Array.from(status),
		patient: Int32Array.from(patient),
	}));
}

/** Onsets within so many days. */
export function onsetsWithin(
	{ time, status }: Pick<CodeFollowUp, "time" | "status">,
	days: number,
): number {
	let count = 0;
	for (let i = 0; i < time.length; i++)
		if (status[i] === onset && (time[i] as number) <= days) count++;
	return count;
}

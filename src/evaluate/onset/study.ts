import { yearDays } from "../../base/time.js";
import { outcomeOf, recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { RowName } from "../bootstrap.js";
import type { EvaluateOptions } from "../evaluation.js";
import * as survival from "../survival/follow-up.js";
import { type ExpectedRates, expectedOnsets } from "./expected-onsets.js";
import type { IndexedCohort, IndexedPatient } from "./index-days.js";

/** Expected onsets of a frequent code within a horizon, and of any code that is measured, at least. */
export const frequentOnsets = 20;
export const rareOnsets = 1;

export interface Predictions {
	readonly name: RowName;
	/** By each horizon, [patients, vocab]; NaN where there is none. A row may leave out rare codes. */
	readonly risks: readonly ArrayLike<number>[];
}

/** What task *onset* is measured on. */
export interface OnsetStudy {
	readonly dataset: Dataset;
	/** What baselines learn from. */
	readonly trainingDataset: Dataset;
	readonly options: EvaluateOptions;
	/** The rule of the index days. */
	readonly index: string;
	readonly cohort: IndexedCohort;
	readonly codes: readonly CodeFollowUp[];
	/** In years. */
	readonly horizons: readonly number[];
	/** By horizon: what onsets are expected from. */
	readonly rates: readonly ExpectedRates[];
}

export const daysOf = (years: number) => Math.round(years * yearDays);

/** The codes with enough expected onsets. */
export const measuredCodes = <Code extends Pick<CodeFollowUp, "expected">>(
	codes: readonly Code[],
	days: number,
	fewest = frequentOnsets,
): Code[] => codes.filter(({ expected }) => (expected.get(days) ?? 0) >= fewest);

/** What became of the patients who did not have a code on their index day. */
export type CodeFollowUp = ReturnType<typeof followUps>[number];

/** The follow-up of every token; patients are numbered by their place in the cohort. */
export function followUps(
	patients: readonly IndexedPatient[],
	vocab: number,
	rates: readonly ExpectedRates[],
) {
	const expected = rates.map(
		(horizon) => [horizon.horizonDays, expectedOnsets(horizon, patients, vocab)] as const,
	);
	const entries = Array.from({ length: vocab }, () => ({
		time: [] as number[],
		status: [] as number[],
		patient: [] as number[],
	}));
	for (const [index, { history, day, atRisk }] of patients.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token] > Number.NEGATIVE_INFINITY) continue;
			const outcome = outcomeOf(atRisk, after[token]);
			const followUp = entries[token];
			followUp.time.push(outcome.after);
			followUp.status.push(survival.statusOf[outcome.what]);
			followUp.patient.push(index);
		}
	}
	return entries.map(({ time, status, patient }, token) => ({
		token,
		time: Float64Array.from(time),
		status: Uint8Array.from(status),
		patient: Int32Array.from(patient),
		/** Expected onsets, by the days within which. */
		expected: new Map(expected.map(([days, onsets]) => [days, onsets[token]])),
	}));
}

export function onsetsWithin(
	{ time, status }: Pick<survival.FollowUp, "time" | "status">,
	days: number,
): number {
	let count = 0;
	for (let i = 0; i < time.length; i++)
		if (status[i] === survival.onset && time[i] <= days) count++;
	return count;
}

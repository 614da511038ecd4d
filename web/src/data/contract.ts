import type { SamplePatient, UsualHistories } from "../../../src/app/commands/serve/explorer.js";
import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Evaluation } from "../../../src/evaluate/evaluation.js";
import type { HeadMemory, MemoryByCategory } from "../../../src/predict/head-memory.js";

/** The documents that the page fetches from `explorer/`, in addition to the export in `model/`. */

export type { About, SamplePatient } from "../../../src/app/commands/serve/explorer.js";
export type { People, PersonState } from "../../../src/app/commands/serve/explorer-people.js";

export interface Samples {
	readonly patients: readonly SamplePatient[];
}

export type EvaluationSummary = Omit<Evaluation, "windows">;

export interface Evaluations {
	readonly evaluations: readonly EvaluationSummary[];
}

/** JSON has no Infinity: null is an infinite half-life. */
export interface Memory extends Omit<MemoryByCategory, "heads"> {
	readonly heads: readonly (Omit<HeadMemory, "halfLives"> & {
		readonly halfLives: readonly (number | null)[];
	})[];
}

/** `rates.json`: rates of first records; null if the run has none. */
export interface Rates {
	readonly rates: RatesByAgeAndSex | null;
}

/** `usual.json`: null if it is not known. */
export interface Usual {
	readonly usual: UsualHistories | null;
}

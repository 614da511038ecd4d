import type { RatesByAgeAndSex } from "../../../src/data/cohort/age-sex-rates.js";
import type { Evaluation } from "../../../src/evaluate/evaluation.js";

export type { People, PersonState } from "../../../src/app/commands/serve/explorer-people.js";

/** The documents that the page fetches from `explorer/`, in addition to the export in `model/`. */

export interface SamplePatient {
	/** Where the person can be simulated again. */
	readonly simulation?: { readonly seed: number; readonly person: number };
	readonly id: string;
	readonly name: string;
	readonly birthTime: number | null;
	/** The day of death; null if none is recorded. */
	readonly death: number | null;
	readonly sex: "female" | "male" | null;
	/** Without birth. */
	readonly events: readonly { readonly token: number; readonly time: number }[];
}

export interface Samples {
	readonly patients: readonly SamplePatient[];
}

export type EvaluationSummary = Omit<Evaluation, "windows">;

export interface Evaluations {
	readonly evaluations: readonly EvaluationSummary[];
}

export interface Memory {
	readonly categories: readonly (string | null)[];
	readonly events: readonly number[];
	readonly heads: readonly {
		readonly layer: number;
		readonly head: number;
		/** JSON has no Infinity: null is an infinite half-life. */
		readonly halfLives: readonly (number | null)[];
	}[];
	readonly unit: "days" | "events";
}

/** `rates.json`: rates of first records; null if the run has none. */
export interface Rates {
	readonly rates: RatesByAgeAndSex | null;
}

/** `explorer/usual.json`: what is usual among the training patients; 98 % lie within each range. */
export interface Usual {
	/** Null if it is not known. */
	readonly usual: {
		readonly eventsPerYear: readonly [least: number, most: number];
		/** At the first and the last record, in years; null if births are not known. */
		readonly ages: readonly [youngest: number, oldest: number] | null;
	} | null;
}

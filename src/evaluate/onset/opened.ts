import { isoDate, yearDays } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { EvaluateOptions } from "../options.js";
import type { RowName } from "../rows.js";
import type { IndexedCohort } from "./index-days.js";
import { type CodeFollowUp, onsetsWithin } from "./outcomes.js";

/** Onsets that a code needs within a horizon. */
export const leastOnsets = 20;

/** A row of the results. */
export interface Predictions {
	readonly name: RowName;
	/** By each horizon, [patients, vocab]; NaN where there is none. */
	readonly risks: readonly ArrayLike<number>[];
}

/** What task *onset* is measured on. */
export interface Opened {
	readonly dataset: Dataset;
	/** What baselines learn from. */
	readonly past: Dataset;
	readonly options: EvaluateOptions;
	readonly cohort: IndexedCohort;
	readonly codes: readonly CodeFollowUp[];
	/** In years. */
	readonly horizons: readonly number[];
}

/** After a cut, the index day is that of the cut. */
export const indexOf = ({ index, before }: Pick<EvaluateOptions, "index" | "before">): string =>
	index ?? (before === undefined ? "random" : isoDate(before));

export const daysOf = (years: number) => Math.round(years * yearDays);

/** The codes with enough onsets within so many days. */
export const measuredCodes = (codes: readonly CodeFollowUp[], days: number) =>
	codes.filter((code) => code.token >= specialCount && onsetsWithin(code, days) >= leastOnsets);

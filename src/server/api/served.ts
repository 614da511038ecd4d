import type { CodeMap } from "../../codes/index.js";
import type { NewPatient } from "../../cohort/index.js";
import type { Trained } from "../../train/index.js";

/** What the service answers with. */
export interface Served
	extends Pick<Trained, "model" | "config" | "weights" | "manifest" | "vocabulary"> {
	readonly step: number;
	readonly versions: Readonly<Record<string, string>>;
	/** The dataset's, where it is at hand. */
	readonly map: CodeMap | undefined;
	readonly words: Words;
}

export interface TimeAxis {
	readonly axis: "dates" | "days";
	readonly unitDays: number;
}

export interface FoundCode {
	readonly code: string;
	readonly name: string;
	readonly tokens: readonly number[];
	readonly note?: string;
}

/** How people write times and codes: as on the command line, which lends it. Each refuses with an `InputError`. */
export interface Words {
	findCode(asked: string): FoundCode;
	timesOf(moments: readonly string[], patient: NewPatient, axis: TimeAxis, field: string): number[];
	gridOf(
		patient: NewPatient,
		axis: TimeAxis,
		given: { readonly from?: string; readonly to?: string; readonly step?: string },
	): Float64Array;
	warnings(patient: NewPatient, times: readonly number[], axis: TimeAxis): string[];
}

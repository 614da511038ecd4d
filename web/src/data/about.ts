import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";

/** `explorer/about.json`: the facts of the model. */
export interface About {
	readonly model: { readonly id: string; readonly name: string; readonly cite: string };
	readonly config: Readonly<Record<string, unknown>>;
	readonly parameters: number;
	readonly dataset: {
		readonly counts: {
			readonly patients: number;
			readonly events: number;
			readonly tokens: number;
			readonly splits: Readonly<
				Record<string, { readonly patients: number; readonly events: number }>
			>;
		};
		readonly reach: {
			readonly longestDays: number;
			readonly oldestDays: number | null;
		} | null;
		readonly format: string;
	};
	/** The reading rules of the dataset, which apply to files as well. */
	readonly records: ReadingRules;
	readonly versions: Readonly<Record<string, string>>;
	readonly training: {
		readonly epochs: number;
		readonly seed: number;
		readonly step: number;
		readonly bestLoss: number | null;
	};
	readonly modelCard: string;
}

/** `explorer/about.json`: the model in numbers and words. */
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
		readonly timeUnit: { readonly name: string; readonly days: number };
		readonly reach: {
			readonly longestDays: number;
			readonly oldestDays: number | null;
		} | null;
		readonly format: string;
	};
	/** How the dataset's records were treated. */
	readonly records?: {
		readonly map: string | null;
		readonly level: "integer" | "full" | null;
		readonly dedup: "none" | "day" | "month";
	};
	readonly versions: Readonly<Record<string, string>>;
	readonly training: {
		readonly epochs: number;
		readonly seed: number;
		readonly step: number;
		readonly bestLoss: number | null;
	};
	readonly modelCard: string;
}

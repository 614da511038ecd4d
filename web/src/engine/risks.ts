import type { Calls } from "../../../src/api/calls.js";
import { yearDays } from "../../../src/base/time.js";
import type { History } from "../data/patient.js";

/** Horizons of the page, in years. */
export const riskYears = [1, 5, 10] as const;

/** The probability that a code is recorded within each horizon after a date, death competing. */
export interface CodeRisk {
	readonly token: number;
	/** The time of the first record up to the date: the risk is that of another one. Null: of the first. */
	readonly recordedAt: number | null;
	/** By horizon; null beyond what the model has learned. */
	readonly probabilities: readonly (number | null)[];
}

/** The farthest day after a date that a model can answer; undefined if it has learned no hazards. */
export function longestDays(config: Readonly<Record<string, unknown>>): number | undefined {
	const hazards = config.hazards as { readonly binDays?: readonly number[] } | null | undefined;
	return hazards?.binDays?.at(-1);
}

/** The risks of codes at a date, from the records up to and including that day. */
export async function risksAt(
	calls: Pick<Calls, "incidence">,
	{ tokens, times }: History,
	codes: readonly number[],
	date: number,
	longest: number,
): Promise<CodeRisk[]> {
	// Ten years are 3,652.5 days, and bins end on whole days.
	const days = riskYears.map((years) => Math.min(years * yearDays, longest));
	const known = riskYears.map((years) => years * yearDays <= longest + 1);
	const [found = []] = await calls.incidence(
		[{ tokens, times }],
		codes.map((token) => [token]),
		[[date]],
		days,
	);
	return codes.map((token, at) => {
		const own = found[at];
		const recorded = own?.recordedAt[0] ?? Number.NaN;
		return {
			token,
			recordedAt: Number.isNaN(recorded) ? null : recorded,
			probabilities: days.map((_, i) => (known[i] ? (own?.probabilities[i] ?? null) : null)),
		};
	});
}

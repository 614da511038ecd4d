import { yearDays } from "../../../src/base/time.js";
import { specialCount } from "../../../src/cohort/vocabulary.js";
import type { History } from "../data/patient.js";
import type { PatientOnDate, RiskModel } from "./risks.js";

/** The horizon of what is explained, in years. */
export const reasonYears = 5;

/** Why a risk is what it is. */
export interface Reasons {
	readonly risk: number;
	/** The risk if nothing were recorded: of age and sex alone; null if the birth is unknown. */
	readonly unrecorded: number | null;
	/** The risk minus the risk without all records of a code; the largest first. */
	readonly effects: readonly {
		readonly token: number;
		readonly records: number;
		readonly effect: number;
	}[];
}

/** Codes that are left out in turn, at most: the most recent ones. */
const mostCodes = 64;

/** The records up to a date, without those that are left out; birth stays. */
function knownWithout(
	{ tokens, times, birthEvents }: History,
	date: number,
	isLeftOut: (token: number) => boolean,
): Pick<History, "tokens" | "times"> {
	const kept = [...tokens.keys()].filter(
		(at) =>
			at < birthEvents ||
			(Math.floor(times[at] as number) <= Math.floor(date) && !isLeftOut(tokens[at] as number)),
	);
	return {
		tokens: kept.map((at) => tokens[at] as number),
		times: kept.map((at) => times[at] as number),
	};
}

/** How the records of each code move the risk of another code that is not recorded. */
export async function reasonsAt(
	{ calls, longest }: Pick<RiskModel, "calls" | "longest">,
	{ history, date }: PatientOnDate,
	code: number,
): Promise<Reasons> {
	const known = knownWithout(history, date, () => false);
	const codes = [...new Set(known.tokens.toReversed())]
		.filter((token) => token >= specialCount)
		.slice(0, mostCodes);
	const hasBirth = history.birthEvents === 1;
	const histories = [
		known,
		...codes.map((token) => knownWithout(history, date, (own) => own === token)),
		...(hasBirth ? [knownWithout(history, date, () => true)] : []),
	];
	const found = await calls.incidence(
		...([histories, [[code]], histories.map(() => [date])] as const),
		[Math.min(reasonYears * yearDays, longest)],
	);
	const risks = found.map(([own]) => own?.probabilities[0] ?? Number.NaN);
	const [risk = Number.NaN] = risks;
	return {
		risk,
		unrecorded: hasBirth ? (risks.at(-1) as number) : null,
		effects: codes
			.map((token, at) => ({
				token,
				records: known.tokens.filter((own) => own === token).length,
				effect: risk - (risks[at + 1] as number),
			}))
			.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)),
	};
}

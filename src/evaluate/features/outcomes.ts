import type { Column } from "../../base/files/column-file.js";
import { outcomeOf, recordDays } from "../../data/cohort/at-risk.js";
import type { Landmark } from "../../model/train/regressions/followed-landmarks.js";
import { daysOf } from "../onset/study.js";
import { censored, kaplanMeier, sortFollowUp, statusOf } from "../survival/follow-up.js";

/** A code whose onsets are outcomes, and its name in columns. */
export interface OutcomeCode {
	readonly token: number;
	readonly name: string;
}

/** In place of the days to an outcome: the code is recorded already. */
const notAtRisk = -1;

/** What follows the landmarks of a split for one code. */
interface CodeOutcomes {
	readonly name: string;
	readonly days: Int32Array; // [landmarks]
	readonly status: Uint8Array; // [landmarks]
	/** G: the probability that observation has not ended after so many days. */
	readonly observed: Float64Array; // [longest horizon + 1]
}

/** Days to the first record of each code, to death or to the end of observation, whichever is first, and weights. */
export function outcomesAfter(
	landmarks: readonly Landmark[],
	vocab: number,
	codes: readonly OutcomeCode[],
	horizons: readonly number[],
): readonly CodeOutcomes[] {
	const outcomes = codes.map(({ name }) => ({
		name,
		days: new Int32Array(landmarks.length).fill(notAtRisk),
		status: new Uint8Array(landmarks.length),
	}));
	for (const [row, { history, atRisk }] of landmarks.entries()) {
		const { before, after } = recordDays(history, vocab, atRisk.from);
		for (const [i, { token }] of codes.entries()) {
			if (before[token] > Number.NEGATIVE_INFINITY) continue;
			const outcome = outcomeOf(atRisk, after[token]);
			outcomes[i].days[row] = outcome.after;
			outcomes[i].status[row] = statusOf[outcome.what];
		}
	}
	const longest = Math.max(...horizons.map(daysOf));
	return outcomes.map((code) => ({ ...code, observed: stillObserved(code, longest) }));
}

/** The Kaplan–Meier probability, of those at risk, of still being observed after each day. */
function stillObserved(
	{ days, status }: Pick<CodeOutcomes, "days" | "status">,
	longest: number,
): Float64Array {
	const rows = [...days.keys()].filter((row) => days[row] !== notAtRisk);
	const followUp = sortFollowUp({
		time: rows.map((row) => days[row]),
		status: rows.map((row) => status[row]),
	});
	const curve = kaplanMeier(followUp, "censoring");
	let step = 0;
	return Float64Array.from({ length: longest + 1 }, (_, day) => {
		while (curve.days[step + 1] <= day) step++;
		return curve.values[step];
	});
}

/** The weight of `outcomeAt` of one landmark; null where the code is recorded already, or nobody is observed for so long. */
function weightWithin(
	{ days, status, observed }: CodeOutcomes,
	row: number,
	horizonDays: number,
): number | null {
	if (days[row] === notAtRisk || observed[horizonDays] === 0) return null;
	if (status[row] === censored && days[row] <= horizonDays) return 0;
	return 1 / observed[Math.min(days[row] - 1, horizonDays)];
}

/** The columns of some rows: days, status, and a weight for each horizon. */
export const outcomeColumns = (
	outcomes: readonly CodeOutcomes[],
	horizons: readonly number[],
	rows: readonly number[],
): Column[] =>
	outcomes.flatMap((code): Column[] => {
		const ofThoseAtRisk = (values: ArrayLike<number>) =>
			rows.map((row) => (code.days[row] === notAtRisk ? null : values[row]));
		return [
			{ name: `days ${code.name}`, type: "whole", values: ofThoseAtRisk(code.days) },
			{ name: `status ${code.name}`, type: "whole", values: ofThoseAtRisk(code.status) },
			...horizons.map(
				(years): Column => ({
					name: `weight ${code.name} ${years}y`,
					type: "decimal",
					values: rows.map((row) => weightWithin(code, row, daysOf(years))),
				}),
			),
		];
	});

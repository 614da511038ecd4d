import { yearDays } from "../../../src/base/time.js";
import { explainRisk, type ReasonOptions, type Reasons } from "../../../src/infer/reasons.js";
import type { PatientOnDate, RiskModel } from "./risks.js";

/** The horizon of what is explained, in years. */
export const reasonYears = 5;

/** What the records of each code add to the risk of another code. */
export const reasonsAt = (
	{ calls, longest }: Pick<RiskModel, "calls" | "longest">,
	{ history, date }: PatientOnDate,
	code: number,
	options: Pick<ReasonOptions, "parameters" | "onProgress" | "signal">,
): Promise<Reasons> =>
	explainRisk(
		async (histories) => {
			const found = await calls.incidence(
				...([histories, [[code]], histories.map(() => [date])] as const),
				[Math.min(reasonYears * yearDays, longest)],
			);
			return found.map(([own]) => own?.probabilities[0] ?? Number.NaN);
		},
		history,
		{ ...options, of: [code], day: date },
	);

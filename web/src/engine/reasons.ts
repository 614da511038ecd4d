import { yearDays } from "../../../src/base/time.js";
import {
	explainIncidence,
	type ReasonOptions,
	type Reasons,
} from "../../../src/predict/reasons.js";
import type { RiskModel, RiskRequest } from "./risks.js";

/** The horizon of what is explained, in years. */
export const reasonYears = 5;

/** What the records of each code add to the risk of another code or, with edits, what each edit adds. */
export const reasonsAt = (
	{ calls, longest }: Pick<RiskModel, "calls" | "longest">,
	{ history, date, original, edits }: Pick<RiskRequest, "history" | "date" | "original" | "edits">,
	code: number,
	options: Pick<ReasonOptions, "parameters" | "onProgress" | "signal">,
): Promise<Reasons> =>
	explainIncidence(
		(...query) => calls.incidence(...query),
		original ?? history,
		Math.min(reasonYears * yearDays, longest),
		{ ...options, of: [code], day: date, edits: edits.map(({ edit }) => edit) },
	);

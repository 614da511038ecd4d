import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { OnsetDetails } from "../../../src/evaluate/evaluation.js";
import type { EvaluationSummary } from "../data/contract.js";

export type OnsetEvaluation = EvaluationSummary & { readonly onset: OnsetDetails };

/** A panel on first records within a horizon. */
export interface OnsetPanelProps {
	readonly evaluation: OnsetEvaluation;
	readonly years: number;
}

export const yearsText = (years: number): string => counted(years, "year");

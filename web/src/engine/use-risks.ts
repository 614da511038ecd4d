import { useMemo } from "react";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { type RiskRequest, type Risks, riskSource } from "./risk-source.js";
import type { RiskModel, StartFor } from "./risks.js";
import { useLatest } from "./use-latest.js";
import type { Answer } from "./use-when-idle.js";

export type { RiskRequest, Risks } from "./risk-source.js";

/** The risks of a request, or of an earlier one while they are computed. `startFor` must be stable. */
export function useRisks(
	model: RiskModel | null,
	request: RiskRequest | null,
	vocabulary: Vocabulary,
	startFor: StartFor,
): Answer<RiskRequest, Risks> | null {
	const compute = useMemo(
		() => model && riskSource(model, vocabulary, startFor),
		[model, vocabulary, startFor],
	);
	return useLatest(request, compute);
}

import { useMemo } from "react";
import type { Calls } from "../../../src/api/calls.js";
import type { History } from "../data/patient.js";
import { type CodeRisk, risksAt } from "./risks.js";
import { type Answer, useWhenIdle } from "./use-when-idle.js";

export interface RiskRequest {
	readonly history: History;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly codes: readonly number[];
	readonly date: number;
}

interface Risks {
	readonly risks: readonly CodeRisk[];
	readonly before: readonly CodeRisk[] | null;
}

/** The risks of a request, or of an earlier one while they are computed. */
export function useRisks(
	calls: Calls | null,
	request: RiskRequest | null,
	longest: number | undefined,
): Answer<RiskRequest, Risks> | null {
	const compute = useMemo(
		() =>
			calls && longest !== undefined
				? async ({ history, original, codes, date }: RiskRequest): Promise<Risks> => ({
						risks: await risksAt(calls, history, codes, date, longest),
						before: original && (await risksAt(calls, original, codes, date, longest)),
					})
				: null,
		[calls, longest],
	);
	return useWhenIdle(request && request.codes.length > 0 ? request : null, compute);
}

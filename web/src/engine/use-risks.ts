import { useEffect, useState } from "react";
import type { Calls } from "../../../src/api/calls.js";
import type { History } from "../data/patient.js";
import { type CodeRisk, risksAt } from "./risks.js";

export interface RiskRequest {
	readonly history: History;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly codes: readonly number[];
	readonly date: number;
}

export interface RiskAnswer {
	readonly request: RiskRequest;
	readonly outcome:
		| { readonly risks: readonly CodeRisk[]; readonly before: readonly CodeRisk[] | null }
		| { readonly failed: string };
}

/** So long after the last change: predictions, which share the worker, go first. */
const idleMilliseconds = 200;

/** The risks of a request, or of an earlier one while they are computed. A stable request is computed once. */
export function useRisks(
	calls: Calls | null,
	request: RiskRequest | null,
	longest: number | undefined,
): RiskAnswer | null {
	const [answer, setAnswer] = useState<RiskAnswer | null>(null);
	useEffect(() => {
		if (!calls || !request || longest === undefined || request.codes.length === 0) return;
		let ended = false;
		const { history, original, codes, date } = request;
		const compute = async () => {
			const risks = await risksAt(calls, history, codes, date, longest);
			const before = original && (await risksAt(calls, original, codes, date, longest));
			return { risks, before };
		};
		const timer = setTimeout(async () => {
			const outcome = await compute().catch((error: Error) => ({ failed: error.message }));
			if (!ended) setAnswer({ request, outcome });
		}, idleMilliseconds);
		return () => {
			ended = true;
			clearTimeout(timer);
		};
	}, [calls, request, longest]);
	return answer;
}

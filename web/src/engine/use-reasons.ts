import { useEffect, useState } from "react";
import type { Reasons } from "../../../src/predict/reasons.js";
import { reasonsAt } from "./reasons.js";
import type { RiskModel } from "./risks.js";
import type { RiskRequest } from "./use-risks.js";

/** What was explained, and how. */
interface Explanation {
	readonly request: RiskRequest;
	readonly code: number;
	readonly outcome: Reasons | { readonly failed: string };
}

/** The reasons of a risk once they are asked for, or earlier ones while they are computed. A new request ends the work. */
export function useReasons(
	model: RiskModel,
	parameters: number,
	request: RiskRequest,
	code: number | undefined,
	isAsked: boolean,
): { readonly latest: Explanation | null; readonly isCurrent: boolean; readonly progress: number } {
	const [latest, setLatest] = useState<Explanation | null>(null);
	const [progress, setProgress] = useState(0);
	const isCurrent = latest?.request === request && latest.code === code;
	useEffect(() => {
		if (!isAsked || code === undefined) return;
		const controller = new AbortController();
		const { signal } = controller;
		setProgress(0);
		const onProgress = (share: number) => signal.aborted || setProgress(share);
		reasonsAt(model, request, code, { parameters, onProgress, signal })
			.catch((error: Error) => ({ failed: error.message }))
			.then((outcome) => signal.aborted || setLatest({ request, code, outcome }));
		return () => controller.abort();
	}, [model, parameters, request, code, isAsked]);
	return { latest, isCurrent, progress };
}

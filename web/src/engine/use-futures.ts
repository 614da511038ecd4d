import { useEffect, useMemo, useState } from "react";
import type { History } from "../data/patient.js";
import { type DrawnFutures, type FutureSource, futuresAt } from "./futures.js";
import { type Answer, idleMilliseconds } from "./use-when-idle.js";

interface FutureRequest {
	readonly history: History;
	readonly date: number;
}

/** Futures of a history after a date while they are asked for, as far as they are drawn: null until some are. */
export function useFutures(
	source: FutureSource | null,
	history: History,
	date: number,
	isAsked: boolean,
): DrawnFutures | { readonly failed: string } | null {
	const [answer, setAnswer] = useState<Answer<FutureRequest, DrawnFutures> | null>(null);
	const request = useMemo(() => (isAsked ? { history, date } : null), [isAsked, history, date]);
	useEffect(() => {
		if (!request || !source) return;
		const controller = new AbortController();
		const { signal } = controller;
		const show = (outcome: DrawnFutures | { readonly failed: string }) =>
			signal.aborted || setAnswer({ request, outcome });
		const timer = setTimeout(() => {
			futuresAt(source, request, { onPart: show, signal }).catch((error: Error) =>
				show({ failed: error.message }),
			);
		}, idleMilliseconds);
		return () => {
			clearTimeout(timer);
			controller.abort();
		};
	}, [request, source]);
	return request !== null && answer?.request === request ? answer.outcome : null;
}

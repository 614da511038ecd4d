import { useMemo } from "react";
import type { History } from "../data/patient.js";
import { type DrawnFutures, type FutureSource, futuresAt } from "./futures.js";
import { useWhenIdle } from "./use-when-idle.js";

/** Futures of a history after a date while they are asked for: null until they are drawn. */
export function useFutures(
	source: FutureSource | null,
	history: History,
	date: number,
	isAsked: boolean,
): DrawnFutures | { readonly failed: string } | null {
	const request = useMemo(() => (isAsked ? { history, date } : null), [isAsked, history, date]);
	const compute = useMemo(
		() => source && ((asked: NonNullable<typeof request>) => futuresAt(source, asked)),
		[source],
	);
	const answer = useWhenIdle(request, compute);
	return request !== null && answer?.request === request ? answer.outcome : null;
}

import { useEffect, useRef, useState } from "react";
import type { Answer } from "./use-when-idle.js";

/**
 * The result of a request, or of an earlier one while it is computed: at once and one at a time, so that of many
 * quick changes only the latest waits. `compute` must be stable, and null while there is nothing to compute with.
 */
export function useLatest<Request, Result extends object>(
	request: Request | null,
	compute: ((request: Request) => Promise<Result>) | null,
): Answer<Request, Result> | null {
	const [answer, setAnswer] = useState<Answer<Request, Result> | null>(null);
	const waiting = useRef<{ readonly request: Request; readonly compute: typeof compute } | null>(
		null,
	);
	const isBusy = useRef(false);
	useEffect(() => {
		if (!request || !compute) return;
		waiting.current = { request, compute };
		const work = async () => {
			isBusy.current = true;
			while (waiting.current) {
				const next = waiting.current;
				waiting.current = null;
				const outcome = await next
					.compute?.(next.request)
					.catch((error: Error) => ({ failed: error.message }));
				if (outcome) setAnswer({ request: next.request, outcome });
			}
			isBusy.current = false;
		};
		if (!isBusy.current) void work();
		return () => {
			waiting.current = null;
		};
	}, [request, compute]);
	return answer;
}

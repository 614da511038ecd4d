import { useEffect, useState } from "react";

/** A request, and what came of it. */
export interface Answer<Request, Result> {
	readonly request: Request;
	readonly outcome: Result | { readonly failed: string };
}

/** So long after the last change: predictions, which share the worker, go first. */
export const idleMilliseconds = 200;

/**
 * The result of a request, or of an earlier one while it is computed. A stable request is computed once; `compute`
 * must be stable too, and null while there is nothing to compute with.
 */
export function useWhenIdle<Request, Result extends object>(
	request: Request | null,
	compute: ((request: Request) => Promise<Result>) | null,
): Answer<Request, Result> | null {
	const [answer, setAnswer] = useState<Answer<Request, Result> | null>(null);
	useEffect(() => {
		if (!request || !compute) return;
		let ended = false;
		const timer = setTimeout(async () => {
			const outcome = await compute(request).catch((error: Error) => ({ failed: error.message }));
			if (!ended) setAnswer({ request, outcome });
		}, idleMilliseconds);
		return () => {
			ended = true;
			clearTimeout(timer);
		};
	}, [request, compute]);
	return answer;
}

import { useEffect, useRef, useState } from "react";

/** What came of the requests so far. */
export interface Answer<Request, Result> {
	/** The last result, possibly of an earlier request; null until there is one. */
	readonly latest: { readonly request: Request; readonly result: Result } | null;
	/** Whether it is the result of the current request. */
	readonly isCurrent: boolean;
	/** Why the current request failed; null if it did not. */
	readonly failure: string | null;
}

/** So long after the last change: risks, which share the worker, go first. */
export const idleMilliseconds = 200;

/**
 * The result of a request, or of an earlier one while it is computed. One request is computed at a time, so that of
 * many quick changes only the latest waits, and none before `delay` milliseconds without a change. `request` and
 * `compute` must be stable, and null while there is nothing to compute.
 */
export function useAnswer<Request, Result>(
	request: Request | null,
	compute: ((request: Request) => Promise<Result>) | null,
	delay = 0,
): Answer<Request, Result> {
	const [latest, setLatest] = useState<Answer<Request, Result>["latest"]>(null);
	const [failed, setFailed] = useState<{ request: Request; message: string } | null>(null);
	const waiting = useRef<(() => Promise<void>) | null>(null);
	const isBusy = useRef(false);
	useEffect(() => {
		if (request === null || !compute) return;
		const work = async () => {
			isBusy.current = true;
			while (waiting.current) {
				const next = waiting.current;
				waiting.current = null;
				await next();
			}
			isBusy.current = false;
		};
		const start = () => {
			waiting.current = async () => {
				try {
					const result = await compute(request);
					setLatest({ request, result });
					setFailed(null);
				} catch (error) {
					setFailed({ request, message: (error as Error).message });
				}
			};
			if (!isBusy.current) void work();
		};
		if (delay === 0) start();
		const timer = delay > 0 ? setTimeout(start, delay) : undefined;
		return () => {
			clearTimeout(timer);
			waiting.current = null;
		};
	}, [request, compute, delay]);
	return {
		latest,
		isCurrent: latest !== null && latest.request === request,
		failure: failed !== null && failed.request === request ? failed.message : null,
	};
}

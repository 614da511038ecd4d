import { useEffect, useMemo } from "react";
import { startWorker } from "../page-worker.js";
import type { TrueRiskRequest } from "./true-risks.js";
import type { TrueRiskReply } from "./true-risks-worker.js";
import { type Answer, useWhenIdle } from "./use-when-idle.js";

interface TrueRisks {
	/** By code, then by day; null for codes that have none. */
	readonly risks: readonly (readonly number[] | null)[];
}

/** The true risks of a request, computed in a worker of their own while one is asked for. */
export function useTrueRisks(
	request: TrueRiskRequest | null,
): Answer<TrueRiskRequest, TrueRisks> | null {
	const isAsked = request !== null;
	const worker = useMemo(() => (isAsked ? startWorker("true risks") : null), [isAsked]);
	useEffect(() => () => worker?.terminate(), [worker]);
	const compute = useMemo(
		() =>
			worker &&
			((asked: TrueRiskRequest) =>
				new Promise<TrueRisks>((resolve, reject) => {
					const { port1, port2 } = new MessageChannel();
					port1.onmessage = ({ data }: MessageEvent<TrueRiskReply>) =>
						"failed" in data ? reject(new Error(data.failed)) : resolve(data);
					worker.postMessage(asked, [port2]);
				})),
		[worker],
	);
	const answer = useWhenIdle(request, compute);
	return isAsked ? answer : null;
}

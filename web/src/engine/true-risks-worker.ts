import { type TrueRiskRequest, trueRisks } from "./true-risks.js";

/** What comes of a request: the risks, or why there are none. */
export type TrueRiskReply =
	| { readonly risks: readonly (readonly number[] | null)[] }
	| { readonly failed: string };

/** A request comes with the port of its answer. */
interface WorkerScope {
	onmessage:
		| ((event: { readonly data: TrueRiskRequest; readonly ports: readonly MessagePort[] }) => void)
		| null;
}

function replyTo(request: TrueRiskRequest): TrueRiskReply {
	try {
		return { risks: trueRisks(request) };
	} catch (error) {
		return { failed: (error as Error).message };
	}
}

/** Answers the page, in a worker. */
export function answerTrueRisks(scope: WorkerScope): void {
	scope.onmessage = ({ data, ports: [port] }) => port?.postMessage(replyTo(data));
}

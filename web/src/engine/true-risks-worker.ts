import { type TrueRiskRequest, trueRisks } from "./true-risks.js";

/** A request comes with the port of its answer. */
interface WorkerScope {
	onmessage:
		| ((event: { readonly data: TrueRiskRequest; readonly ports: readonly MessagePort[] }) => void)
		| null;
}

const scope = globalThis as unknown as WorkerScope;
scope.onmessage = ({ data, ports: [port] }) => port?.postMessage(trueRisks(data));

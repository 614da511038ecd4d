import { trueIncidence } from "../../../src/data/simulate/cumulative-incidence.js";
import { simulatePatient } from "../../../src/data/simulate/patients.js";
import { drugCodes } from "../../../src/data/simulate/prescriptions.js";
import { codes } from "../../../src/data/simulate/tables.js";

/** A person of a simulated population, and what is request. */
export interface TrueRiskRequest {
	readonly seed: number;
	readonly person: number;
	readonly date: number;
	/** Horizons in days, increasing. */
	readonly days: readonly number[];
	/** By code: diagnoses as PheCodes, drugs as ATC codes. */
	readonly codes: readonly string[];
}

const futures = 256;

/** True risks of codes that are not recorded yet: [codes][days]; null for other codes. */
export function trueRisks(request: TrueRiskRequest): (number[] | null)[] {
	const incidence = trueIncidence(
		simulatePatient(request.seed, request.person),
		Math.floor(request.date),
		request.days.map(Math.round),
		{ futures },
	);
	/** The risks of the code at a place of a table, by horizon. */
	const column = (values: Float64Array, width: number, at: number) =>
		request.days.map((_, horizon) => values[horizon * width + at] as number);
	const risksOf = (code: string) => {
		const [diagnosis, drug] = [codes.indexOf(code), drugCodes.indexOf(code)];
		if (diagnosis >= 0) return column(incidence.codes, codes.length, diagnosis);
		return drug >= 0 ? column(incidence.drugs, drugCodes.length, drug) : null;
	};
	return request.codes.map((code) => {
		const risks = risksOf(code);
		return risks?.some(Number.isNaN) ? null : risks;
	});
}

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

/** Answers the page, in a worker. */
export function answerTrueRisks(scope: WorkerScope): void {
	scope.onmessage = ({ data, ports: [port] }) => {
		let reply: TrueRiskReply;
		try {
			reply = { risks: trueRisks(data) };
		} catch (error) {
			reply = { failed: (error as Error).message };
		}
		port?.postMessage(reply);
	};
}

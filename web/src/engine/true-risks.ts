import { trueIncidence } from "../../../src/data/simulate/cumulative-incidence.js";
import { drugCodes } from "../../../src/data/simulate/first-fills.js";
import { simulatePatient } from "../../../src/data/simulate/patients.js";
import { codes } from "../../../src/data/simulate/tables.js";

/** A person of a simulated population, and what is asked. */
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
export function trueRisks(asked: TrueRiskRequest): (number[] | null)[] {
	const found = trueIncidence(
		simulatePatient(asked.seed, asked.person),
		...([Math.floor(asked.date), asked.days.map(Math.round), { futures }] as const),
	);
	/** The risks of the code at a place of a table, by horizon. */
	const column = (values: Float64Array, width: number, at: number) =>
		asked.days.map((_, horizon) => values[horizon * width + at] as number);
	const risksOf = (code: string) => {
		const [diagnosis, drug] = [codes.indexOf(code), drugCodes.indexOf(code)];
		if (diagnosis >= 0) return column(found.codes, codes.length, diagnosis);
		return drug >= 0 ? column(found.drugs, drugCodes.length, drug) : null;
	};
	return asked.codes.map((code) => {
		const own = risksOf(code);
		return own?.some(Number.isNaN) ? null : own;
	});
}

import type { SimulatedPatient } from "../patients.js";
import { simulatePatient } from "../patients.js";

export function population(seed: number, patients: number): SimulatedPatient[] {
	return Array.from({ length: patients }, (_, i) => simulatePatient(seed, i + 1));
}

export interface Visit {
	readonly day: number;
	/** Positions in the catalogue, reason first. */
	readonly records: readonly number[];
}

export function visitsOf({ claims }: SimulatedPatient): Visit[] {
	const visits: { day: number; records: number[] }[] = [];
	for (const { day, at } of claims) {
		const visit = visits.at(-1);
		if (visit?.day === day) visit.records.push(at);
		else visits.push({ day, records: [at] });
	}
	return visits;
}

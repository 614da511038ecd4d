import { type Manifest, type Observation, observationRules } from "./manifest.js";
import type { PatientColumns } from "./patients.js";
import type { PeriodColumns } from "./periods.js";

export const observationOf = (
	from: Observation["from"],
	{ patient }: PeriodColumns,
	recordsOutside: number,
): Observation => ({
	from,
	rule: observationRules[from],
	periods: patient.length,
	// Sorted by patient.
	patients: patient.reduce((n, own, row) => n + Number(row === 0 || own !== patient[row - 1]), 0),
	recordsOutside,
});

export function countAll({ split, count }: PatientColumns, tokens: number): Manifest["counts"] {
	const none = () => ({ patients: 0, events: 0 });
	const splits = { train: none(), valid: none(), test: none() };
	for (const [at, name] of split.entries()) {
		splits[name].patients++;
		splits[name].events += count[at] as number;
	}
	return {
		patients: split.length,
		events: count.reduce((sum, n) => sum + n, 0),
		tokens,
		splits,
	};
}

import {
	type BootstrapOptions,
	type Drawn,
	difference,
	drawPatients,
	measureOf,
	possible,
	type Statistic,
} from "./bootstrap.js";
import { type ByPatient, packed, statisticsOf } from "./by-patient.js";
import type { EvaluationRow, Measured } from "./evaluation.js";

/** The names of a row. */
export type RowName = Omit<EvaluationRow, "metrics" | "byPatient" | "byDraw">;

export interface PatientRow {
	readonly name: RowName;
	readonly byPatient: ByPatient;
	/** Further statistics, whose per-patient values are not kept. */
	readonly more?: Readonly<Record<string, Statistic>>;
}

export const baselines = {
	history: { who: "history", label: "own history" },
	global: { who: "global", label: "code frequencies" },
	oracle: { who: "oracle", label: "reference model" },
	uninformed: { who: "oracle", label: "reference model, policies unknown" },
} as const satisfies Record<string, RowName>;

/** Evaluates all rows on the same draws of patients, and the difference of each model row to every later row. */
export function measureRows(
	given: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepPatients?: boolean },
): Pick<Measured, "rows"> & Required<Pick<Measured, "differences">> {
	const rows = given.map(({ name, byPatient, more }) => ({
		...{ name, byPatient },
		statistics: { ...statisticsOf(byPatient), ...more } as Record<string, Statistic>,
	}));
	const statistics = new Map<string, Statistic>();
	for (const [i, row] of rows.entries())
		for (const [metric, statistic] of Object.entries(row.statistics))
			statistics.set(`row ${i} ${metric}`, statistic);
	const all = drawPatients(patients, Object.fromEntries(statistics), options);
	const drawn = rows.map(
		({ statistics }, i) =>
			new Map(
				Object.keys(statistics).map((metric) => [metric, all[`row ${i} ${metric}`] as Drawn]),
			),
	);
	const pairs = rows.flatMap(({ name }, row) =>
		name.who === "model" ? rows.slice(row + 1).map((_, i) => ({ row, than: row + 1 + i })) : [],
	);
	return {
		rows: rows.map(({ name, byPatient }, row) => ({
			...name,
			metrics: Object.fromEntries(
				Array.from(drawn[row]!, ([metric, own]) => [metric, possible(metric, measureOf(own))]),
			),
			...(options.keepPatients && { byPatient: packed(byPatient) }),
		})),
		differences: pairs.map(({ row, than }) => ({
			row: rows[row]!.name.label,
			than: rows[than]!.name.label,
			metrics: Object.fromEntries(
				Array.from(drawn[row]!).flatMap(([metric, own]) => {
					const other = drawn[than]!.get(metric);
					return other ? [[metric, measureOf(difference(own, other))]] : [];
				}),
			),
		})),
	};
}

import {
	type BootstrapOptions,
	bootstrap,
	difference,
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
	const pairs = rows.flatMap((row, i) =>
		row.name.who === "model" ? rows.slice(i + 1).map((than) => ({ row, than })) : [],
	);
	const statistics = new Map<string, Statistic>();
	for (const [i, row] of rows.entries())
		for (const [metric, statistic] of Object.entries(row.statistics))
			statistics.set(`row ${i} ${metric}`, statistic);
	for (const [i, { row, than }] of pairs.entries())
		for (const [metric, statistic] of Object.entries(row.statistics)) {
			const other = than.statistics[metric];
			if (other) statistics.set(`pair ${i} ${metric}`, difference(statistic, other));
		}
	const measured = bootstrap(patients, Object.fromEntries(statistics), options);
	const measuresOf = (prefix: string) =>
		Object.fromEntries(
			Object.entries(measured)
				.filter(([name]) => name.startsWith(prefix))
				.map(([name, measure]) => [name.slice(prefix.length), measure]),
		);
	return {
		rows: rows.map(({ name, byPatient }, i) => ({
			...name,
			metrics: Object.fromEntries(
				Object.entries(measuresOf(`row ${i} `)).map(([name, own]) => [name, possible(name, own)]),
			),
			...(options.keepPatients && { byPatient: packed(byPatient) }),
		})),
		differences: pairs.map(({ row, than }, i) => ({
			row: row.name.label,
			than: than.name.label,
			metrics: measuresOf(`pair ${i} `),
		})),
	};
}

import { InputError } from "../base/errors.js";
import type { Evaluation, EvaluationRow, Measure } from "./evaluation.js";

type Metrics = EvaluationRow["metrics"];

/** The results of one task across several runs of a model. */
export interface AcrossRuns {
	readonly runs: number;
	/** The share of new codes, which is the same in every run. */
	readonly newCodes?: Measure;
	/** Why the numbers allow no conclusion, in every run. */
	readonly tooFew?: string;
	/** Rows of the model have the mean and the 95 % t-interval over runs. Other rows are the same in every run. */
	readonly rows: readonly EvaluationRow[];
	readonly differences: NonNullable<Evaluation["differences"]>;
}

/** Combines evaluations of one task, of runs that differ in their seed and were measured on the same patients. */
export function acrossRuns(evaluations: readonly Evaluation[]): AcrossRuns {
	const [first] = evaluations;
	if (first === undefined || evaluations.length < 2)
		throw new InputError(`${evaluations.length} runs; expected at least two`);
	for (const { made, task, split, patients, events } of evaluations)
		if (
			made.dataset !== first.made.dataset ||
			[task, split, patients, events].join() !==
				[first.task, first.split, first.patients, first.events].join()
		)
			throw new InputError(
				`the runs were measured on different data: ${first.task} of ${first.patients} patients of ${first.made.dataset}, and ${task} of ${patients} patients of ${made.dataset}`,
			);
	const sameRow = (one: EvaluationRow, other: EvaluationRow) =>
		one.label === other.label && one.setting === other.setting;
	const present = (matches: readonly ({ readonly metrics: Metrics } | undefined)[]): Metrics[] =>
		matches.filter((one) => one !== undefined).map(({ metrics }) => metrics);
	return {
		runs: evaluations.length,
		...(first.newCodes && { newCodes: first.newCodes }),
		...(first.tooFew && { tooFew: first.tooFew }),
		rows: first.rows.map((row) =>
			row.who !== "model"
				? row
				: {
						...row,
						metrics: meansOf(
							present(evaluations.map(({ rows }) => rows.find((one) => sameRow(one, row)))),
						),
					},
		),
		differences: (first.differences ?? []).map(({ row, than }) => ({
			row,
			than,
			metrics: meansOf(
				present(
					evaluations.map(({ differences }) =>
						differences?.find((pair) => pair.row === row && pair.than === than),
					),
				),
			),
		})),
	};
}

function meansOf(all: readonly Metrics[]): Metrics {
	return Object.fromEntries(
		Object.keys(all[0] ?? {}).map((name) => {
			const values = all.flatMap((metrics) => metrics[name]?.value ?? []);
			return [name, tInterval(values)];
		}),
	);
}

/** Mean and 95 % t-interval of normally distributed values. */
export function tInterval(values: readonly number[]): { value: number; low: number; high: number } {
	const count = values.length;
	const value = values.reduce((sum, one) => sum + one, 0) / count;
	if (count < 2) return { value, low: value, high: value };
	const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (count - 1);
	const half = tQuantile(count - 1) * Math.sqrt(variance / count);
	return { value, low: value - half, high: value + half };
}

/** 97.5 % quantiles of Student's t for 1, 2, … degrees of freedom. */
const tPoints = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622, 2.2281];

function tQuantile(degrees: number): number {
	const z = 1.959964;
	// First terms of the expansion around the normal quantile, exact to four digits here.
	return (
		tPoints[degrees - 1] ??
		z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
	);
}

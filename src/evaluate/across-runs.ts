import { InputError } from "../base/errors.js";
import { mapValues } from "../base/map-values.js";
import type { Evaluation, EvaluationRow, Measure } from "./evaluation.js";

export type AcrossRuns = ReturnType<typeof acrossRuns>;

/**
 * Combines evaluations of one task, of runs that differ in their seed and were measured on the same patients. Rows of the
 * model have the mean and the 95 % t-interval over runs; the share of new codes and other rows are the same in every run.
 */
export function acrossRuns(evaluations: readonly Evaluation[]) {
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
	const meansOf = (measuredIn: (run: Evaluation) => Pick<EvaluationRow, "metrics"> | undefined) => {
		const rows = evaluations.flatMap((run) => measuredIn(run) ?? []);
		return mapValues(rows[0]?.metrics ?? {}, (_, name) =>
			tInterval(rows.flatMap(({ metrics }) => metrics[name]?.value ?? [])),
		);
	};
	return {
		runs: evaluations.length,
		...(first.newCodes && { newCodes: first.newCodes }),
		...(first.tooFew && { tooFew: first.tooFew }),
		rows: first.rows.map((row) => {
			if (row.who !== "model") return row;
			const { label, setting } = row;
			const isSame = (other: EvaluationRow) => other.label === label && other.setting === setting;
			return { ...row, metrics: meansOf(({ rows }) => rows.find(isSame)) };
		}),
		differences: (first.differences ?? []).map(({ row, than }) => ({
			row,
			than,
			metrics: meansOf(({ differences }) =>
				differences?.find((pair) => pair.row === row && pair.than === than),
			),
		})),
	};
}

/** Mean and 95 % t-interval of normally distributed values. */
export function tInterval(values: readonly number[]): Measure {
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

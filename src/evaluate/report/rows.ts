import type { Evaluation, EvaluationRow, Measure, OnsetDetails } from "../evaluation.js";
import { reversed } from "./measures.js";

type Wanted = Partial<Pick<EvaluationRow, "who" | "method" | "setting">>;

/** The first matching row. */
export const rowOf = ({ rows }: Evaluation, wanted: Wanted): EvaluationRow | undefined =>
	rows.find((row) =>
		Object.entries(wanted).every(([field, value]) => row[field as keyof EvaluationRow] === value),
	);

/** The model's row with hazards, otherwise its time-specific row, or its first row. */
export const mainRow = (evaluation: Evaluation): EvaluationRow | undefined =>
	rowOf(evaluation, { who: "model", method: "with-hazards" }) ??
	rowOf(evaluation, { who: "model", method: "time-specific" }) ??
	rowOf(evaluation, { who: "model" });

/** The paired difference `row` minus `than`; undefined if it was not measured. */
export function differenceOf(
	{ differences = [] }: Evaluation,
	row: EvaluationRow,
	than: EvaluationRow,
	metric: string,
): Measure | undefined {
	const find = (a: EvaluationRow, b: EvaluationRow) =>
		differences.find(({ row, than }) => row === a.label && than === b.label)?.metrics[metric];
	const other = find(than, row);
	return find(row, than) ?? (other && reversed(other));
}

/** How the oracle forecasts, in words. */
export function futuresOf({ notes }: Evaluation): string {
	const [, count] = notes.map((note) => /by (\d+) sampled futures/.exec(note)).find(Boolean) ?? [];
	return count ? `${count} sampled futures` : "sampled futures";
}

/** The model's rows of a labelled task, by number of labels seen. */
export function settingRows({ rows }: Evaluation): readonly EvaluationRow[] {
	const order = ["zero-shot prototype", "zero-shot risk", "5-shot", "fine-tuned"];
	return rows
		.filter(({ who, setting }) => who === "model" && setting !== undefined)
		.toSorted((a, b) => order.indexOf(a.setting ?? "") - order.indexOf(b.setting ?? ""));
}

/** The horizons of first records that are shown, in years: one and five if they were measured, else the first two. */
export function shownHorizons({ horizons }: Pick<OnsetDetails, "horizons">): readonly number[] {
	const all = horizons.map(({ years }) => years);
	const usual = all.filter((years) => years === 1 || years === 5);
	return usual.length > 0 ? usual : all.slice(0, 2);
}

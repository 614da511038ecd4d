import type { Evaluation, EvaluationRow, Method } from "../evaluation.js";
import type { Cell, Entry } from "./cell.js";
import { type Column, reads } from "./columns.js";

/** A line with one of its forecast methods. */
export interface Way {
	readonly entry: Entry;
	readonly method: Method;
	/** Whether this is the line's first method; other tasks than forecast are shown only there. */
	readonly first: boolean;
	readonly label: string;
	/** The line that it is compared with. */
	readonly against?: Entry | undefined;
}

/** The cells that a line of the table reads. */
export interface Source {
	readonly label: string;
	readonly group: string;
	/** Missing for baselines. */
	readonly way?: Way;
	readonly cells: readonly Cell[];
	/** The row of a cell for a column, if there is one. */
	read(cell: Cell, column: Column): Reading | undefined;
}

/** A row of an evaluation. */
export interface Reading {
	readonly evaluation: Evaluation;
	readonly row: EvaluationRow;
}

const baselines = [
	{ who: "history", label: "own history", ofOnset: "regression per code" },
	{ who: "global", label: "code frequencies", ofOnset: "age and sex" },
	{ who: "oracle", label: "reference model", ofOnset: "reference model" },
] as const;

/** A baseline's label in a table of these columns: task onset has baselines of its own. */
function baselineLabel(columns: readonly Column[], { label, ofOnset }: (typeof baselines)[number]) {
	const isOnset = columns.map(({ task }) => task === "onset");
	if (label === ofOnset || isOnset.every(Boolean)) return ofOnset;
	return isOnset.some(Boolean) ? `${label} (onset: ${ofOnset})` : label;
}

/** The lines with results: first trained models, then baselines. */
export function sourcesOf(
	columns: readonly Column[],
	ways: readonly Way[],
	cells: readonly Cell[],
): Source[] {
	// Methods matter for forecasts only.
	const forecasts = columns.some(({ task }) => task === "forecast");
	const shown = ways.filter(({ first }) => first || forecasts);
	const trained = shown.map(
		(way): Source => ({
			...{ label: forecasts ? way.label : way.entry.label, group: way.entry.group, way },
			cells: cells.filter(({ entry }) => entry === way.entry.id),
			read: (cell, column) =>
				way.first || column.task === "forecast"
					? rowIn(cell, column, (row) => row.who === "model" && reads(column, row, way.method))
					: undefined,
		}),
	);
	const others = baselines.map(
		(baseline): Source => ({
			...{ label: baselineLabel(columns, baseline), group: "counts" },
			cells: cells.filter(({ entry }) => entry === null),
			read: (cell, column) =>
				rowIn(cell, column, (row) => row.who === baseline.who && reads(column, row, undefined)),
		}),
	);
	const says = ({ cells, read }: Source) =>
		cells.some((cell) => columns.some((column) => read(cell, column)));
	return [...trained.filter((source) => source.cells.length > 0), ...others.filter(says)];
}

function rowIn(
	{ evaluations }: Cell,
	{ task, metric }: Column,
	wanted: (row: EvaluationRow) => boolean,
): Reading | undefined {
	const evaluation = evaluations[task];
	const row = evaluation?.rows.find(wanted);
	return evaluation && row?.metrics[metric] ? { evaluation, row } : undefined;
}

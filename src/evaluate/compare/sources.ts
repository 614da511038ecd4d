import type { Evaluation, EvaluationRow, Method } from "../evaluation.js";
import type { Cell, Entry } from "./cell.js";
import { type Column, reads } from "./columns.js";

/** A line in one of its ways to forecast. */
export interface Way {
	readonly entry: Entry;
	readonly method: Method;
	/** Of those after the first, labelled tasks say nothing new. */
	readonly first: boolean;
	readonly label: string;
	/** The line that it is held against. */
	readonly against?: Entry | undefined;
}

/** What a line of the table is read from. */
export interface Source {
	readonly label: string;
	readonly group: string;
	/** None of what is not trained. */
	readonly way?: Way;
	readonly cells: readonly Cell[];
	/** What one of its cells says in a column, if anything. */
	read(cell: Cell, column: Column): Reading | undefined;
}

/** A row of an evaluation. */
export interface Reading {
	readonly evaluation: Evaluation;
	readonly row: EvaluationRow;
}

const baselines = [
	{ who: "history", label: "own history" },
	{ who: "global", label: "code frequencies" },
	{ who: "oracle", label: "oracle" },
] as const;

/** The lines of which there is something to tell: first what was trained, then who stands beside it. */
export function sourcesOf(
	columns: readonly Column[],
	ways: readonly Way[],
	cells: readonly Cell[],
): Source[] {
	// Without forecasts there are no ways to tell apart.
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
		({ who, label }): Source => ({
			...{ label, group: "counts" },
			cells: cells.filter(({ entry }) => entry === null),
			read: (cell, column) =>
				rowIn(cell, column, (row) => row.who === who && reads(column, row, undefined)),
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

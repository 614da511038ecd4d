import type { Measure } from "../bootstrap.js";
import type { Evaluation, Method } from "../evaluation.js";
import { overRuns, tInterval } from "../over-runs.js";
import type { Cell, Entry } from "./cell.js";
import { type Column, reads } from "./columns.js";

/** A line of the table. */
export interface Line {
	readonly label: string;
	readonly group: string;
	/** 0 for what is not trained. */
	readonly seeds: number;
	/** One for each column; undefined where there is none. */
	readonly values: readonly (Measure | undefined)[];
	readonly training?: NonNullable<Cell["training"]> | undefined;
}

/** One line less another, seed by seed: what the seed does to both is taken off. */
export interface Difference {
	readonly line: string;
	readonly than: string;
	readonly seeds: number;
	/** One for each column; undefined where they have fewer than two seeds in common. */
	readonly values: readonly (Measure | undefined)[];
}

/** A table: the paper's layout, with intervals. */
export interface Comparison {
	readonly columns: readonly Column[];
	readonly lines: readonly Line[];
	readonly differences: readonly Difference[];
	/** Lines that failed, and why. */
	readonly failed: readonly { readonly label: string; readonly reason: string }[];
	readonly notes: readonly string[];
}

/** A line in one of its ways to forecast. */
export interface Way {
	readonly entry: Entry;
	readonly method: Method;
	/** Of those after the first, labelled tasks say nothing new. */
	readonly first: boolean;
	readonly label: string;
	/** The line it is held against. */
	readonly against?: Entry | undefined;
}

const opponentLines = [
	{ who: "history", label: "own history" },
	{ who: "global", label: "code frequencies" },
	{ who: "oracle", label: "oracle" },
] as const;

export function comparisonOf(
	columns: readonly Column[],
	ways: readonly Way[],
	cells: readonly Cell[],
	failed: Comparison["failed"],
): Comparison {
	const cellsOf = (entry: Entry) => cells.filter((cell) => cell.entry === entry.id);
	const lines = ways.flatMap((way): Line[] => {
		const { entry, first, label } = way;
		const own = cellsOf(entry);
		if (own.length === 0) return [];
		const values = columns.map((column) =>
			measureOf(
				own.flatMap(({ evaluations }) => evaluations[column.task] ?? []),
				column,
				way,
			),
		);
		const training = first ? meanTraining(own) : undefined;
		return [
			{ label, group: entry.group, seeds: own.length, values, ...(training && { training }) },
		];
	});
	const differences = ways.flatMap((way): Difference[] => {
		const than = ways.find(({ entry, first }) => entry === way.against && first);
		if (!way.first || !than) return [];
		const own = cellsOf(way.entry).flatMap((cell) => {
			const other = cellsOf(than.entry).find(({ seed }) => seed === cell.seed);
			return other ? [{ cell, other }] : [];
		});
		if (own.length < 2) return [];
		const values = columns.map((column) => {
			const between = own.flatMap(({ cell, other }) => {
				const one = measureOf(evaluationsOf(cell, column), column, way);
				const two = measureOf(evaluationsOf(other, column), column, than);
				return one && two ? [one.value - two.value] : [];
			});
			return between.length < 2 ? undefined : tInterval(between);
		});
		return [{ line: way.label, than: than.label, seeds: own.length, values }];
	});
	const counted = cells.find(({ entry }) => entry === null);
	const others = opponentLines.flatMap(({ who, label }): Line[] => {
		if (!counted) return [];
		const values = columns.map((column) => {
			const evaluation = counted.evaluations[column.task];
			const row = evaluation?.rows.find((one) => one.who === who && reads(column, one, undefined));
			return row?.metrics[column.metric];
		});
		return values.some((value) => value !== undefined)
			? [{ label, group: "counts", seeds: 0, values }]
			: [];
	});
	return {
		columns,
		lines: [...lines, ...others],
		differences,
		failed,
		notes: notesOf(lines, cells),
	};
}

const evaluationsOf = ({ evaluations }: Cell, { task }: Column): Evaluation[] => {
	const own = evaluations[task];
	return own ? [own] : [];
};

/** What a line says in a column; of several seeds their mean. Ways after the first say nothing new of labels. */
function measureOf(
	evaluations: readonly Evaluation[],
	column: Column,
	{ method, first }: Way,
): Measure | undefined {
	if (!first && column.task !== "forecast") return undefined;
	const rows = evaluations.length > 1 ? overRuns(evaluations).rows : (evaluations[0]?.rows ?? []);
	const own = rows.find((row) => row.who === "model" && reads(column, row, method));
	return own?.metrics[column.metric];
}

function meanTraining(cells: readonly Cell[]): Line["training"] {
	const all = cells.flatMap(({ training }) => training ?? []);
	const [first] = all;
	if (!first) return undefined;
	const mean = (of: (one: NonNullable<Cell["training"]>) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		...first,
		secondsPerEpoch: mean(({ secondsPerEpoch }) => secondsPerEpoch),
		peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
	};
}

function notesOf(lines: readonly Line[], cells: readonly Cell[]): string[] {
	const [one] = cells.flatMap(({ evaluations }) => Object.values(evaluations));
	const notes: string[] = [];
	if (lines.some(({ seeds }) => seeds > 1))
		notes.push("of several seeds: mean, and 95 % t-interval over the seeds");
	if (one)
		notes.push(
			`of one seed, and of counts: 95 % interval over patients, ${one.draws} draws (seed ${one.seed}), split ${one.split}`,
		);
	for (const { evaluations } of cells)
		for (const { task, patients } of Object.values(evaluations)) {
			const note = `${task}: ${patients} patients`;
			if (!notes.includes(note)) notes.push(note);
		}
	for (const reason of new Set(cells.flatMap(({ left }) => Object.values(left))))
		notes.push(`not measured: ${reason}`);
	return notes;
}

/** The best and the second best trained line of each column: their numbers among the lines. */
export function leaders({ columns, lines }: Comparison): { best?: number; second?: number }[] {
	return columns.map(({ best }, at) => {
		const ranked = lines
			.map(({ values, seeds }, line) => ({ line, seeds, value: values[at]?.value }))
			.filter(({ value, seeds }) => value !== undefined && seeds > 0)
			.sort((a, b) => (b.value as number) - (a.value as number));
		if (best === "lowest") ranked.reverse();
		const [first, second] = ranked;
		return { ...(first && { best: first.line }), ...(second && { second: second.line }) };
	});
}

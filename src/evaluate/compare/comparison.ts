import { type Drawn, type Measure, measureOf } from "../bootstrap.js";
import { tInterval } from "../over-runs.js";
import type { Cell } from "./cell.js";
import type { Column } from "./columns.js";
import { type Source, sourcesOf, type Way } from "./sources.js";
import { drawnTogether, seedMean } from "./together.js";

/** The mean over seeds, with its 95 % interval over patients. */
export interface LineMeasure extends Measure {
	/** The standard deviation over seeds, where there are several. */
	readonly seedDeviation?: number;
}

/** A line of the table. */
export interface Line {
	readonly label: string;
	readonly group: string;
	/** 0 for what is not trained. */
	readonly seeds: number;
	/** One for each column; undefined where there is none. */
	readonly values: readonly (LineMeasure | undefined)[];
	readonly training?: NonNullable<Cell["training"]> | undefined;
}

/** One line less another. Values are one for each column; undefined where there is none. */
export interface Difference {
	readonly line: string;
	readonly than: string;
	/** Of the means over seeds, on the same patients: 95 % intervals over patients. */
	readonly overPatients: readonly (Measure | undefined)[];
	/** Seed by seed, so that what the seed does to both is taken off: 95 % t-intervals over the seeds both have. */
	readonly overSeeds: readonly (Measure | undefined)[];
	/** Those both have. */
	readonly seeds: number;
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

export function comparisonOf(
	columns: readonly Column[],
	ways: readonly Way[],
	cells: readonly Cell[],
	failed: Comparison["failed"],
	notes: readonly string[] = [],
): Comparison {
	const sources = sourcesOf(columns, ways, cells);
	const drawn = drawnTogether(columns, sources);
	return {
		columns,
		lines: sources.map((source): Line => {
			const training = source.way?.first ? meanTraining(source.cells) : undefined;
			return {
				...{ label: source.label, group: source.group },
				seeds: source.way ? source.cells.length : 0,
				values: columns.map((column) => lineMeasure([...drawn(source, column).values()])),
				...(training && { training }),
			};
		}),
		differences: sources.flatMap((source): Difference[] => {
			const than = heldAgainst(source, sources);
			if (!than) return [];
			const pairs = columns.map((column) => [drawn(source, column), drawn(than, column)] as const);
			const bySeed = pairs.map(([own, other]) =>
				[...own].flatMap(([seed, { value }]) => {
					const same = other.get(seed);
					return same ? [value - same.value] : [];
				}),
			);
			return [
				{
					...{ line: source.label, than: than.label },
					overPatients: pairs.map(([own, other]) => paired(seedMean(own), seedMean(other))),
					overSeeds: bySeed.map((values) => (values.length < 2 ? undefined : tInterval(values))),
					seeds: Math.max(...bySeed.map(({ length }) => length)),
				},
			];
		}),
		failed,
		notes: [...notesOf(cells), ...notes],
	};
}

/** Counts and the oracle are held against the line that is held against none. */
function heldAgainst(source: Source, sources: readonly Source[]): Source | undefined {
	const { way } = source;
	const first = sources.find((other) => other.way && !other.way.against)?.way?.entry;
	const against = way ? way.against : first;
	return sources.find(
		(other) => other !== source && other.way?.first && other.way.entry === against,
	);
}

function lineMeasure(seeds: readonly Drawn[]): LineMeasure | undefined {
	const mean = seedMean(new Map(seeds.entries()));
	if (!mean) return undefined;
	const squares = seeds.reduce((sum, { value }) => sum + (value - mean.value) ** 2, 0);
	return {
		...measureOf(mean),
		...(seeds.length > 1 && { seedDeviation: Math.sqrt(squares / (seeds.length - 1)) }),
	};
}

const paired = (one: Drawn | undefined, other: Drawn | undefined): Measure | undefined =>
	one &&
	other &&
	measureOf({
		value: one.value - other.value,
		drawn: one.drawn.map((value, at) => value - (other.drawn[at] as number)),
	});

function meanTraining(cells: readonly Cell[]): Line["training"] {
	const all = cells.flatMap(({ training }) => training ?? []);
	const [first] = all;
	if (!first) return undefined;
	const mean = (of: (one: NonNullable<Cell["training"]>) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		...first,
		cpuSecondsPerEpoch: mean(({ cpuSecondsPerEpoch }) => cpuSecondsPerEpoch),
		peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
	};
}

function notesOf(cells: readonly Cell[]): string[] {
	const [one] = cells.flatMap(({ evaluations }) => Object.values(evaluations));
	const notes: string[] = [];
	if (one)
		notes.push(
			`intervals: 95 %, over patients of split ${one.split}, of the mean over seeds; ${one.draws} bootstrap draws (seed ${one.seed}), the same for every line; sd: standard deviation over seeds`,
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

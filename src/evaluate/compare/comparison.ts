import { InputError } from "../../base/errors.js";
import { tInterval } from "../across-runs.js";
import {
	type Drawn,
	difference,
	drawPatients,
	measureOf,
	possible,
	type Statistic,
} from "../bootstrap.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { statisticsOf, unpacked, unpackedFloats } from "../rows.js";
import {
	type Cell,
	type Column,
	type ComparedMethod,
	type ComparedModel,
	type Reading,
	type Source,
	sourcesOf,
} from "./cells.js";

/** The mean over seeds, with its 95 % interval over patients. */
export interface LineMeasure extends Measure {
	/** The standard deviation over seeds, if there are several. */
	readonly seedDeviation?: number;
}

/** A line of the table. */
export interface Line {
	readonly label: string;
	readonly group: string;
	/** 0 for baselines. */
	readonly seeds: number;
	/** One value per column; undefined if there is none. */
	readonly values: readonly (LineMeasure | undefined)[];
	readonly training?: NonNullable<Cell["training"]> | undefined;
}

/** One line minus another: one value per column, undefined if there is none. */
export interface Difference {
	readonly line: string;
	readonly than: string;
	/** Differences of the means over seeds, with paired 95 % intervals over patients. */
	readonly overPatients: readonly (Measure | undefined)[];
	/** Differences paired by seed, with 95 % t-intervals over the common seeds. */
	readonly overSeeds: readonly (Measure | undefined)[];
	/** The number of common seeds. */
	readonly seeds: number;
}

/** A table in the paper's layout, with intervals. */
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
	methods: readonly ComparedMethod[],
	cells: readonly Cell[],
	failed: Comparison["failed"],
	notes: readonly string[] = [],
): Comparison {
	const sources = sourcesOf(columns, methods, cells);
	const drawn = pairedBootstrap(columns, sources);
	const byLine = columns.some(({ task, method }) => task === "forecast" && !method);
	// Baselines are compared with the reference line, the one that is compared with no other.
	const reference = methods.find((compared) => !compared.against)?.entry;
	const against = ({ compared }: Source) => (compared ? compared.against : reference);
	const lines = sources.map((source): Line => {
		const training = source.compared?.first ? meanTraining(source.cells) : undefined;
		return {
			label: source.label,
			group: source.group,
			seeds: source.compared ? source.cells.length : 0,
			values: columns.map((column) =>
				lineMeasure([...drawn(source, column).values()], column.metric),
			),
			...(training && { training }),
		};
	});
	return {
		columns,
		lines,
		differences: sources.flatMap((source): Difference[] => {
			const compared = comparedWith(source, sources, against(source));
			if (!compared) return [];
			const pairs = columns.map(
				(column) =>
					[
						drawn(source, column),
						drawn(column.task === "forecast" ? compared.forecast : compared.first, column),
					] as const,
			);
			const bySeed = pairs.map(([drawn, other]) =>
				[...drawn].flatMap(([seed, { value }]) => {
					const same = other.get(seed);
					return same ? [value - same.value] : [];
				}),
			);
			return [
				{
					...(byLine
						? differenceLabels(source, compared.forecast)
						: { line: source.label, than: compared.first.label }),
					overPatients: pairs.map(([drawn, other]) => paired(seedMean(drawn), seedMean(other))),
					overSeeds: bySeed.map((values) => (values.length < 2 ? undefined : tInterval(values))),
					seeds: Math.max(...bySeed.map(({ length }) => length)),
				},
			];
		}),
		failed,
		notes: [
			...drawingNotes(cells),
			...notMeasuredNotes(methods, cells),
			...missingNotes(sources, against),
			...providerNotes(lines),
			...notes,
		],
	};
}

/** The table in parts that are narrow enough to read: first all codes, then known and new codes apart. */
export const partsOf = ({ columns, lines, differences, ...rest }: Comparison): Comparison[] =>
	[false, true].flatMap((apart) => {
		const keep = ({ novelty }: Column) => (novelty !== undefined) === apart;
		const pick = <T>(values: readonly T[]) => values.filter((_, index) => keep(columns[index]));
		if (!columns.some(keep)) return [];
		return {
			...rest,
			columns: columns.filter(keep),
			lines: lines.map((line) => ({ ...line, values: pick(line.values) })),
			differences: differences.map((one) => ({
				...one,
				overPatients: pick(one.overPatients),
				overSeeds: pick(one.overSeeds),
			})),
		};
	});

/** The line to compare with: for forecasts, and for the other tasks, which have no methods. */
interface ComparedWith {
	readonly first: Source;
	readonly forecast: Source;
}

/** Forecasts are compared with the same method of the other line, or else with its first method. */
function comparedWith(
	source: Source,
	sources: readonly Source[],
	against: ComparedModel | undefined,
): ComparedWith | undefined {
	const methods = sources.filter(({ compared }) => compared && compared.entry === against);
	const first = methods.find(({ compared }) => compared?.first);
	if (!first || first === source) return undefined;
	const same = methods.find(
		(other) => other !== source && other.compared?.method === source.compared?.method,
	);
	return { first, forecast: same ?? first };
}

/** The labels of a difference; they name the methods only if these differ. */
function differenceLabels(
	source: Source,
	than: Source,
): { readonly line: string; readonly than: string } {
	const [compared, other] = [source.compared, than.compared];
	if (!compared || !other || compared.method === other.method)
		return { line: source.label, than: than.label };
	const nameOf = ({ entry, method }: ComparedMethod) => `${entry.label} (${method})`;
	return { line: nameOf(compared), than: nameOf(other) };
}

function lineMeasure(seeds: readonly Drawn[], metric: string): LineMeasure | undefined {
	const mean = seedMean(new Map(seeds.entries()));
	if (!mean) return undefined;
	const squares = seeds.reduce((sum, { value }) => sum + (value - mean.value) ** 2, 0);
	return {
		...possible(metric, measureOf(mean)),
		...(seeds.length > 1 && { seedDeviation: Math.sqrt(squares / (seeds.length - 1)) }),
	};
}

const paired = (one: Drawn | undefined, other: Drawn | undefined): Measure | undefined =>
	one && other && measureOf(difference(one, other));

function meanTraining(cells: readonly Cell[]): Line["training"] {
	const all = cells.flatMap(({ training }) => training ?? []);
	const [first] = all;
	if (!first) return undefined;
	const mean = (of: (one: NonNullable<Cell["training"]>) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	const elsewhere = all.find(({ provider = "cpu" }) => provider !== "cpu");
	return {
		...(elsewhere ?? first),
		cpuSecondsPerEpoch: mean(({ cpuSecondsPerEpoch }) => cpuSecondsPerEpoch),
		...(all.every(({ seconds }) => seconds !== undefined) && {
			seconds: mean(({ seconds = 0 }) => seconds),
		}),
		peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
	};
}

/** The indices of the best and second-best trained line of each column. */
export function bestOfColumns({
	columns,
	lines,
}: Comparison): { best?: number; second?: number }[] {
	return columns.map(({ best }, index) => {
		const ranked = lines
			.map(({ values, seeds }, line) => ({ line, seeds, value: values[index]?.value }))
			.filter(({ value, seeds }) => value !== undefined && seeds > 0)
			.sort((a, b) => (b.value as number) - (a.value as number));
		if (best === "lowest") ranked.reverse();
		const [first, second] = ranked;
		return { ...(first && { best: first.line }), ...(second && { second: second.line }) };
	});
}

/** Describes the intervals and the number of patients. */
function drawingNotes(cells: readonly Cell[]): string[] {
	const evaluations = cells.flatMap((cell) => Object.values(cell.evaluations));
	const [one] = evaluations;
	if (!one) return [];
	return [
		`intervals: 95 %, over patients of split ${one.split}, of the mean over seeds; ${one.draws} bootstrap draws (seed ${one.seed}), the same for every line; sd: standard deviation over seeds`,
		...new Set(
			evaluations.map(({ task, patients, newCodes, tooFew }) =>
				tooFew
					? `${task}: ${tooFew}`
					: newCodes && task === "forecast"
						? `${task}: ${patients} patients; ${(100 * newCodes.value).toFixed(1)} % [${(100 * newCodes.low).toFixed(1)}, ${(100 * newCodes.high).toFixed(1)}] of the codes are new for the patient, the others known from the look-up window`
						: `${task}: ${patients} patients`,
			),
		),
	];
}

/** Lists the tasks that were not measured, for which lines and why. */
function notMeasuredNotes(methods: readonly ComparedMethod[], cells: readonly Cell[]): string[] {
	const labels = new Map(methods.map(({ entry }) => [entry.id, entry.label]));
	const reasons: { task: string; reason: string; lines: Set<string> }[] = [];
	for (const { entry, left } of cells)
		for (const [task, reason] of Object.entries(left)) {
			const label = entry === null ? "counts" : (labels.get(entry) ?? entry);
			const same = reasons.find((one) => one.task === task && one.reason === reason);
			if (same) same.lines.add(label);
			else reasons.push({ task, reason, lines: new Set([label]) });
		}
	return reasons.map(
		({ task, reason, lines }) => `${task} not measured of ${[...lines].join(", ")}: ${reason}`,
	);
}

/** Lists lines without differences because the line to compare with has no result. */
function missingNotes(
	sources: readonly Source[],
	against: (source: Source) => ComparedModel | undefined,
): string[] {
	const there = new Set(sources.map(({ compared }) => compared?.entry));
	const without = new Map<ComparedModel, string[]>();
	for (const source of sources) {
		const other = against(source);
		if (other && !there.has(other))
			without.set(other, [...(without.get(other) ?? []), source.label]);
	}
	return [...without].map(
		([{ label }, lines]) =>
			`no differences from ${label}, which has no result: ${lines.join(", ")}`,
	);
}

/** Lists lines that were not trained on the CPU. */
function providerNotes(lines: readonly Line[]): string[] {
	const labels = new Map<string, string[]>();
	for (const { label, training } of lines) {
		const { provider = "cpu" } = training ?? {};
		if (provider !== "cpu") labels.set(provider, [...(labels.get(provider) ?? []), label]);
	}
	return [...labels].map(
		([provider, lineLabels]) =>
			`trained on ${provider}, so that CPU seconds and memory would not tell what it took: ${lineLabels.join(", ")}`,
	);
}

/** The values of a line in a column, by seed. */
type BySeed = ReadonlyMap<number, Drawn>;

/**
 * Bootstraps the patients of each task once and evaluates all lines and seeds on the same draws; tasks that were
 * measured on such draws already are read.
 */
function pairedBootstrap(
	columns: readonly Column[],
	sources: readonly Source[],
): (source: Source, column: Column) => BySeed {
	const byColumn = new Map<Column, Map<Source, BySeed>>();
	for (const task of new Set(columns.map((column) => column.task))) {
		const readings = columns
			.filter((column) => column.task === task)
			.flatMap((column) =>
				sources.flatMap((source) =>
					source.cells.flatMap((cell) => {
						const reading = source.read(cell, column);
						return reading ? [{ column, source, seed: cell.seed, reading }] : [];
					}),
				),
			);
		const [first] = readings;
		if (!first) continue;
		const { evaluation } = first.reading;
		for (const { reading } of readings) checkSame(evaluation, reading.evaluation);
		const statistics = statisticReader();
		const drawn: Readonly<Record<number, Drawn>> = first.reading.row.byDraw
			? readings.map(({ column, reading }) => drawnIn(reading, column.metric))
			: drawPatients(
					evaluation.patients,
					Object.fromEntries(
						readings.map(({ column, reading }, index) => [
							index,
							statistics(reading, column.metric),
						]),
					),
					evaluation,
				);
		for (const [index, { column, source, seed }] of readings.entries()) {
			const lines = byColumn.get(column) ?? new Map<Source, Map<number, Drawn>>();
			byColumn.set(column, lines.set(source, new Map(lines.get(source)).set(seed, drawn[index])));
		}
	}
	return (source, column) => byColumn.get(column)?.get(source) ?? new Map();
}

/** What was measured on each draw. */
function drawnIn({ row, evaluation }: Reading, metric: string): Drawn {
	const drawn = row.byDraw?.[metric];
	const value = row.metrics[metric]?.value;
	if (drawn === undefined || value === undefined)
		throw new InputError(
			`the evaluation of ${row.label} on ${evaluation.task} has no draws of ${metric}; evaluate it again`,
		);
	return { value, drawn: unpackedFloats(drawn) };
}

/** Unpacks the per-patient values of each row once, for all its metrics. */
function statisticReader(): (reading: Reading, metric: string) => Statistic {
	const unpackedRows = new Map<EvaluationRow, Readonly<Record<string, Statistic>>>();
	return ({ row, evaluation }, metric) => {
		if (!row.byPatient)
			throw new InputError(
				`the evaluation of ${row.label} on ${evaluation.task} has no per-patient values; evaluate it again`,
			);
		const statistics = unpackedRows.get(row) ?? statisticsOf(unpacked(row.byPatient));
		unpackedRows.set(row, statistics);
		const statistic = statistics[metric];
		if (!statistic) throw new InputError(`${row.label} has no per-patient values of ${metric}`);
		return statistic;
	};
}

/** Paired draws need lines that were measured on the same patients. */
function checkSame(one: Evaluation, other: Evaluation): void {
	const what = ({ made, split, patients, events, seed, draws, onset }: Evaluation) =>
		`${patients} patients (${events} events) of split ${split} of ${made.dataset}, ${draws} draws of seed ${seed}${onset ? `, ${onset.horizons.map(({ codes }) => codes).join(" and ")} codes` : ""}`;
	if (what(one) !== what(other))
		throw new InputError(
			`${one.task} was measured on different data: ${what(one)}, and ${what(other)}; evaluate both again`,
		);
}

/** The mean over seeds, for all patients and for each draw. */
function seedMean(bySeed: BySeed): Drawn | undefined {
	const all = [...bySeed.values()];
	const [first] = all;
	if (!first) return undefined;
	const mean = (of: (one: Drawn) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		value: mean(({ value }) => value),
		drawn: first.drawn.map((_, index) => mean(({ drawn }) => drawn[index])),
	};
}

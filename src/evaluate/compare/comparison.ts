import { InputError } from "../../base/errors.js";
import { mapValues } from "../../base/map-values.js";
import { type Drawn, difference, drawPatients, measureOf, possible } from "../bootstrap.js";
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

export interface Line {
	readonly label: string;
	readonly group: string;
	/** 0 for baselines. */
	readonly seeds: number;
	/** One value per column; undefined if there is none. */
	readonly values: readonly (LineMeasure | undefined)[];
	readonly training?: Training | undefined;
}

type Training = NonNullable<Cell["training"]>;

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
		const { label, group, compared } = source;
		const training = compared?.first ? meanTraining(source.cells) : undefined;
		return {
			label,
			group,
			seeds: compared ? source.cells.length : 0,
			values: drawn(source).map((bySeed, index) => lineMeasure(bySeed, columns[index].metric)),
			...(training && { training }),
		};
	});
	const differences = sources.flatMap((source): Difference[] => {
		// Forecasts are compared with the same method of the other line, or else with its first method.
		const others = sources.filter(({ compared }) => compared && compared.entry === against(source));
		const first = others.find(({ compared }) => compared?.first);
		if (!first || first === source) return [];
		const method = source.compared?.method;
		const sameMethod = others.find((one) => one !== source && one.compared?.method === method);
		const forecast = sameMethod ?? first;
		const pairs = columns.map(({ task }, index) => {
			const than = task === "forecast" ? forecast : first;
			return [drawn(source)[index], drawn(than)[index]] as const;
		});
		const bySeed = pairs.map(([one, other]) =>
			[...one].flatMap(([seed, { value }]) => {
				const same = other.get(seed);
				return same ? [value - same.value] : [];
			}),
		);
		return [
			{
				...differenceLabels(source, byLine ? forecast : first, byLine),
				overPatients: pairs.map(([one, other]) => {
					const [mean, otherMean] = [seedMean(one), seedMean(other)];
					return mean && otherMean && measureOf(difference(mean, otherMean));
				}),
				overSeeds: bySeed.map((values) => (values.length < 2 ? undefined : tInterval(values))),
				seeds: Math.max(...bySeed.map(({ length }) => length)),
			},
		];
	});
	return {
		columns,
		lines,
		differences,
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

/** The labels of a difference; they name the methods only if these differ. */
function differenceLabels(source: Source, than: Source, byLine: boolean) {
	const [compared, other] = [source.compared, than.compared];
	if (!byLine || !compared || !other || compared.method === other.method)
		return { line: source.label, than: than.label };
	const nameOf = ({ entry, method }: ComparedMethod) => `${entry.label} (${method})`;
	return { line: nameOf(compared), than: nameOf(other) };
}

function lineMeasure(bySeed: BySeed, metric: string): LineMeasure | undefined {
	const mean = seedMean(bySeed);
	if (!mean) return undefined;
	const squares = [...bySeed.values()].reduce((sum, one) => sum + (one.value - mean.value) ** 2, 0);
	return {
		...possible(metric, measureOf(mean)),
		...(bySeed.size > 1 && { seedDeviation: Math.sqrt(squares / (bySeed.size - 1)) }),
	};
}

function meanTraining(cells: readonly Cell[]): Training | undefined {
	const all = cells.flatMap(({ training }) => training ?? []);
	if (all.length === 0) return undefined;
	const mean = (of: (one: Training) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		...(all.find((training) => !isOnCpu(training)) ?? all[0]),
		cpuSecondsPerEpoch: mean(({ cpuSecondsPerEpoch }) => cpuSecondsPerEpoch),
		...(all.every(({ seconds }) => seconds !== undefined) && {
			seconds: mean(({ seconds = 0 }) => seconds),
		}),
		peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
	};
}

/** CPU time and memory mean little for a model that was trained on another device. */
export const isOnCpu = ({ provider = "cpu" }: Training) => provider === "cpu";

/** The indices of the best and second-best trained line of each column. */
export const bestOfColumns = ({
	columns,
	lines,
}: Comparison): { best?: number | undefined; second?: number | undefined }[] =>
	columns.map(({ best: direction }, index) => {
		const ranked = lines
			.map(({ values, seeds }, line) => ({ line, seeds, value: values[index]?.value }))
			.filter(({ value, seeds }) => value !== undefined && seeds > 0)
			.sort((a, b) => (b.value as number) - (a.value as number));
		const [best, second] = direction === "lowest" ? ranked.reverse() : ranked;
		return { best: best?.line, second: second?.line };
	});

function drawingNotes(cells: readonly Cell[]): string[] {
	const evaluations = cells.flatMap((cell) => Object.values(cell.evaluations));
	if (evaluations.length === 0) return [];
	const [{ split, draws, seed }] = evaluations;
	const percent = (share: number) => (100 * share).toFixed(1);
	const noteOf = ({ task, patients, newCodes, tooFew }: Evaluation) => {
		if (tooFew) return `${task}: ${tooFew}`;
		if (!newCodes || task !== "forecast") return `${task}: ${patients} patients`;
		const { value, low, high } = newCodes;
		return `${task}: ${patients} patients; ${percent(value)} % [${percent(low)}, ${percent(high)}] of the codes are new for the patient, the others known from the look-up window`;
	};
	return [
		`intervals: 95 %, over patients of split ${split}, of the mean over seeds; ${draws} bootstrap draws (seed ${seed}), the same for every line; sd: standard deviation over seeds`,
		...new Set(evaluations.map(noteOf)),
	];
}

/** One note per text, with the labels that it is about. */
function grouped(
	notes: Iterable<readonly [text: string, label: string]>,
	write: (text: string, labels: string) => string,
): string[] {
	const labels = new Map<string, Set<string>>();
	for (const [text, label] of notes) labels.set(text, (labels.get(text) ?? new Set()).add(label));
	return Array.from(labels, ([text, those]) => write(text, [...those].join(", ")));
}

function notMeasuredNotes(methods: readonly ComparedMethod[], cells: readonly Cell[]): string[] {
	const labelOf = (id: string | null) =>
		id === null ? "counts" : (methods.find(({ entry }) => entry.id === id)?.entry.label ?? id);
	return grouped(
		cells.flatMap(({ entry, left }) =>
			Object.entries(left).map(([task, why]) => [`${task}\n${why}`, labelOf(entry)] as const),
		),
		(text, labels) => text.replace("\n", () => ` not measured of ${labels}: `),
	);
}

/** Lists lines without differences because the line to compare with has no result. */
const missingNotes = (
	sources: readonly Source[],
	against: (source: Source) => ComparedModel | undefined,
): string[] =>
	grouped(
		sources.flatMap((source) => {
			const other = against(source);
			return other && !sources.some(({ compared }) => compared?.entry === other)
				? [[other.label, source.label] as const]
				: [];
		}),
		(label, labels) => `no differences from ${label}, which has no result: ${labels}`,
	);

const providerNotes = (lines: readonly Line[]): string[] =>
	grouped(
		lines.flatMap(({ label, training }) =>
			training && !isOnCpu(training) ? [[training.provider as string, label] as const] : [],
		),
		(provider, labels) =>
			`trained on ${provider}, so that CPU seconds and memory would not tell what it took: ${labels}`,
	);

/** The values of a line in a column, by seed. */
type BySeed = ReadonlyMap<number, Drawn>;

/**
 * Bootstraps the patients of each task once and evaluates all lines and seeds on the same draws; tasks that were
 * measured on such draws already are read. Returns the values of a line by column.
 */
function pairedBootstrap(
	columns: readonly Column[],
	sources: readonly Source[],
): (source: Source) => readonly BySeed[] {
	const drawn = new Map(
		sources.map((source) => [source, columns.map(() => new Map<number, Drawn>())]),
	);
	const readings = sources.flatMap((source) =>
		source.cells.flatMap((cell) =>
			columns.flatMap((column, index) => {
				const reading = source.read(cell, column);
				const bySeed = drawn.get(source)?.[index];
				return reading && bySeed ? [{ ...reading, column, seed: cell.seed, bySeed }] : [];
			}),
		),
	);
	for (const task of new Set(columns.map((column) => column.task))) {
		const ofTask = readings.filter(({ column }) => column.task === task);
		if (ofTask.length === 0) continue;
		const [{ evaluation, row }] = ofTask;
		for (const reading of ofTask) checkSame(evaluation, reading.evaluation);
		const statisticsOfRow = new Map<Reading["row"], ReturnType<typeof statisticsOf>>();
		const statisticOf = ({ row, evaluation }: Reading, metric: string) => {
			if (!row.byPatient)
				throw new InputError(
					`the evaluation of ${row.label} on ${evaluation.task} has no per-patient values; evaluate it again`,
				);
			const statistics = statisticsOfRow.get(row) ?? statisticsOf(unpacked(row.byPatient));
			statisticsOfRow.set(row, statistics);
			if (!statistics[metric])
				throw new InputError(`${row.label} has no per-patient values of ${metric}`);
			return statistics[metric];
		};
		const values: Readonly<Record<number, Drawn>> = row.byDraw
			? ofTask.map((reading) => drawnIn(reading, reading.column.metric))
			: drawPatients(
					evaluation.patients,
					Object.fromEntries(
						ofTask.map((reading, i) => [i, statisticOf(reading, reading.column.metric)]),
					),
					evaluation,
				);
		for (const [index, { bySeed, seed }] of ofTask.entries()) bySeed.set(seed, values[index]);
	}
	return (source) => drawn.get(source) ?? [];
}

function drawnIn({ row, evaluation }: Reading, metric: string): Drawn {
	const drawn = row.byDraw?.[metric];
	const value = row.metrics[metric]?.value;
	if (drawn === undefined || value === undefined)
		throw new InputError(
			`the evaluation of ${row.label} on ${evaluation.task} has no draws of ${metric}; evaluate it again`,
		);
	return { value, drawn: unpackedFloats(drawn) };
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
	if (all.length === 0) return undefined;
	const mean = (of: (one: Drawn) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / all.length;
	return {
		value: mean(({ value }) => value),
		drawn: all[0].drawn.map((_, index) => mean(({ drawn }) => drawn[index])),
	};
}

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
function tInterval(values: readonly number[]): Measure {
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

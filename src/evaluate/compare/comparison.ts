import { InputError } from "../../base/errors.js";
import { mapValues } from "../../base/map-values.js";
import { type Drawn, difference, drawnOf, measureOf, possible } from "../bootstrap.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { type Cell, type Column, type ComparedMethod, type ComparedModel, shows } from "./cells.js";

/** The mean over seeds, with its 95 % interval over patients. */
export interface LineMeasure extends Measure {
	/** The standard deviation over seeds, if there are several. */
	readonly seedDeviation?: number;
}

export type Comparison = ReturnType<typeof comparisonOf>;
/** A line of the table, with one value per column; undefined if there is none. Baselines have 0 seeds. */
export type Line = Comparison["lines"][number];
/**
 * One line minus another: differences of the means over seeds, with paired intervals over patients, and differences
 * paired by seed, with t-intervals over the common seeds.
 */
export type Difference = Comparison["differences"][number];
export type Training = NonNullable<Cell["training"]>;

export function comparisonOf(
	columns: readonly Column[],
	methods: readonly ComparedMethod[],
	cells: readonly Cell[],
	failed: readonly { readonly label: string; readonly reason: string }[],
	notes: readonly string[] = [],
) {
	const sources = sourcesOf(columns, methods, cells);
	const byLine = columns.some(({ task, method }) => task === "forecast" && !method);
	// Baselines are compared with the reference line, the one that is compared with no other.
	const reference = methods.find((compared) => !compared.against)?.entry;
	const against = ({ compared }: Source) => (compared ? compared.against : reference);
	const lines = sources.map(({ label, group, compared, cells: lineCells, values }) => {
		const training = compared?.first ? meanTraining(lineCells) : undefined;
		return {
			label,
			group,
			seeds: compared ? lineCells.length : 0,
			values: values.map((bySeed, index) => lineMeasure(bySeed, columns[index].metric)),
			...(training && { training }),
		};
	});
	const differences = sources.flatMap((source) => {
		// Forecasts are compared with the same method of the other line, or else with its first method.
		const others = sources.filter(({ compared }) => compared && compared.entry === against(source));
		const first = others.find(({ compared }) => compared?.first);
		if (!first || first === source) return [];
		const method = source.compared?.method;
		const sameMethod = others.find((one) => one !== source && one.compared?.method === method);
		const forecast = sameMethod ?? first;
		const pairs = columns.map(({ task }, index) => {
			const than = task === "forecast" ? forecast : first;
			return [source.values[index], than.values[index]] as const;
		});
		const bySeed = pairs.map(([one, other]) =>
			[...one].flatMap(([seed, { value }]) => {
				const same = other.get(seed);
				return same ? [value - same.value] : [];
			}),
		);
		return {
			...differenceLabels(source, byLine ? forecast : first, byLine),
			overPatients: pairs.map(([one, other]) => {
				const [mean, otherMean] = [seedMean(one), seedMean(other)];
				return mean && otherMean && measureOf(difference(mean, otherMean));
			}),
			overSeeds: bySeed.map((values) => (values.length < 2 ? undefined : tInterval(values))),
			/** The number of common seeds. */
			seeds: Math.max(...bySeed.map(({ length }) => length)),
		};
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

/** A value on all patients and on each draw of them, by seed. */
type BySeed = ReadonlyMap<number, Drawn>;

/** A line with results: its cells, and the values that they give in each column. Baselines compare no method. */
type Source = ReturnType<typeof sourcesOf>[number];

const baselines = [
	{ who: "history", label: "own history", ofOnset: "ridge regression" },
	{ who: "trees", label: "boosted trees", ofOnset: "boosted trees" },
	{ who: "global", label: "code frequencies", ofOnset: "age and sex" },
	{ who: "oracle", label: "reference model", ofOnset: "reference model" },
] as const;

/** A baseline's label in a table of these columns: task onset has baselines of its own. */
function baselineLabel(columns: readonly Column[], { label, ofOnset }: (typeof baselines)[number]) {
	const isOnset = columns.map(({ task }) => task === "onset");
	if (label === ofOnset || isOnset.every(Boolean)) return ofOnset;
	return isOnset.some(Boolean) ? `${label} (onset: ${ofOnset})` : label;
}

/** The lines with results, all of a task measured on the same draws: first trained models, then baselines. */
function sourcesOf(
	columns: readonly Column[],
	methods: readonly ComparedMethod[],
	cells: readonly Cell[],
) {
	const measuredFirst = new Map<string, Evaluation>();
	const valuesOf = (
		lineCells: readonly Cell[],
		isShown: (row: EvaluationRow, column: Column) => boolean,
	) =>
		columns.map((column): BySeed => {
			const bySeed = new Map<number, Drawn>();
			for (const { seed, evaluations } of lineCells) {
				const evaluation = evaluations[column.task];
				const row = evaluation?.rows.find((one) => isShown(one, column));
				if (!evaluation || !row?.metrics[column.metric]) continue;
				const first = measuredFirst.get(column.task) ?? evaluation;
				measuredFirst.set(column.task, first);
				checkSame(first, evaluation);
				bySeed.set(seed, drawnOf(row, column));
			}
			return bySeed;
		});
	// Methods matter for forecasts only.
	const forecasts = columns.some(({ task }) => task === "forecast");
	const trained = methods
		.filter(({ first }) => first || forecasts)
		.map((compared) => {
			const { entry, method, first } = compared;
			const lineCells = cells.filter((cell) => cell.entry === entry.id);
			const { label, group } = forecasts ? { ...entry, label: compared.label } : entry;
			const isShown = (row: EvaluationRow, column: Column) =>
				row.who === "model" && (first || column.task === "forecast") && shows(column, row, method);
			return { label, group, compared, cells: lineCells, values: valuesOf(lineCells, isShown) };
		});
	const baselineCells = cells.filter(({ entry }) => entry === null);
	const others = baselines.map((baseline) => ({
		label: baselineLabel(columns, baseline),
		group: "counts",
		compared: undefined,
		cells: baselineCells,
		values: valuesOf(
			baselineCells,
			(row, column) => row.who === baseline.who && shows(column, row),
		),
	}));
	return [
		...trained.filter((source) => source.cells.length > 0),
		...others.filter(({ values }) => values.some(({ size }) => size > 0)),
	];
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

/** The labels of a difference; they name the methods only if these differ. */
function differenceLabels(source: Source, than: Source, byLine: boolean) {
	const [compared, other] = [source.compared, than.compared];
	if (!byLine || !compared || !other || compared.method === other.method)
		return { line: source.label, than: than.label };
	const nameOf = ({ entry, method }: ComparedMethod) => `${entry.label} (${method})`;
	return { line: nameOf(compared), than: nameOf(other) };
}

const meanOf = (values: readonly number[]) =>
	values.reduce((sum, one) => sum + one, 0) / values.length;

function varianceOf(values: readonly number[]): number {
	const mean = meanOf(values);
	return values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
}

/** The mean over seeds, for all patients and for each draw. */
function seedMean(bySeed: BySeed): Drawn | undefined {
	const all = [...bySeed.values()];
	if (all.length === 0) return undefined;
	return {
		value: meanOf(all.map(({ value }) => value)),
		drawn: all[0].drawn.map((_, index) => meanOf(all.map(({ drawn }) => drawn[index]))),
	};
}

function lineMeasure(bySeed: BySeed, metric: string): LineMeasure | undefined {
	const mean = seedMean(bySeed);
	if (!mean) return undefined;
	const values = Array.from(bySeed.values(), ({ value }) => value);
	return {
		...possible(metric, measureOf(mean)),
		...(values.length > 1 && { seedDeviation: Math.sqrt(varianceOf(values)) }),
	};
}

function meanTraining(cells: readonly Cell[]): Training | undefined {
	const all = cells.flatMap(({ training }) => training ?? []);
	if (all.length === 0) return undefined;
	return {
		...(all.find((training) => !isOnCpu(training)) ?? all[0]),
		cpuSecondsPerEpoch: meanOf(all.map(({ cpuSecondsPerEpoch }) => cpuSecondsPerEpoch)),
		...(all.every(({ seconds }) => seconds !== undefined) && {
			seconds: meanOf(all.map(({ seconds = 0 }) => seconds)),
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
	const byText = new Map<string, Set<string>>();
	for (const [text, label] of notes) byText.set(text, (byText.get(text) ?? new Set()).add(label));
	return Array.from(byText, ([text, labels]) => write(text, [...labels].join(", ")));
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

const providerNotes = (lines: readonly { label: string; training?: Training }[]): string[] =>
	grouped(
		lines.flatMap(({ label, training }) =>
			training && !isOnCpu(training) ? [[training.provider as string, label] as const] : [],
		),
		(provider, labels) =>
			`trained on ${provider}, so that CPU seconds and memory would not tell what it took: ${labels}`,
	);

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
	const value = meanOf(values);
	if (values.length < 2) return { value, low: value, high: value };
	const half = tQuantile(values.length - 1) * Math.sqrt(varianceOf(values) / values.length);
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

import { InputError } from "../../base/errors.js";
import { mapValues } from "../../base/map-values.js";
import {
	type Drawn,
	difference,
	drawnOf,
	meanOverSeeds,
	measureOf,
	possible,
} from "../bootstrap.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import { oneSeedText, verdictOf, verdictsText } from "../margins.js";
import { normalQuantile } from "../metrics.js";
import { type Cell, type Column, type ComparedMethod, type ComparedModel, shows } from "./cells.js";

/** The mean over seeds, with its 95 % interval over patients and seeds. */
export interface LineMeasure extends Measure {
	/** The standard deviation over seeds, if there are several. */
	readonly seedDeviation?: number;
}

export type Comparison = ReturnType<typeof comparisonOf>;
/** A line of the table, with one value per column; undefined if there is none. Baselines have 0 seeds. */
export type Line = Comparison["lines"][number];
/** One line minus another: differences of the means over seeds, paired over patients, and what they say of the line. */
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
			values: values.map((bySeed, index) =>
				lineMeasure(bySeed, columns[index].metric, trainedOf(compared, label)),
			),
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
		const pairs = columns.map(({ task, metric }, index) => {
			const than = task === "forecast" ? forecast : first;
			const one = seedMean(source.values[index], trainedOf(source.compared, source.label));
			const other = seedMean(than.values[index], trainedOf(than.compared, than.label));
			if (!one || !other) return {};
			const measure = measureOf(difference(one, other));
			return { measure, verdict: verdictOf(metric, measure, other.value) };
		});
		return {
			...differenceLabels(source, byLine ? forecast : first, byLine),
			values: pairs.map(({ measure }) => measure),
			verdicts: pairs.map(({ verdict }) => verdict),
		};
	});
	return {
		columns,
		lines,
		differences,
		failed,
		notes: [
			...drawingNotes(cells),
			...(differences.some(({ verdicts }) => verdicts.some(Boolean)) ? [verdictsText] : []),
			...oneSeedNotes(lines),
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
				values: pick(one.values),
				verdicts: pick(one.verdicts),
			})),
		};
	});

/** A value on all patients and on each draw of them, by seed. */
type BySeed = ReadonlyMap<number, Drawn>;

/** A line with results: its cells, and the values that they give in each column. Baselines compare no method. */
type Source = ReturnType<typeof sourcesOf>[number];

const baselines = [
	{ who: "history", label: "own history", ofOnset: "lasso regression" },
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

/** What was trained: forecasting methods of one model draw the same seeds. */
const trainedOf = (compared: ComparedMethod | undefined, label: string) =>
	compared?.entry.id ?? label;

const seedMean = (bySeed: BySeed, trained: string): Drawn | undefined =>
	bySeed.size === 0 ? undefined : meanOverSeeds([...bySeed.values()], trained);

function lineMeasure(bySeed: BySeed, metric: string, trained: string): LineMeasure | undefined {
	const mean = seedMean(bySeed, trained);
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
		`intervals: 95 %, of the mean over seeds; ${draws} bootstrap draws (seed ${seed}) of patients of split ${split}, the same for every line, and with each draw of one seed of the line; sd: standard deviation over seeds`,
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

const oneSeedNotes = (lines: readonly { label: string; seeds: number }[]): string[] =>
	grouped(
		lines.flatMap(({ label, seeds }) => (seeds === 1 ? [[oneSeedText, label] as const] : [])),
		(text, labels) => `${text}: ${labels}`,
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
 * model and their differences have the mean over runs, with an interval over patients and runs; the share of new codes
 * and other rows are the same in every run.
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
	/** Of the runs that have the row and the metric. */
	const drawsOf = ({ rows, task }: Evaluation, label: string, metric: string): Drawn[] => {
		const row = rows.find((one) => one.label === label);
		return row?.byDraw?.[metric] === undefined ? [] : [drawnOf(row, { task, metric })];
	};
	const overRuns = (
		draws: readonly Drawn[],
		measures: (run: Evaluation) => Measure | undefined,
	): Measure =>
		draws.length > 0
			? measureOf(meanOverSeeds(draws, "runs"))
			: meanMeasure(evaluations.flatMap((run) => measures(run) ?? []));
	const rowMeasure = (label: string, metric: string): Measure => {
		const draws = evaluations.flatMap((run) => drawsOf(run, label, metric));
		const measure = overRuns(
			draws,
			({ rows }) => rows.find((row) => row.label === label)?.metrics[metric],
		);
		return possible(metric, measure);
	};
	const differenceMeasure = (row: string, than: string, metric: string): Measure => {
		const draws = evaluations.flatMap((run) =>
			drawsOf(run, row, metric).flatMap((one) =>
				drawsOf(run, than, metric).map((other) => difference(one, other)),
			),
		);
		return overRuns(
			draws,
			({ differences = [] }) =>
				differences.find((pair) => pair.row === row && pair.than === than)?.metrics[metric],
		);
	};
	return {
		runs: evaluations.length,
		...(first.newCodes && { newCodes: first.newCodes }),
		...(first.tooFew && { tooFew: first.tooFew }),
		rows: first.rows.map((row) => {
			const { byDraw: _draws, ...shown } = row;
			if (row.who !== "model") return shown;
			return {
				...shown,
				metrics: mapValues(row.metrics, (_, name) => rowMeasure(row.label, name)),
			};
		}),
		differences: (first.differences ?? []).map(({ row, than, metrics }) => ({
			row,
			than,
			metrics: mapValues(metrics, (_, name) => differenceMeasure(row, than, name)),
		})),
	};
}

/** The mean of measures that have no draws: their variance over patients, and that over runs. */
function meanMeasure(measures: readonly Measure[]): Measure {
	const values = measures.map(({ value }) => value);
	const value = meanOf(values);
	const square = meanOf(measures.map(({ low, high }) => ((high - low) / 2) ** 2));
	const half = Math.sqrt(square + normalQuantile ** 2 * varianceOf(values));
	return { value, low: value - half, high: value + half };
}

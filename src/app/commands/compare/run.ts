import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { holdingLock, replaceFile } from "../../../base/files/index.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { isPaperTask } from "../../../data/cohort/label-rules.js";
import type { Provider } from "../../../engine/runtime/index.js";
import type { Precision } from "../../../engine/tensor/index.js";
import {
	type Comparison,
	columnsOf,
	comparisonOf,
	csv,
	type Entry,
	isLabelledTask,
	isSimulated,
	latex,
	type Method,
	markdown,
	tasksOf,
	type Way,
} from "../../../evaluate/index.js";
import { modelById } from "../../../model/index.js";
import { writeFigure } from "../figure-file.js";
import type { Monitoring } from "../pretrain/training.js";
import { computeCells, type Failure } from "./cells.js";
import {
	checkLeaders,
	checkNames,
	type LineOptions,
	linesNamed,
	methodsShown,
	type SizeOptions,
	sizeLines,
	variantLines,
	variantNames,
	waysOf,
} from "./lines.js";
import { lineNotes, sampleNotes } from "./notes.js";
import { baselinesId, comparisonFiles, openPlan } from "./plan.js";

/** Options of comparisons and ablations. */
export interface ComparisonOptions extends Omit<LineOptions, "preset">, Monitoring {
	/** Training epochs. */
	readonly epochs: number;
	readonly batchSlots: number;
	/** Values of K in recall@K. */
	readonly depths: readonly number[];
	/** Number of seeds, counted from 1. */
	readonly seeds: number;
	/** Futures that the oracle samples per patient. */
	readonly futures: number;
	/** The most test patients of tasks next, forecast and onset. Default: all. */
	readonly patients?: number | undefined;
	/** Events of a row per landmark of the hazards. Default: that of `pretrain`. */
	readonly slotsPerLandmark?: number | undefined;
	/** Events per batch of fine-tuning to labels. Default: that of `finetune`. */
	readonly tuningSlots?: number | undefined;
	/** The most steps of a fine-tuning, but at least one epoch. Default: no limit. */
	readonly tuningSteps?: number | undefined;
	/** Cells computed at the same time. Default: as many as cores and memory allow. */
	readonly jobs?: number | undefined;
	readonly provider: Provider;
	readonly precision?: Precision | undefined;
}

export interface CompareOptions extends ComparisonOptions, LineOptions {
	/** Ids of the models. Default: all. */
	readonly models?: readonly string[] | undefined;
	/** Default: all tasks of the dataset but `next` and those with the paper's construction. */
	readonly tasks?: readonly string[] | undefined;
	/** Models that run with every seed; the others run with the first only. Default: all. */
	readonly leaders?: readonly string[] | undefined;
}

export interface AblateOptions extends ComparisonOptions, LineOptions {
	/** Ids of the variants. Default: all. */
	readonly variants?: readonly string[] | undefined;
	readonly tasks: readonly string[];
}

export interface ScaleOptions extends ComparisonOptions, SizeOptions {
	readonly tasks: readonly string[];
}

const defaultMethod = ({ model }: Entry) => modelById(model).forecasting.methods.slice(0, 1);

interface ComparisonRequest extends ComparisonOptions {
	readonly title: string;
	readonly entries: readonly Entry[];
	readonly ways: readonly Way[];
	readonly tasks: readonly string[];
	readonly leaders?: readonly string[] | undefined;
	/** Forecasting methods that have their own columns, instead of lines. */
	readonly methods?: readonly Method[];
}

/**
 * Trains every model with every seed and evaluates it on every task: the paper's table. The same call resumes an
 * earlier one. The table is written to `table.{json,csv,md,tex}` in the folder.
 */
export async function compare(
	dataset: Dataset,
	folder: string,
	options: CompareOptions,
): Promise<Comparison> {
	const entries = linesNamed(options.models, options);
	if (options.leaders) checkLeaders(options.leaders, entries);
	const reference = entries.find(({ id }) => id === "trajgpt") ?? entries[0];
	return compareLines(dataset, folder, {
		...options,
		title: "compare",
		entries,
		ways: waysOf(
			entries,
			({ model }) => methodsShown(model),
			(entry, _, first) => (entry === reference && first ? undefined : reference),
		),
		tasks:
			options.tasks ?? tasksOf(dataset).filter((task) => task !== "next" && !isPaperTask(task)),
	});
}

/** Trains TrajGPT with parts removed or changed, and measures what each contributes; otherwise as `compare`. */
export async function ablate(
	dataset: Dataset,
	folder: string,
	options: AblateOptions,
): Promise<Comparison> {
	const { variants = variantNames } = options;
	checkNames(variants, "variant", variantNames);
	const entries = variantLines(options).filter(({ id }) => variants.includes(id));
	return compareLines(dataset, folder, {
		...options,
		title: "ablate",
		entries,
		ways: waysOf(
			entries,
			defaultMethod,
			// The paper's variants are compared with the line above, ours with the first.
			({ group }, at) => (at === 0 || group === "paper" ? entries[at - 1] : entries[0]),
		),
		methods: ["time-specific", "auto-regressive"],
	});
}

/**
 * Trains one model in several sizes on more and more patients, and draws what it gains; otherwise as `compare`. The
 * curves are written to `curves.svg` in the folder.
 */
export async function scale(
	dataset: Dataset,
	folder: string,
	options: ScaleOptions,
): Promise<Comparison> {
	checkUntuned(options);
	const lines = sizeLines(options, dataset.patients("train").length);
	const entries = lines.map(({ entry }) => entry);
	const first = lines[0]?.preset;
	const comparison = await compareLines(dataset, folder, {
		...options,
		title: "scale",
		entries,
		ways: waysOf(entries, defaultMethod, ({ group }, at) => {
			if (group === first) return entries[at - 1]; // fewer patients
			return lines.find(
				({ preset, trainPatients }) =>
					preset === first && trainPatients === lines[at]?.trainPatients,
			)?.entry;
		}),
	});
	const { scalingFigure } = await import("../../../evaluate/charts/index.js");
	const figure = scalingFigure(comparison, lines, await isSimulated(dataset));
	await writeFigure(curvesFile(folder), figure);
	return comparison;
}

/** Rejects what needs fine-tuning, which learns from all training patients. */
function checkUntuned({ tasks, model }: ScaleOptions): void {
	const { name, forecasting } = modelById(model);
	for (const task of tasks)
		if (isLabelledTask(task) || (task === "forecast" && forecasting.after === "fine-tuning"))
			throw new InputError(
				`task ${task} of ${name} needs fine-tuning, which learns from all training patients; leave it out of \`tasks\``,
				{ field: "tasks", value: task },
			);
}

/** A generous estimate of a cell's memory at the sizes of `tiny`. */
const cellBytes = 2 ** 31;

async function compareLines(
	dataset: Dataset,
	folder: string,
	request: ComparisonRequest,
): Promise<Comparison> {
	const { entries, ways, tasks, depths, seeds, leaders, methods } = request;
	const { title, epochs, batchSlots, maxLength, futures, progress, signal } = request;
	const { provider, precision, patients = null } = request;
	const { slotsPerLandmark, tuningSlots, tuningSteps = null } = request;
	const known = tasksOf(dataset);
	if (tasks.length === 0)
		throw new InputError(`the list of tasks is empty; ${dataset.folder} has ${known.join(", ")}`, {
			field: "tasks",
			value: tasks,
		});
	for (const task of tasks)
		if (!known.includes(task))
			throw new InputError(`${dataset.folder} has no task "${task}"; it has ${known.join(", ")}`, {
				field: "tasks",
				value: task,
			});
	const budgets = {
		options: { epochs, batchSlots, maxLength, patience: epochs },
		tuning: { maxLength, ...(tuningSlots && { batchSlots: tuningSlots }) },
		tuningSteps,
		hazards: { ...(slotsPerLandmark && { slotsPerLandmark }) },
	};
	const cores = availableParallelism();
	const jobs = request.jobs ?? Math.max(1, Math.min(cores, Math.floor(totalmem() / cellBytes)));
	await mkdir(folder, { recursive: true });
	return holdingLock(join(folder, "compare.lock"), "at work on this comparison", async () => {
		await openPlan(folder, dataset, entries, {
			title,
			tasks: [...tasks],
			depths: [...depths],
			futures,
			patients,
			...budgets,
		});
		const cells = [
			...entries.map(({ id }) => ({ id, seed: 1 })),
			{ id: baselinesId, seed: 0 },
			...entries
				.filter(({ id }) => leaders?.includes(id) ?? true)
				.flatMap(({ id }) => Array.from({ length: seeds - 1 }, (_, i) => ({ id, seed: i + 2 }))),
		];
		const { cells: done, failed } = await computeCells(folder, cells, {
			jobs,
			threads: Math.max(1, Math.floor(cores / jobs)),
			provider,
			precision,
			progress,
			signal,
		});
		const comparison = comparisonOf(
			columnsOf(tasks, depths, methods),
			ways,
			[...done].sort((a, b) => a.seed - b.seed),
			failed.map((failure) => ({ label: labelOf(failure, entries), reason: failure.reason })),
			[
				...sampleNotes(dataset, tasks, patients),
				...lineNotes(dataset, entries, tasks, { ...budgets, methods }),
			],
		);
		await writeTables(folder, comparison);
		return comparison;
	});
}

const labelOf = ({ id, seed }: Failure, entries: readonly Entry[]) =>
	`${entries.find((entry) => entry.id === id)?.label ?? id}, seed ${seed},`;

const formats: Readonly<Record<string, (comparison: Comparison) => string>> = {
	json: (comparison) => `${JSON.stringify(comparison, null, 2)}\n`,
	csv,
	md: markdown,
	tex: latex,
};

/** The picture of `scale`. */
export const curvesFile = (folder: string): string => join(folder, "curves.svg");

/** The files of a comparison's table. */
export const tableFiles = (folder: string): string[] =>
	Object.keys(formats).map((extension) => comparisonFiles(folder).table(extension));

/** Writes the table in every format. */
export async function writeTables(folder: string, comparison: Comparison): Promise<void> {
	for (const [extension, format] of Object.entries(formats))
		await replaceFile(comparisonFiles(folder).table(extension), (path) =>
			writeFile(path, format(comparison)),
		);
}

import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { holdingLock, replaceFile } from "../../../base/files/index.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { isPaperTask } from "../../../data/cohort/label-rules.js";
import * as evaluating from "../../../evaluate/index.js";
import { modelById } from "../../../model/index.js";
import * as fields from "../fields.js";
import { writeFigure } from "../figure-file.js";
import type { Monitoring } from "../pretrain/training.js";
import { computeCells } from "./cells.js";
import * as lineup from "./lines.js";
import { baselinesId, comparisonFiles, openPlan } from "./plan.js";

const names = fields.readBy(fields.namesIn);
/** The same, or undefined for `all`. */
const namesOrAll = fields
	.readBy((text) => (text === "all" ? undefined : fields.namesIn(text)))
	.optional();

const allowedDepths = [1, 5, 10, 15];

/** Numbers separated by commas, at least one. */
const numbersBy = (
	expected: string,
	isAllowed: (number: number, i: number, all: readonly number[]) => boolean,
) =>
	fields.readBy((text): readonly number[] => {
		const numbers = fields.namesIn(text).map(Number);
		if (numbers.length > 0 && numbers.every(isAllowed)) return numbers;
		throw new InputError(expected);
	});

const recallDepths = numbersBy(`Expected some of ${allowedDepths.join(",")}.`, (depth) =>
	allowedDepths.includes(depth),
);
const increasingCounts = numbersBy(
	"Expected whole numbers that increase, for example 2000,8000,32000.",
	(count, i, all) => Number.isSafeInteger(count) && count > (all[i - 1] ?? 0),
);

const preset = fields.option(
	"name",
	"model sizes: tiny, default or paper; of TrajGPT also large and paper-7m",
	z.string().default("tiny"),
);

const tasksField = (known: string, usual: readonly string[]) =>
	fields.option("list", `tasks to evaluate: some of ${known}`, names.default([...usual]), {
		defaultText: `"${usual}"`,
	});

/** The options that compare, ablate and scale share. */
const comparisonFields = (command: string) => ({
	out: fields.option(
		"folder",
		"folder for runs and tables; a folder that exists is resumed",
		z.string().default(`runs/${command}`),
	),
	epochs: fields.whole(1, 100_000).default(4).describe("training epochs"),
	batchSlots: fields.whole(1, 10_000_000).default(512).describe("events per pre-training batch"),
	maxLength: fields
		.whole(2, 1_000_000)
		.default(160)
		.describe("maximum events per row, in fine-tuning too"),
	learningRate: fields
		.decimal(1e-12, 10)
		.optional()
		.describe("learning rate of every model, instead of each model's default"),
	depths: fields.option(
		"list",
		"values of K in recall@K: some of 1,5,10,15",
		recallDepths.default([5, 10, 15]),
	),
	seeds: fields.whole(1, 10_000).default(1).describe("number of seeds, counted from 1"),
	futures: fields
		.whole(1, 100_000)
		.default(64)
		.describe("futures that the reference model samples per patient"),
	patients: fields
		.whole(1, 1_000_000_000)
		.optional()
		.describe("evaluate next, forecast and onset on the first n test patients only (default: all)"),
	slotsPerLandmark: fields
		.whole(1, 10_000)
		.optional()
		.describe("events of a row per landmark of the hazards (default: 16)"),
	jobs: fields.threads
		.optional()
		.describe("cells to run at the same time (default: one per core, if each gets 2 GiB)"),
	...fields.computeFields(),
	json: fields.flag("print one JSON document"),
});

export const compareFields = {
	preset,
	models: fields.option(
		"list",
		`models to train: all, or some of ${lineup.lineNames.join(",")} (default: all)`,
		namesOrAll,
	),
	tasks: fields.option(
		"list",
		"tasks to evaluate: some of onset,next,forecast and the dataset's labels (default: all but next and chf-paper)",
		names.optional(),
	),
	...comparisonFields("compare"),
	tuningSlots: fields
		.whole(1, 10_000_000)
		.optional()
		.describe("events per batch of fine-tuning to labels (default: 2048)"),
	tuningSteps: fields
		.whole(1, 1_000_000_000)
		.optional()
		.describe("most steps of a fine-tuning, but at least one epoch (default: no limit)"),
	leaders: fields.option(
		"list",
		"models that run with every seed; the others run with the first only",
		names.optional(),
	),
};

export const ablateFields = {
	preset,
	variants: fields.option(
		"list",
		`variants to train: all, or some of ${lineup.variantNames.join(",")} (default: all)`,
		namesOrAll,
	),
	tasks: tasksField("onset,next,forecast", ["next", "forecast"]),
	...comparisonFields("ablate"),
};

export const scaleFields = {
	model: fields.option("id", "model to train", z.string().default("trajgpt")),
	presets: fields.option(
		"list",
		"sizes of the model (default: those of tiny,default,large that it has)",
		names.optional(),
	),
	trainPatients: fields.option(
		"list",
		"numbers of training patients (default: 2000, 8000, 32000 … below half of them, and all)",
		increasingCounts.optional(),
	),
	tasks: tasksField("onset,next,forecast", ["onset", "next", "forecast"]),
	...comparisonFields("scale"),
};

type Options<F extends fields.Fields> = Omit<fields.Values<F>, "out" | "json"> & Monitoring;

export type CompareOptions = Options<typeof compareFields>;
type AblateOptions = Options<typeof ablateFields>;
type ScaleOptions = Options<typeof scaleFields>;
type CommonOptions = Options<ReturnType<typeof comparisonFields>> &
	fields.Optional<CompareOptions, "tuningSlots" | "tuningSteps" | "leaders">;

const defaultMethod = ({ model }: evaluating.ComparedModel) =>
	modelById(model).forecasting.methods.slice(0, 1);

/**
 * Trains every model with every seed and evaluates it on every task: the paper's table. The same call resumes an
 * earlier one. The table is written to `table.{json,csv,md,tex}` in the folder.
 */
export async function compare(dataset: Dataset, folder: string, options: CompareOptions) {
	const entries = lineup.linesNamed(options.models, options);
	if (options.leaders) lineup.checkLeaders(options.leaders, entries);
	const reference = entries.find(({ id }) => id === "trajgpt") ?? entries[0];
	return compareLines(dataset, folder, options, {
		title: "compare",
		entries,
		ways: lineup.waysOf(
			entries,
			({ model }) => lineup.methodsShown(model),
			(entry, _, first) => (entry === reference && first ? undefined : reference),
		),
		tasks:
			options.tasks ??
			evaluating.tasksOf(dataset).filter((task) => task !== "next" && !isPaperTask(task)),
	});
}

/** Trains TrajGPT with parts removed or changed, and measures what each contributes; otherwise as `compare`. */
export async function ablate(dataset: Dataset, folder: string, options: AblateOptions) {
	const { variants = lineup.variantNames, tasks } = options;
	lineup.checkNames(variants, "variant", lineup.variantNames);
	const entries = lineup.variantLines(options).filter(({ id }) => variants.includes(id));
	return compareLines(dataset, folder, options, {
		title: "ablate",
		entries,
		ways: lineup.waysOf(
			entries,
			defaultMethod,
			// The paper's variants are compared with the line above, ours with the first.
			({ group }, at) => (at === 0 || group === "paper" ? entries[at - 1] : entries[0]),
		),
		tasks,
		methods: ["time-specific", "auto-regressive"],
	});
}

/**
 * Trains one model in several sizes on more and more patients, and draws what it gains; otherwise as `compare`. The
 * curves are written to `curves.svg` in the folder.
 */
export async function scale(dataset: Dataset, folder: string, options: ScaleOptions) {
	const { model, tasks } = options;
	const { name, forecasting } = modelById(model);
	for (const task of tasks)
		if (
			evaluating.isLabelledTask(task) ||
			(task === "forecast" && forecasting.after === "fine-tuning")
		)
			throw new InputError(
				`task ${task} of ${name} needs fine-tuning, which learns from all training patients; leave it out of \`tasks\``,
				{ field: "tasks", value: task },
			);
	const lines = lineup.sizeLines(options, dataset.patients("train").length);
	const entries = lines.map(({ entry }) => entry);
	const first = lines[0]?.preset;
	const comparison = await compareLines(dataset, folder, options, {
		title: "scale",
		entries,
		ways: lineup.waysOf(entries, defaultMethod, ({ group }, at) => {
			if (group === first) return entries[at - 1]; // fewer patients
			return lines.find(
				({ preset, trainPatients }) =>
					preset === first && trainPatients === lines[at]?.trainPatients,
			)?.entry;
		}),
		tasks,
	});
	const { scalingFigure } = await import("../../../evaluate/charts/scaling-figure.js");
	const figure = scalingFigure(comparison, lines, await evaluating.isSimulated(dataset));
	await writeFigure(curvesFile(folder), figure);
	return comparison;
}

/** A generous estimate of a cell's memory at the sizes of `tiny`. */
const cellBytes = 2 ** 31;

/** What a comparison trains and evaluates. */
interface Grid {
	readonly title: string;
	readonly entries: readonly evaluating.ComparedModel[];
	readonly ways: readonly evaluating.ComparedMethod[];
	readonly tasks: readonly string[];
	/** Forecasting methods that have their own columns, instead of lines. */
	readonly methods?: readonly evaluating.Method[];
}

async function compareLines(
	dataset: Dataset,
	folder: string,
	options: CommonOptions,
	{ title, entries, ways, tasks, methods }: Grid,
): Promise<evaluating.Comparison> {
	const { depths, seeds, leaders, futures, patients = null, tuningSteps = null } = options;
	const { epochs, batchSlots, maxLength, slotsPerLandmark, tuningSlots } = options;
	lineup.checkNames(tasks, "task", evaluating.tasksOf(dataset), dataset.folder);
	const budgets = {
		options: { epochs, batchSlots, maxLength, patience: epochs },
		tuning: { maxLength, ...(tuningSlots && { batchSlots: tuningSlots }) },
		tuningSteps,
		hazards: { ...(slotsPerLandmark && { slotsPerLandmark }) },
	};
	const cores = availableParallelism();
	const jobs = options.jobs ?? Math.max(1, Math.min(cores, Math.floor(totalmem() / cellBytes)));
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
		const leading = entries.filter(({ id }) => leaders?.includes(id) ?? true);
		const cells = [
			...entries.map(({ id }) => ({ id, seed: 1 })),
			{ id: baselinesId, seed: 0 },
			...leading.flatMap(({ id }) =>
				Array.from({ length: seeds - 1 }, (_, i) => ({ id, seed: i + 2 })),
			),
		];
		const threads = Math.max(1, Math.floor(cores / jobs));
		const { cells: done, failed } = await computeCells(folder, cells, {
			...options,
			jobs,
			threads,
		});
		const labelOf = (line: string) => entries.find(({ id }) => id === line)?.label ?? line;
		const comparison = evaluating.comparisonOf(
			evaluating.columnsOf(tasks, depths, methods),
			ways,
			done.toSorted((a, b) => a.seed - b.seed),
			failed.map(({ id, seed, reason }) => ({ label: `${labelOf(id)}, seed ${seed},`, reason })),
			[
				...lineup.sampleNotes(dataset, tasks, patients),
				...lineup.lineNotes(dataset, entries, tasks, { ...budgets, methods }),
			],
		);
		await writeTables(folder, comparison);
		return comparison;
	});
}

export const curvesFile = (folder: string): string => join(folder, "curves.svg");

export const tableFiles = (folder: string): string[] =>
	Object.keys(evaluating.comparisonFormats).map((extension) =>
		comparisonFiles(folder).table(extension),
	);

export async function writeTables(folder: string, comparison: evaluating.Comparison) {
	for (const [extension, format] of Object.entries(evaluating.comparisonFormats))
		await replaceFile(comparisonFiles(folder).table(extension), (path) =>
			writeFile(path, format(comparison)),
		);
}

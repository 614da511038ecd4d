import { z } from "zod";
import { recordedProviders } from "../../engine/runtime/index.js";
import {
	type Evaluation,
	type EvaluationRow,
	evaluationSchema,
	type Method,
} from "../evaluation.js";

/** A column of the table: a metric of a row of a task. */
export interface Column {
	readonly task: string;
	/** The header above the columns of a task: "Forecasting". */
	readonly group: string;
	readonly title: string;
	readonly metric: string;
	/** The factor applied to the numbers, and the digits shown. */
	readonly scale: number;
	readonly digits: number;
	readonly best: "highest" | "lowest";
	/** The setting of the rows it reads; baselines have none. */
	readonly setting?: EvaluationRow["setting"];
	/** The forecast method it reads; by default that of the line. */
	readonly method?: Method;
	/** Whether its recall is of codes that patients already had, or of new ones; otherwise of all. */
	readonly novelty?: "known" | "new";
}

type Shown = Pick<Column, "scale" | "digits" | "best">;
const percent: Shown = { scale: 100, digits: 1, best: "highest" };
const ratio: Shown = { scale: 1, digits: 3, best: "highest" };

export const onsetHorizons = [1, 5];

const methodTitles: Readonly<Record<Method, string>> = {
	"time-specific": "Time-specific forecast",
	"by-order": "Forecast by order",
	"auto-regressive": "Auto-regressive forecast",
};

/**
 * The paper's columns: recall of forecasts by the given methods or that of the line, of all codes and apart of those
 * that patients already had and of new ones; AUPRC of labelled tasks by number of labels; nats of next events; and
 * discrimination of first diagnoses.
 */
export function columnsOf(
	tasks: readonly string[],
	depths: readonly number[],
	methods?: readonly Method[],
): Column[] {
	const recalls = (novelty?: Column["novelty"]): Column[] =>
		(methods ?? [undefined]).flatMap((method) => {
			const forecasts = method ? methodTitles[method] : "Forecasting";
			return depths.map((depth) => ({
				task: "forecast",
				group: novelty ? `${forecasts}, ${novelty} codes` : forecasts,
				title: `K = ${depth}`,
				metric: `recall@${depth}${novelty ? ` ${novelty}` : ""}`,
				...percent,
				...(method && { method }),
				...(novelty && { novelty }),
			}));
		});
	const ofTasks = tasks.flatMap((task): Column[] => {
		const column = (group: string, title: string, metric: string, shown: Shown): Column => ({
			task,
			group,
			title,
			metric,
			...shown,
		});
		if (task === "forecast") return recalls();
		if (task === "next")
			return [
				column("Next event", "nats", "nats", { ...ratio, best: "lowest" }),
				column("Next event", "accuracy", "accuracy", percent),
			];
		if (task === "onset")
			return onsetHorizons.flatMap((years) => [
				column(`Onset within ${years} y`, "AUROC", `auroc ${years}y`, ratio),
				column(`Onset within ${years} y`, "AP", `averagePrecision ${years}y`, percent),
			]);
		return settings.map(([title, setting]) => ({
			...column(taskTitles[task] ?? task, title, "auprc", percent),
			setting,
		}));
	});
	const apart = tasks.includes("forecast") ? [...recalls("known"), ...recalls("new")] : [];
	return [...ofTasks, ...apart];
}

/** The columns of labelled tasks by the number of labels. */
const settings = [
	["S = 0", "zero-shot prototype"],
	["5", "5-shot"],
	["all", "fine-tuned"],
] as const;

const taskTitles: Readonly<Record<string, string>> = {
	insulin: "Diabetes-Insulin",
	chf: "CHF",
	"chf-paper": "CHF as in the paper",
	diabetes: "Diabetes",
};

/** Whether a column shows a row of an evaluation, for a line with this forecast method. */
function reads(column: Column, row: EvaluationRow, lineMethod: Method | undefined): boolean {
	if (row.method !== undefined && row.method !== (column.method ?? lineMethod)) return false;
	if (row.who !== "model") return column.setting === undefined || ofAllLabels(column, row);
	return row.setting === column.setting;
}

/** Baselines of labelled tasks: those that learn from all labels, and the own history, which needs none. */
function ofAllLabels({ setting }: Column, row: EvaluationRow): boolean {
	const needsNone = row.who === "history" && row.setting === undefined;
	return setting === (needsNone ? "zero-shot prototype" : "fine-tuned");
}

/** A line of a comparison: a named model with settings. */
export const entrySchema = z.strictObject({
	id: z.string().regex(/^[a-z0-9-]+$/),
	label: z.string(),
	/** Lines of a group are shown together. */
	group: z.string(),
	model: z.string(),
	settings: z.record(z.string(), z.unknown()),
	/** Training options that differ from those of the comparison. */
	options: z.record(z.string(), z.unknown()),
});
export type ComparedModel = z.infer<typeof entrySchema>;

/** One line, trained with one seed and evaluated: `cells/<entry>-s<seed>.json`. */
export const cellSchema = z.strictObject({
	kind: z.literal("trajgpt-cell"),
	version: z.literal(2),
	/** Null for the baselines, which are not trained. */
	entry: z.string().nullable(),
	seed: z.int().min(0),
	/** Of pre-training, or of training if there is no pre-training. */
	training: z
		.strictObject({
			parameters: z.int().min(0),
			epochs: z.int().min(0),
			bestEpoch: z.int().min(0),
			cpuSecondsPerEpoch: z.number().min(0),
			peakBytes: z.number().min(0),
			/** By the clock, compilation and validation included; missing in older cells. */
			seconds: z.number().min(0).optional(),
			/** Missing in older cells. */
			provider: z.enum(recordedProviders).optional(),
		})
		.nullable(),
	/** By task; tasks that could not be measured are missing. */
	evaluations: z.record(z.string(), evaluationSchema),
	/** By task: the reason why it was not measured. */
	left: z.record(z.string(), z.string()),
	seconds: z.number().min(0),
	/** CPU time of the process that finished the cell. */
	cpuSeconds: z.number().min(0),
});
export type Cell = z.infer<typeof cellSchema>;

/** Whether all rows have the values of patients or of draws that a table needs. */
export const keepsPatients = ({ evaluations }: Cell): boolean =>
	Object.values(evaluations).every(({ rows }) =>
		rows.every(({ byPatient, byDraw }) => byPatient ?? byDraw),
	);

export interface ComparedMethod {
	readonly entry: ComparedModel;
	readonly method: Method;
	/** Whether this is the line's first method; other tasks than forecast are shown only there. */
	readonly first: boolean;
	readonly label: string;
	/** The line that it is compared with. */
	readonly against?: ComparedModel | undefined;
}

export interface Source {
	readonly label: string;
	readonly group: string;
	/** Missing for baselines. */
	readonly compared?: ComparedMethod;
	readonly cells: readonly Cell[];
	read(cell: Cell, column: Column): Reading | undefined;
}

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
	methods: readonly ComparedMethod[],
	cells: readonly Cell[],
): Source[] {
	// Methods matter for forecasts only.
	const forecasts = columns.some(({ task }) => task === "forecast");
	const shown = methods.filter(({ first }) => first || forecasts);
	const trained = shown.map(
		(method): Source => ({
			label: forecasts ? method.label : method.entry.label,
			group: method.entry.group,
			compared: method,
			cells: cells.filter(({ entry }) => entry === method.entry.id),
			read: (cell, column) =>
				method.first || column.task === "forecast"
					? rowIn(cell, column, (row) => row.who === "model" && reads(column, row, method.method))
					: undefined,
		}),
	);
	const others = baselines.map(
		(baseline): Source => ({
			label: baselineLabel(columns, baseline),
			group: "counts",
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

import { z } from "zod";
import { recordedProviders } from "../../engine/runtime/index.js";
import { type EvaluationRow, evaluationSchema, type Method } from "../evaluation.js";

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

const percent = { scale: 100, digits: 1, best: "highest" } as const;
const ratio = { scale: 1, digits: 3, best: "highest" } as const;

export const onsetHorizons = [1, 5];

const methodTitles: Readonly<Record<Method, string>> = {
	"time-specific": "Time-specific forecast",
	"by-order": "Forecast by order",
	"auto-regressive": "Auto-regressive forecast",
};

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
		(methods ?? [undefined]).flatMap((method) =>
			depths.map((depth) => ({
				task: "forecast",
				group: `${method ? methodTitles[method] : "Forecasting"}${novelty ? `, ${novelty} codes` : ""}`,
				title: `K = ${depth}`,
				metric: `recall@${depth}${novelty ? ` ${novelty}` : ""}`,
				...percent,
				...(method && { method }),
				...(novelty && { novelty }),
			})),
		);
	const ofTask = (task: string): Column[] => {
		if (task === "forecast") return recalls();
		if (task === "next")
			return [
				{ task, group: "Next event", title: "nats", metric: "nats", ...ratio, best: "lowest" },
				{ task, group: "Next event", title: "accuracy", metric: "accuracy", ...percent },
			];
		if (task === "onset")
			return onsetHorizons.flatMap((years) => {
				const group = `Onset within ${years} y`;
				return [
					{
						task,
						group,
						title: "log loss",
						metric: `logLoss ${years}y`,
						...ratio,
						best: "lowest" as const,
					},
					{ task, group, title: "AUROC", metric: `auroc ${years}y`, ...ratio },
					{ task, group, title: "AP", metric: `averagePrecision ${years}y`, ...percent },
				];
			});
		const group = taskTitles[task] ?? task;
		return settings.map(([title, setting]) => ({
			task,
			group,
			title,
			metric: "auprc",
			...percent,
			setting,
		}));
	};
	const apart = tasks.includes("forecast") ? [...recalls("known"), ...recalls("new")] : [];
	return [...tasks.flatMap(ofTask), ...apart];
}

/** Whether a column shows a row of an evaluation, for a line with this forecast method. */
export function shows(column: Column, row: EvaluationRow, lineMethod?: Method): boolean {
	if (row.method !== undefined && row.method !== (column.method ?? lineMethod)) return false;
	if (row.who === "model" || column.setting === undefined) return row.setting === column.setting;
	// Baselines of labelled tasks learn from all labels.
	return column.setting === "fine-tuned";
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

/** A row of the table: a line with one of its forecast methods. */
export interface ComparedMethod {
	readonly entry: ComparedModel;
	readonly method: Method;
	/** Whether this is the line's first method; other tasks than forecast are shown only there. */
	readonly first: boolean;
	readonly label: string;
	/** The line that it is compared with. */
	readonly against?: ComparedModel | undefined;
}

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

/** Whether all rows have their values on the bootstrap draws, which a table needs; earlier cells do not. */
export const keepsDraws = ({ evaluations }: Cell): boolean =>
	Object.values(evaluations).every(({ rows }) => rows.every(({ byDraw }) => byDraw));

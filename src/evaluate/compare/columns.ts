import type { EvaluationRow, Method } from "../evaluation.js";

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

/** The horizons of task *onset* in a comparison, in years. */
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
		(methods ?? [undefined]).flatMap((method) =>
			depths.map((depth) => {
				const group = method ? methodTitles[method] : "Forecasting";
				return {
					task: "forecast",
					group: novelty ? `${group}, ${novelty} codes` : group,
					title: `K = ${depth}`,
					metric: `recall@${depth}${novelty ? ` ${novelty}` : ""}`,
					...percent,
					...(method && { method }),
					...(novelty && { novelty }),
				};
			}),
		);
	const ofTasks = tasks.flatMap((task): Column[] => {
		if (task === "next")
			return [
				{
					task,
					group: "Next event",
					title: "nats",
					metric: "nats",
					scale: 1,
					digits: 3,
					best: "lowest",
				},
				{ task, group: "Next event", title: "accuracy", metric: "accuracy", ...percent },
			];
		if (task === "forecast") return recalls();
		if (task === "onset")
			return onsetHorizons.flatMap((years): Column[] => [
				{
					task,
					group: `Onset within ${years} y`,
					title: "AUROC",
					metric: `auroc ${years}y`,
					scale: 1,
					digits: 3,
					best: "highest",
				},
				{
					task,
					group: `Onset within ${years} y`,
					title: "AP",
					...percent,
					metric: `averagePrecision ${years}y`,
				},
			]);
		const settings = [
			["S = 0", "zero-shot prototype"],
			["5", "5-shot"],
			["all", "fine-tuned"],
		] as const;
		return settings.map(([title, setting]) => ({
			task,
			group: taskTitle(task),
			title,
			metric: "auprc",
			setting,
			...percent,
		}));
	});
	const apart = tasks.includes("forecast") ? [...recalls("known"), ...recalls("new")] : [];
	return [...ofTasks, ...apart];
}

const taskTitle = (task: string) =>
	({
		insulin: "Diabetes-Insulin",
		chf: "CHF",
		"chf-paper": "CHF as in the paper",
		diabetes: "Diabetes",
	})[task] ?? task;

/** Whether a column shows a row of an evaluation, for a line with this forecast method. */
export function reads(column: Column, row: EvaluationRow, lineMethod: Method | undefined): boolean {
	if (row.method !== undefined && row.method !== (column.method ?? lineMethod)) return false;
	if (row.who !== "model") return column.setting === undefined || ofAllLabels(column, row);
	return row.setting === column.setting;
}

/** Baselines of labelled tasks: those that learn from all labels, and the own history, which needs none. */
function ofAllLabels({ setting }: Column, row: EvaluationRow): boolean {
	const needsNone = row.who === "history" && row.setting === undefined;
	return setting === (needsNone ? "zero-shot prototype" : "fine-tuned");
}

import type { EvaluationRow, Method } from "../evaluation.js";

/** A column of the table: which number of which row of which task. */
export interface Column {
	readonly task: string;
	/** Over the columns of a task: "Forecasting". */
	readonly group: string;
	readonly title: string;
	readonly metric: string;
	/** What the numbers are multiplied by, and the digits they are shown with. */
	readonly scale: number;
	readonly digits: number;
	readonly best: "highest" | "lowest";
	/** Which rows of an evaluation it reads; baselines have no setting. */
	readonly setting?: EvaluationRow["setting"];
	/** The way to forecast it reads; where it has none, that of the line. */
	readonly method?: Method;
}

const percent = { scale: 100, digits: 1, best: "highest" } as const;

const methodTitles: Readonly<Record<Method, string>> = {
	"time-specific": "Time-specific forecast",
	"by-order": "Forecast by order",
	"auto-regressive": "Auto-regressive forecast",
};

/**
 * The paper's columns: recall of forecasts, in each of the ways that are named or in that of the line;
 * AUPRC of labelled tasks by labels seen; and nats of next events.
 */
export function columnsOf(
	tasks: readonly string[],
	depths: readonly number[],
	methods?: readonly Method[],
): Column[] {
	return tasks.flatMap((task): Column[] => {
		if (task === "next")
			return [
				{
					...{ task, group: "Next event", title: "nats", metric: "nats" },
					...{ scale: 1, digits: 3, best: "lowest" },
				},
				{ task, group: "Next event", title: "accuracy", metric: "accuracy", ...percent },
			];
		if (task === "forecast")
			return (methods ?? [undefined]).flatMap((method) =>
				depths.map((depth) => ({
					...{ task, group: method ? methodTitles[method] : "Forecasting" },
					...{ title: `K = ${depth}`, metric: `recall@${depth}`, ...percent },
					...(method && { method }),
				})),
			);
		const settings = [
			["S = 0", "zero-shot prototype"],
			["5", "5-shot"],
			["all", "fine-tuned"],
		] as const;
		return settings.map(([title, setting]) => ({
			...{ task, group: taskTitle(task), title, metric: "auprc", setting },
			...percent,
		}));
	});
}

const taskTitle = (task: string) => ({ insulin: "Diabetes-Insulin", chf: "CHF" })[task] ?? task;

/** Whether a row of an evaluation stands in a column, for a line that forecasts in this way. */
export function reads(column: Column, row: EvaluationRow, way: Method | undefined): boolean {
	if (row.method !== undefined && row.method !== (column.method ?? way)) return false;
	if (row.who !== "model") return column.setting === undefined || ofAllLabels(column, row);
	return row.setting === column.setting;
}

/** Opponents of labelled tasks: those that learn from all labels, and the history that needs none. */
function ofAllLabels({ setting }: Column, row: EvaluationRow): boolean {
	const needsNone = row.who === "history" && row.setting === undefined;
	return setting === (needsNone ? "zero-shot prototype" : "fine-tuned");
}

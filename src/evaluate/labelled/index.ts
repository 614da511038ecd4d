import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { measureRows } from "../rows.js";
import { tooFewText } from "../too-few.js";
import { baselineRows } from "./baseline-rows.js";
import { labelSetOf } from "./label-set.js";
import { modelRows } from "./model-rows.js";
import { taskCodes } from "./task-codes.js";
import { taskLabels } from "./task-labels.js";
import { positivesOf, type TaskData } from "./task-rows.js";

/**
 * A task with binary labels: zero-shot, few-shot and fine-tuned rows of the model, and baselines. The baselines
 * are evaluated once.
 */
export async function labelledTask(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws, home = dataset } = options;
	const { labels, notes: taskNotes } = await taskLabels(dataset, task);
	const homeLabels = home === dataset ? labels : (await taskLabels(home, task)).labels;
	const data: TaskData = {
		...{ task, dataset, home, options, labels },
		train: labelSetOf(home, homeLabels, "train"),
		valid: labelSetOf(home, homeLabels, "valid"),
		evaluated: labelSetOf(dataset, labels, split),
		codes: taskCodes(task, dataset.vocabulary, options.code),
	};
	const { evaluated } = data;
	const positive = positivesOf(evaluated);
	if (positive === 0 || positive === evaluated.targets.length)
		throw new InputError(
			`${dataset.folder}: ${positive} of the ${evaluated.targets.length} labels of ${task} in split ${split} are positive; ` +
				"both classes are needed: prepare more patients, or use other splits (`trajgpt prepare --splits`)",
		);
	const notes = [
		...taskNotes(split),
		`${evaluated.targets.length} labels, ${positive} of them positive`,
	];
	if (split !== "test")
		notes.push(
			split === "train"
				? "measured on the labels that few-shot and fine-tuning learn from: too good to be true"
				: "measured on the labels that chose the fine-tuned epoch and its scale: a little too good",
		);
	const others = options.baselines === false ? [] : await baselineRows(data, notes);
	const tooFew = tooFewText({
		...{ split, patients: evaluated.count },
		labels: { positive, all: evaluated.targets.length },
	});
	return async (runtime, trained) => {
		const own = [...notes];
		const { rows, calibration } = trained
			? await modelRows(data, runtime, trained, own)
			: { rows: [] };
		return {
			task,
			split,
			patients: evaluated.count,
			events: evaluated.labels.reduce((sum, { events }) => sum + events, 0),
			seed,
			draws,
			notes: own,
			...(tooFew && { tooFew }),
			...measureRows([...rows, ...others], evaluated.count, options),
			...(calibration && { calibration }),
		};
	};
}

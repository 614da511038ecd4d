import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { contentSha256, readJson, writeJson } from "../../../base/files/index.js";
import { runFiles } from "../run-folder.js";
import { readTrained, type Trained } from "../trained.js";
import { type FineTunedTask, type Scoring, scoringSchema } from "./scoring.js";
import { finetuneCommand, readTask, taskFiles, taskWeights } from "./task-folder.js";

const fileSchema = z.strictObject({
	kind: z.literal("trajgpt-scoring"),
	version: z.literal(1),
	/** The training step of the weights that it belongs to. */
	step: z.int().min(0),
	...scoringSchema.shape,
	/** Hash of all fields above, as JSON with sorted keys and no spaces. */
	sha256: z.string(),
});

const again = (run: string, task: string) =>
	`\`${finetuneCommand(run, readTask(run, task) ?? { task }, "--resume")}\``;

/** Writes `scoring.json` of a task, for the weights of a training step. */
export function writeScoring(run: string, step: number, scoring: Scoring): void {
	const content = { kind: "trajgpt-scoring", version: 1, step, ...scoring };
	const sealed = { ...content, sha256: contentSha256(content) };
	writeJson(taskFiles(run, scoring.task).scoring, sealed, 2);
}

/** Reads `scoring.json` of a task; undefined if there is none for the weights of this training step. */
export function readScoring(run: string, task: string, step: number): Scoring | undefined {
	const { scoring: file } = taskFiles(run, task);
	if (!existsSync(file)) return undefined;
	const remedy = `remove it and run ${again(run, task)}`;
	const { sha256, ...content } = readJson(file, fileSchema, remedy);
	if (sha256 !== contentSha256(content))
		throw new InputError(`${file} was changed since it was written; ${remedy}`);
	const { kind: _kind, version: _version, step: own, ...scoring } = content;
	return own === step && scoring.task === task ? scoring : undefined;
}

/** What a run has learned for a labelled task. */
function readFineTuned(run: string, task: string): FineTunedTask {
	const { folder } = taskFiles(run, task);
	if (task === "forecast")
		throw new InputError(
			`${folder} has learned to forecast, and has no labels to score; give the run: ${run}`,
		);
	readTask(run, task);
	const best = taskWeights(run, task);
	const scoring = best && readScoring(run, task, best.step);
	if (!scoring)
		throw new InputError(
			`${folder} cannot score patients yet: ${best ? "it has no scoring.json for its weights" : "no epoch of its fine-tuning is finished"}; run ${again(run, task)}`,
		);
	return { scoring, weights: best.weights };
}

/** Reads a run, or the folder of a task that a run was fine-tuned to: `tasks/<task>` in the run's folder. */
export function readModel(folder: string): Trained {
	if (existsSync(runFiles(folder).run)) return readTrained(folder);
	const [run, task] = [join(folder, "..", ".."), basename(resolve(folder))];
	if (!existsSync(join(folder, "task.json")) || !existsSync(taskFiles(run, task).task))
		return readTrained(folder);
	return { ...readTrained(run), task: readFineTuned(run, task) };
}

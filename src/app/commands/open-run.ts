import { readModel, readTrained, type Trained } from "../../model/train/index.js";
import type { Io } from "./io.js";

/** Reads a trained run and prints its warnings to standard error. */
export const openRun = (io: Io, folder: string): Trained => withWarnings(io, readTrained(folder));

/** The same for a run, or a task that it was fine-tuned to. */
export const openModel = (io: Io, folder: string): Trained => withWarnings(io, readModel(folder));

function withWarnings(io: Io, trained: Trained): Trained {
	for (const warning of trained.warnings ?? []) io.stderr.write(`warning: ${warning}\n`);
	return trained;
}

/** The argument of commands that take both. */
export const modelArgument =
	"run folder written by `trajgpt pretrain`, or RUN/tasks/TASK by `trajgpt finetune`";

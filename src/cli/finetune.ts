import { Command } from "commander";
import { formatCount } from "../base/progress.js";
import { finetuneOptions, openRunDataset } from "../train/index.js";
import { type FinetuneSummary, finetune } from "../workflows/finetune.js";
import { examples } from "./examples.js";
import { interruptible } from "./interruptible.js";
import { type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { threadCount } from "./option-values.js";
import { addSchemaOptions, typedValues } from "./schema-options.js";

interface Options {
	readonly task: string;
	readonly dataset?: string;
	readonly threads?: number;
	readonly resume?: true;
	readonly force?: true;
	readonly json?: true;
}

const description = `Trains a run further, end to end, to answer a question that the dataset has labels for.

A linear head reads the mean of the model's views of a history, up to the time of the
question. It starts where logistic regression puts it; then head and model learn
together from the labels of the training patients, and the epoch with the lowest
validation loss is kept, in RUN/tasks/TASK. The run itself stays as it is.
Models that cannot forecast as they were pre-trained (BiTimelyGPT, PatchTST) learn it
with --task forecast, by default with the settings of their pre-training. Models
without pre-training (GRU-D and others) learn every task from scratch.
Ctrl-C saves and exits with 130; --resume goes on, to the same weights to the bit.`;

export function command(io: Io): Command {
	const command = new Command("finetune")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.requiredOption("--task <name>", "insulin, chf, labels that prepare was given, or forecast");
	addSchemaOptions(command, finetuneOptions);
	return command
		.option("--dataset <folder>", "the dataset, if it is not where the run remembers it")
		.option("--threads <n>", "threads; all cores if left out", threadCount)
		.option("--resume", "go on with what was interrupted, with its own settings")
		.option("--force", "begin anew, over what an earlier call made")
		.option("--json", "print the summary as one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt finetune runs/sim --task insulin": "who will need insulin",
				"trajgpt finetune runs/sim --task chf --resume": "after Ctrl-C, or a power cut",
				"trajgpt evaluate runs/sim --task insulin": "how good it is, beside zero-shot and few-shot",
			}),
		)
		.action((run: string, { task, dataset, threads, resume, force, json }: Options) =>
			interruptible(io, async (signal) => {
				const trained = openRun(io, run);
				const summary = await finetune(trained, await openRunDataset(run, trained.run, dataset), {
					...{ task, threads, resume, replace: force, signal, progress: progressOf(io) },
					training: typedValues(command, finetuneOptions),
				});
				const { folder, labels, positive, ...training } = summary;
				if (json) printJson(io, { run, task, folder, labels, positive, ...training });
				else io.stdout.write(render(task, summary));
				if (summary.interrupted) signal.throwIfAborted();
			}),
		);
}

function render(
	task: string,
	{ folder, labels, positive, best, steps, epochs, parameters, interrupted }: FinetuneSummary,
): string {
	const taught = labels > 0 ? ` over ${labels} labels of ${task}, ${positive} positive` : "";
	const lines = [
		`${folder}: ${formatCount(parameters)} parameters, ${steps} steps, ${epochs} epochs${taught}`,
	];
	if (best)
		lines.push(`best validation loss after epoch ${best.epoch}: ${best.loss.toFixed(4)} nats`);
	if (interrupted) lines.push("interrupted and saved; go on with --resume");
	return `${lines.join("\n")}\n`;
}

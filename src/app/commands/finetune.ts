import { Command } from "commander";
import { formatCount } from "../../base/progress.js";
import { finetuneOptions, openRunDataset } from "../../model/train/index.js";
import { type FinetuneSummary, finetune } from "../workflows/finetune.js";
import type { ComputeOptions } from "../workflows/open-runtime.js";
import { withDatasetWarning } from "./dataset-warning.js";
import { optionsOf } from "./fields.js";
import { type LabelFlags, labelsField, labelTimeField, withGivenLabels } from "./given-labels.js";
import { interruptible } from "./interruptible.js";
import { communicatorOf, Exit, type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { addComputeOptions, threadCount } from "./option-values.js";
import { addSchemaOptions, isTyped, typedValues } from "./schema-options.js";

interface Options extends LabelFlags, ComputeOptions {
	readonly task: string;
	readonly dataset?: string;
	readonly resume?: true;
	readonly force?: true;
	readonly json?: true;
}

const description = `Fine-tune a run, end to end, to a task that the dataset has labels for.

A linear head reads the mean of the model's hidden states up to the time of the label and,
where the model has learned hazards of the task's code, its own risk. It starts from a
logistic regression around that risk; then head and model are trained together on the
labels of the training patients. The epoch with the lowest validation loss is kept in
RUN/tasks/TASK. The run itself does not change.
Models that cannot forecast after pre-training (BiTimelyGPT, PatchTST) learn it with
--task forecast, by default with the settings of their pre-training. Models without
pre-training (GRU-D and others) learn every task from scratch.
Ctrl-C saves and exits with 130; --resume continues and ends with the same weights, bit
for bit.`;

export const examples = {
	"trajgpt finetune runs/sim --task insulin": "predict who will need insulin",
	"trajgpt finetune runs/sim --task chf --resume": "after Ctrl-C, or a power cut",
	"trajgpt finetune runs/sim --task stroke --labels labels/stroke":
		"labels that `trajgpt tasks` wrote",
	"trajgpt evaluate runs/sim --task insulin": "compare it with zero-shot and few-shot",
};

export function command(io: Io): Command {
	const command = new Command("finetune")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.requiredOption(
			"--task <name>",
			"task to learn: chf, diabetes, insulin, a task from prepare --label, or forecast",
		);
	addSchemaOptions(command, finetuneOptions);
	command
		.addOption(optionsOf("labels", labelsField)[0]!)
		.addOption(optionsOf("labelTimeIs", labelTimeField("--labels"))[0]!)
		.option("--dataset <folder>", "the run's dataset, if it was moved")
		.option("--threads <n>", "number of threads (default: all cores)", threadCount);
	return addComputeOptions(command)
		.option("--resume", "resume an interrupted fine-tuning, with its own settings")
		.option("--force", "replace an earlier fine-tuning and start over")
		.option("--json", "print the summary as one JSON document")
		.action((run: string, options: Options) =>
			interruptible(io, async (signal) => {
				const { task, dataset, threads, precision, resume, force, json } = options;
				const trained = openRun(io, run);
				const opened = withDatasetWarning(io, await openRunDataset(run, trained.run, dataset));
				const summary = await finetune(trained, await withGivenLabels(io, opened, task, options), {
					...{ task, threads, precision, resume, replace: force, signal },
					communicator: communicatorOf(io),
					progress: progressOf(io),
					provider: isTyped(command, "provider") ? options.provider : undefined,
					training: typedValues(command, finetuneOptions),
				});
				const { folder, labels, positive, ...training } = summary;
				if (json) printJson(io, { run, task, folder, labels, positive, ...training });
				else io.stdout.write(render(task, summary));
				if (!summary.interrupted) return;
				signal.throwIfAborted();
				throw new Exit(143); // another process of the job got the signal
			}),
		);
}

function render(
	task: string,
	{ folder, labels, positive, best, steps, epochs, parameters, interrupted }: FinetuneSummary,
): string {
	const labelsText = labels > 0 ? ` over ${labels} labels of ${task}, ${positive} positive` : "";
	const lines = [
		`${folder}: ${formatCount(parameters)} parameters, ${steps} steps, ${epochs} epochs${labelsText}`,
	];
	if (best)
		lines.push(`best validation loss after epoch ${best.epoch}: ${best.loss.toFixed(4)} nats`);
	if (interrupted) lines.push("interrupted and saved; continue with --resume");
	return `${lines.join("\n")}\n`;
}

import { Command } from "commander";
import { formatCount } from "../base/progress.js";
import { finetuneOptions, openRunDataset } from "../train/index.js";
import { examples } from "./examples.js";
import { type FinetuningOutcome, finetune } from "./finetuning.js";
import { Exit, type Io, printJson } from "./io.js";
import { openTrained } from "./open-trained.js";
import { threadCount } from "./option-values.js";
import { addSchemaOptions, schemaValues } from "./schema-options.js";

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
		.action(async (run: string, options: Options) => {
			const { task, resume = false, force = false, threads } = options;
			const trained = openTrained(io, run);
			const dataset = await openRunDataset(run, trained.run, options.dataset);
			const outcome = await finetune(io, {
				...{ trained, dataset, task, resume, force },
				options: schemaValues(command, finetuneOptions, "given"),
				...(threads && { threads }),
			});
			const { folder, summary, exitCode, labels, positive } = outcome;
			if (options.json) printJson(io, { run, task, folder, labels, positive, ...summary });
			else io.stdout.write(render(task, outcome));
			if (exitCode !== 0) throw new Exit(exitCode);
		});
}

function render(task: string, { folder, summary, labels, positive }: FinetuningOutcome): string {
	const { best, steps, epochs, parameters, interrupted } = summary;
	const taught = labels > 0 ? ` over ${labels} labels of ${task}, ${positive} positive` : "";
	const lines = [
		`${folder}: ${formatCount(parameters)} parameters, ${steps} steps, ${epochs} epochs${taught}`,
	];
	if (best)
		lines.push(`best validation loss after epoch ${best.epoch}: ${best.loss.toFixed(4)} nats`);
	if (interrupted) lines.push("interrupted and saved; go on with --resume");
	return `${lines.join("\n")}\n`;
}

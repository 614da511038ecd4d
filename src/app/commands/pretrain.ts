import { Command, Option } from "commander";
import { InputError } from "../../base/errors.js";
import { formatCount } from "../../base/progress.js";
import { openDataset } from "../../data/cohort/index.js";
import { modelById, models } from "../../model/index.js";
import { type PretrainSummary, trainOptions } from "../../model/train/index.js";
import type { ComputeOptions } from "../workflows/open-runtime.js";
import { pretrain } from "../workflows/pretrain.js";
import { datasetSettings } from "../workflows/training.js";
import { withDatasetWarning } from "./dataset-warning.js";
import { addHazardOptions, type HazardFlags, typedHazards } from "./hazard-options.js";
import { interruptible } from "./interruptible.js";
import { communicatorOf, Exit, type Io, printJson, progressOf } from "./io.js";
import { modelHelp, suggestionHelp } from "./model-help.js";
import { addComputeOptions, dateDay, threadCount, wholeNumber } from "./option-values.js";
import { mayRepeat } from "./repeated-options.js";
import { addSchemaOptions, isTyped, typedValues } from "./schema-options.js";

interface Options extends ComputeOptions, HazardFlags {
	readonly out: string;
	readonly model: string;
	readonly preset: string;
	readonly set?: readonly string[];
	readonly before?: number;
	readonly resume?: true;
	readonly json?: true;
}

const description = `Train a model on a dataset from scratch.

The run folder holds the settings, a log (log.jsonl and TensorBoard event files), the
last checkpoint and the best one by validation loss. Ctrl-C saves and exits with 130,
SIGTERM with 143. --resume continues from the last checkpoint and ends with the same
weights, bit for bit, as an uninterrupted run (on the same machine with the same number
of threads).`;

const presetNames = [...new Set(models.flatMap(({ presets }) => Object.keys(presets)))];

export const examples = {
	"trajgpt pretrain sim --out runs/sim --preset tiny --epochs 5": "a small model, quickly",
	"trajgpt pretrain sim --out runs/sim --resume": "after Ctrl-C, or a power cut",
	"trajgpt pretrain sim --out runs/next --objective next --set temperature=5":
		"the paper's objective, another τ",
	"trajgpt pretrain sim --out runs/2014 --before 2014-12-31": "train on data up to the end of 2014",
	"mpirun -n 4 trajgpt pretrain sim --out runs/sim":
		"four processes share each batch (docs/mpi.md)",
};

export function command(io: Io): Command {
	const command = new Command("pretrain")
		.description(description)
		.argument("<dataset>", "dataset folder written by `trajgpt prepare`")
		.requiredOption("--out <run>", "run folder to write")
		.addOption(
			new Option("--model <id>", "model to train")
				.choices(models.map(({ id }) => id))
				.default("trajgpt"),
		)
		.option(
			"--preset <name>",
			`model sizes: ${presetNames.join(", ")}. For trajgpt, choose by the number of training patients: ${suggestionHelp(modelById("trajgpt"))} (docs/models.md#which-size)`,
			"default",
		)
		.addOption(
			mayRepeat(
				new Option(
					"--set <name=value>",
					"override one setting of the preset (listed below); may be repeated",
				),
			),
		);
	command.option(
		"--before <date>",
		"see nothing after this date: records, observation or death (for evaluate --task onset)",
		dateDay,
	);
	addSchemaOptions(command, trainOptions);
	addHazardOptions(command);
	command.option("--threads <n>", "number of threads (default: all cores)", threadCount);
	return addComputeOptions(command)
		.option(
			"--devices <n>",
			"accelerators that share each batch, with --provider xla (default: 1)",
			wholeNumber(1, 1024),
		)
		.option("--resume", "resume an interrupted run, with its own settings")
		.option("--json", "print the summary as one JSON document")
		.addHelpText("after", () => {
			const chosen = modelById(command.getOptionValue("model"));
			const others = models.filter((model) => model !== chosen).map(({ id }) => id);
			return `${modelHelp(chosen, datasetSettings)}\n\nOther models have other settings (--model <id> --help):\n  ${others.join(", ")}`;
		})
		.action((folder: string, options: Options) => {
			const typed = <K extends keyof Options>(name: K) =>
				isTyped(command, name) ? options[name] : undefined;
			return interruptible(io, async (signal) => {
				const { out, set, threads, precision, devices, resume, json } = options;
				const summary = await pretrain(withDatasetWarning(io, await openDataset(folder)), out, {
					...{ threads, precision, devices, resume, signal, progress: progressOf(io) },
					communicator: communicatorOf(io),
					model: typed("model"),
					preset: typed("preset"),
					provider: typed("provider"),
					settings: set && settings(set),
					hazards: typedHazards(options),
					before: options.before,
					training: typedValues(command, trainOptions),
				});
				if (json) printJson(io, { run: out, ...summary });
				else io.stdout.write(render(out, summary));
				if (!summary.interrupted) return;
				signal.throwIfAborted();
				throw new Exit(143); // another process of the job got the signal
			});
		});
}

/** Parses `name=value` pairs; numeric values become numbers. */
function settings(pairs: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(
		pairs.map((pair) => {
			const [, name, text] = /^([A-Za-z]+)=(.+)$/.exec(pair) ?? [];
			if (!name || !text)
				throw new InputError(`--set ${pair}: expected name=value, for example --set layers=2`);
			return [name, Number.isNaN(Number(text)) ? text : Number(text)];
		}),
	);
}

function render(
	folder: string,
	{ best, steps, epochs, parameters, interrupted }: PretrainSummary,
): string {
	const lines = [
		`${folder}: ${formatCount(parameters)} parameters, ${steps} steps, ${epochs} epochs`,
	];
	if (best) {
		const terms = Object.entries(best.losses).map(([term, nats]) => `${term} ${nats.toFixed(4)}`);
		lines.push(`best validation loss after epoch ${best.epoch}: ${terms.join(", ")} nats`);
	}
	if (interrupted) lines.push("interrupted and saved; continue with --resume");
	return `${lines.join("\n")}\n`;
}

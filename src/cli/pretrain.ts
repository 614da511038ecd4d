import { availableParallelism } from "node:os";
import { Command, Option } from "commander";
import { checkConfig } from "../base/config.js";
import { InputError } from "../base/errors.js";
import { formatCount } from "../base/progress.js";
import { type Dataset, openDataset } from "../cohort/index.js";
import { type Model, modelById, models } from "../models/index.js";
import type { Provider } from "../runtime/index.js";
import {
	checkDataset,
	checkNewRun,
	checkSplits,
	createRun,
	holdingRun,
	type PretrainSummary,
	type Run,
	readRun,
	type TrainOptions,
	trainOptions,
} from "../train/index.js";
import { examples } from "./examples.js";
import { Exit, type Io, printJson } from "./io.js";
import { checkMemory, trainingNeeds } from "./memory-needs.js";
import { modelHelp } from "./model-help.js";
import { providerOption, threadCount } from "./option-values.js";
import { addSchemaOptions, schemaValues } from "./schema-options.js";
import { datasetSettings, settingsOf, train, versions } from "./training.js";

interface Options {
	readonly out: string;
	readonly model: string;
	readonly preset: string;
	readonly set?: readonly string[];
	readonly threads?: number;
	readonly provider: Provider;
	readonly resume?: true;
	readonly json?: true;
}

const description = `Trains a model on a dataset, from scratch.

RUN holds the settings, a log (log.jsonl, and TensorBoard's event files), the last
checkpoint and the best one by validation loss. Ctrl-C saves and exits with 130,
SIGTERM with 143; --resume goes on from the last checkpoint, and ends with the same
weights, to the bit, as a run that was never interrupted (on the same machine and
threads).`;

const presetNames = [...new Set(models.flatMap(({ presets }) => Object.keys(presets)))];

export function command(io: Io): Command {
	const command = new Command("pretrain")
		.description(description)
		.argument("<dataset>", "folder that `trajgpt prepare` wrote")
		.requiredOption("--out <run>", "folder of the run")
		.addOption(
			new Option("--model <id>", "which model")
				.choices(models.map(({ id }) => id))
				.default("trajgpt"),
		)
		.option("--preset <name>", `sizes: ${presetNames.join(", ")}`, "default")
		.option(
			"--set <name=value>",
			"one setting of the model (listed below), over the preset's; may be repeated",
			(text: string, all: readonly string[] = []) => [...all, text],
		);
	addSchemaOptions(command, trainOptions);
	return command
		.option("--threads <n>", "threads; all cores if left out", threadCount)
		.addOption(providerOption())
		.option("--resume", "go on with a run that was interrupted, with its own settings")
		.option("--json", "print the summary as one JSON document")
		.addHelpText("after", () => {
			const chosen = modelById(command.getOptionValue("model"));
			const others = models.filter((model) => model !== chosen).map(({ id }) => id);
			return `${modelHelp(chosen, datasetSettings)}\n\nOther models, with settings of their own (--model <id> --help):\n  ${others.join(", ")}`;
		})
		.addHelpText(
			"after",
			examples({
				"trajgpt pretrain sim --out runs/sim --preset tiny --epochs 5": "a small model, quickly",
				"trajgpt pretrain sim --out runs/sim --resume": "after Ctrl-C, or a power cut",
				"trajgpt pretrain sim --out runs/next --objective next --set temperature=5":
					"the paper's objective, another τ",
			}),
		)
		.action(async (folder: string, options: Options) => {
			const { out, threads, resume = false } = options;
			const dataset = await openDataset(folder);
			// All that can be refused is refused before the folder is touched.
			const begin = resume
				? resumed(command, options, dataset)
				: await created(command, options, dataset);
			const { summary, exitCode } = await holdingRun(out, () =>
				train(io, { folder: out, run: begin(), dataset, resume, ...(threads && { threads }) }),
			);
			if (options.json) printJson(io, { run: out, ...summary });
			else io.stdout.write(render(out, summary));
			if (exitCode !== 0) throw new Exit(exitCode);
		});
}

async function created(command: Command, options: Options, dataset: Dataset): Promise<() => Run> {
	checkNewRun(options.out);
	checkSplits(dataset);
	const model = modelById(options.model);
	const config = checkConfig(
		model.config,
		{
			...presetOf(model, options.preset),
			...settings(options.set ?? []),
			...settingsOf(dataset),
		},
		`model ${model.id}`,
	);
	const training = checkConfig(
		trainOptions,
		schemaValues(command, trainOptions),
		"training options",
	);
	checkLength(model, config, training);
	checkMemory(
		"training",
		trainingNeeds(model, config, Math.max(training.batchSlots, training.maxLength)),
		"lower --batch-slots or --max-length, or choose a smaller --preset",
	);
	const run = {
		model: model.id,
		config: config as Record<string, unknown>,
		options: training,
		versions: await versions(),
		threads: options.threads ?? availableParallelism(),
		provider: options.provider,
	};
	return () => createRun(options.out, dataset, run);
}

/** Refuses rows that a model with places of its own could not read; models of windows choose theirs. */
function checkLength(model: Model, config: unknown, { maxLength }: TrainOptions): void {
	const most = model.context?.(config);
	if (model.predictsEachEvent && most !== undefined && maxLength > most)
		throw new InputError(
			`--max-length ${maxLength}: ${model.name} reads at most ${most} events; choose a shorter one, or more with --set`,
		);
}

function presetOf(model: Model, name: string): Readonly<Record<string, unknown>> {
	const preset = model.presets[name];
	if (preset) return preset;
	throw new InputError(
		`${model.id} has no preset "${name}"; known presets: ${Object.keys(model.presets).join(", ")}`,
	);
}

/** `name=value` pairs; values are numbers where they read as such. */
function settings(pairs: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(
		pairs.map((pair) => {
			const [, name, text] = /^([A-Za-z]+)=(.+)$/.exec(pair) ?? [];
			if (!name || !text)
				throw new InputError(`--set ${pair}: expected name=value, for example --set layers=2`);
			if (datasetSettings.includes(name))
				throw new InputError(`--set ${pair}: ${name} is the dataset's; leave it out`);
			return [name, Number.isNaN(Number(text)) ? text : Number(text)];
		}),
	);
}

function resumed(command: Command, options: Options, dataset: Dataset): () => Run {
	const run = readRun(options.out);
	checkDataset(run, dataset);
	const isGiven = (name: string) => command.getOptionValueSource(name) === "cli";
	const given = {
		...schemaValues(command, trainOptions, "given"),
		...(isGiven("provider") && { provider: options.provider }),
	};
	const own: Record<string, unknown> = { ...run.options, provider: run.provider };
	for (const [name, value] of Object.entries(given))
		if (own[name] !== value)
			throw new InputError(
				`--resume goes on with the run's own settings: ${name} is ${own[name]} there, ${value} here; ` +
					"leave it out, or start a new run with another --out",
			);
	for (const name of ["model", "preset", "set"])
		if (isGiven(name))
			throw new InputError(`--resume takes the run's own model; leave out --${name}`);
	return () => run;
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
	if (interrupted) lines.push("interrupted and saved; go on with --resume");
	return `${lines.join("\n")}\n`;
}

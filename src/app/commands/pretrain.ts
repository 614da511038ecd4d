import { existsSync } from "node:fs";
import { z } from "zod";
import { oneProcess, shared } from "../../base/communicator.js";
import { checkConfig, settingsIn } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { versions } from "../../base/files/versions.js";
import { thousands } from "../../base/thousands.js";
import { isoDate } from "../../base/time.js";
import {
	type Dataset,
	datasetView,
	openDataset,
	readCodeEmbeddings,
	splitBatches,
} from "../../data/cohort/index.js";
import { type ComputeOptions, checkProvider, ownCores } from "../../engine/runtime/open-runtime.js";
import { isSimulated } from "../../evaluate/index.js";
import type { CodeConfig } from "../../model/heads.js";
import { learningRateOf, type Model, modelById, models } from "../../model/index.js";
import * as runs from "../../model/train/index.js";
import { defineCommand, listed } from "./define-command.js";
import { computeFields, date, file, flag, option, several, threadsField, whole } from "./fields.js";
import { endInterrupted, interruptible } from "./interruptible.js";
import { communicatorOf, printJson, progressOf } from "./io.js";
import { datasetArgument, withDatasetWarning } from "./open-run.js";
import { type HazardOptions, hazardFields, hazardsOf, typedHazards } from "./pretrain/hazards.js";
import * as common from "./pretrain/training.js";

const description = `Train a model on a dataset from scratch.

The run folder holds the settings, a log (log.jsonl and TensorBoard event files), the
last checkpoint and the best one by validation loss. Ctrl-C saves and exits with 130,
SIGTERM with 143. --resume continues from the last checkpoint and ends with the same
weights, bit for bit, as an uninterrupted run (on the same machine with the same number
of threads).`;

const presetNames = [...new Set(models.flatMap(({ presets }) => Object.keys(presets)))];

export const command = defineCommand({
	name: "pretrain",
	description,
	arguments: datasetArgument,
	options: {
		out: option("run", "run folder to write", z.string()),
		model: option("id", "model to train", z.enum(models.map(({ id }) => id)).default("trajgpt")),
		preset: option(
			"name",
			`model sizes: ${presetNames.join(", ")}. For trajgpt, choose by the number of training patients: ${suggestionHelp(modelById("trajgpt"))} (docs/models.md#which-size)`,
			z.string().default("default"),
		),
		set: several(
			"name=value",
			"override one setting of the preset (listed below); may be repeated",
		),
		embeddingsFrom: file(
			"start with these embeddings of codes: CSV or Parquet with a code, perhaps its system, and as many numbers as the model's width (dim)",
		),
		before: option(
			"date",
			"see nothing after this date: records, observation or death (for evaluate --task onset)",
			date.optional(),
		),
		...runs.trainOptions.shape,
		learningRate: runs.trainOptions.shape.learningRate.optional(),
		...hazardFields,
		threads: threadsField,
		...computeFields(),
		devices: whole(1, 1024)
			.optional()
			.describe("accelerators that share each batch, with --provider xla (default: 1)"),
		resume: flag("resume an interrupted run, with its own settings"),
		json: flag("print the summary as one JSON document"),
	},
	details({ model = "trajgpt" }) {
		const chosen = modelById(model);
		const others = models.filter((model) => model !== chosen).map(({ id }) => id);
		return `${modelHelp(chosen)}\n\nOther models have other settings (--model <id> --help):\n  ${others.join(", ")}`;
	},
	examples: {
		"trajgpt pretrain sim --out runs/sim --preset tiny --epochs 5": "a small model, quickly",
		"trajgpt pretrain sim --out runs/sim --resume": "after Ctrl-C, or a power cut",
		"trajgpt pretrain sim --out runs/next --objective next --set temperature=5":
			"the paper's objective, another τ",
		"trajgpt pretrain sim --out runs/2014 --before 2014-12-31":
			"train on data up to the end of 2014",
		"mpirun -n 4 trajgpt pretrain sim --out runs/sim":
			"four processes share each batch (docs/mpi.md)",
	},
	run: (io, { dataset: folder, out, set, json, ...options }, { typed, typedIn }) =>
		interruptible(io, async (signal) => {
			const { model, preset, provider, before, threads, precision, devices, resume } = options;
			const { embeddingsFrom } = options;
			const summary = await pretrain(withDatasetWarning(io, await openDataset(folder)), out, {
				threads,
				precision,
				devices,
				resume,
				before,
				embeddingsFrom,
				signal,
				progress: progressOf(io),
				communicator: communicatorOf(io),
				model: typed.has("model") ? model : undefined,
				preset: typed.has("preset") ? preset : undefined,
				provider: typed.has("provider") ? provider : undefined,
				settings: set && settings(set),
				hazards: typedHazards(options),
				training: typedIn(runs.trainOptions),
			});
			if (json) printJson(io, { run: out, ...summary });
			else io.stdout.write(render(out, summary));
			endInterrupted(summary, signal);
		}),
});

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

const render = (folder: string, summary: runs.PretrainSummary) =>
	common.trainedText(folder, summary, ({ losses }) =>
		Object.entries(losses)
			.map(([term, nats]) => `${term} ${nats.toFixed(4)}`)
			.join(", "),
	);

/** The help section on a model's settings and presets, without what the dataset determines. */
function modelHelp(model: Model): string {
	const { id, config, presets } = model;
	const settings = settingsIn(config)
		.filter(({ name }) => !common.datasetSettings.includes(name))
		.map((one) => [one.name, `${one.description}; ${one.allowed} (default: ${one.default})`]);
	const presetLines = Object.entries(presets).map(([name, values]) => {
		const pairs = Object.entries(values).map(([setting, value]) => `${setting}=${value}`);
		const text = pairs.join(" ") || "the defaults";
		return [name, `${text}; learning rate ${learningRateOf(model, name)}`];
	});
	return `\nSettings of ${id}, for --set:\n${listed(Object.fromEntries(settings))}\n\nPresets of ${id}, with their learning rates:\n${listed(Object.fromEntries(presetLines))}`;
}

/** Which preset is for how many training patients: `tiny below 8,000, default from 8,000, …`. */
function suggestionHelp({ suggestedFrom = {} }: Model): string {
	const thresholds = Object.entries(suggestedFrom);
	return thresholds
		.map(([name, from], at) =>
			at === 0
				? `${name} below ${thousands(thresholds[1]?.[1] ?? 0)}`
				: `${name} from ${thousands(from)}`,
		)
		.join(", ");
}

/** Options of training from scratch. */
export interface PretrainOptions extends common.Monitoring, ComputeOptions {
	/** Id of the model. Default: `trajgpt`. */
	readonly model?: string | undefined;
	/** Model sizes, with a learning rate. Default: `default`. */
	readonly preset?: string | undefined;
	/** Model settings that override the preset. */
	readonly settings?: Readonly<Record<string, unknown>> | undefined;
	/** What hazards are learned; false for none. Default: all, but none with the paper's presets. */
	readonly hazards?: HazardOptions | boolean | undefined;
	/**
	 * A CSV or Parquet file with embeddings of the codes to start with: a code, perhaps its system, and `dim` numbers per
	 * row. `training.embeddings` says whether they are learned further or frozen.
	 */
	readonly embeddingsFrom?: string | undefined;
	/** The last day of records, observation and deaths that training sees. Default: it sees everything. */
	readonly before?: number | undefined;
	/** A folder where regressions of hazards are kept for other runs on the same dataset. Default: none are kept. */
	readonly priorsIn?: string | undefined;
	/** The `trainOptions` that differ from their defaults. Default of `learningRate`: that of the model and the preset. */
	readonly training?: Readonly<Record<string, unknown>> | undefined;
	/**
	 * Whether to resume the run in the folder with its own settings; other settings are rejected.
	 * `"if-begun"` resumes if there is a run, with its settings, and begins one otherwise.
	 */
	readonly resume?: boolean | "if-begun" | undefined;
}

/**
 * Trains a model on a dataset from scratch in a new run folder, or resumes a run.
 *
 * Aborting `signal` saves and returns a summary with `interrupted: true`. A resumed run ends with the same weights,
 * bit for bit, as an uninterrupted one.
 *
 * @example
 * const dataset = await openDataset("data");
 * const { best } = await pretrain(dataset, "runs/first", { preset: "tiny", training: { epochs: 5 } });
 */
export async function pretrain(
	dataset: Dataset,
	folder: string,
	options: PretrainOptions = {},
): Promise<runs.PretrainSummary> {
	const { communicator = oneProcess } = options;
	const resume =
		options.resume === "if-begun" ? existsSync(runs.runFiles(folder).run) : options.resume;
	// All checks come before the first change to the folder.
	const { begin, embeddings } = resume
		? { begin: resumedRun(dataset, folder, options) }
		: await newRun(dataset, folder, options);
	communicator.barrier();
	const work = async () => {
		const run = await shared(communicator, begin);
		if (communicator.rank > 0) runs.checkDataset(run, dataset);
		const view = { before: run.before, trainPatients: run.options.trainPatients };
		const seen = await datasetView(dataset, view);
		const { hazards } = run.config as Pick<CodeConfig, "hazards">;
		if (hazards && communicator.rank === 0 && !existsSync(runs.runFiles(folder).rates))
			await runs.writeRates(folder, seen, hazards);
		return common.train({
			folder,
			dataset: seen,
			view,
			run,
			hazards,
			resume: resume ?? false,
			codes: runs.codeNumbers(seen.vocabulary),
			embeddings,
			priorsIn: options.priorsIn,
			options,
		});
	};
	return runs.holdingRun(folder, work, communicator);
}

/** Refuses a date by which nobody to learn from, or to check against, has a record. */
function checkCut(past: Dataset, before: number): void {
	for (const [split, people] of [
		["train", "training"],
		["valid", "validation"],
	] as const)
		if (past.patients(split).length === 0)
			throw new InputError(
				`${past.folder}: no ${people} patient has a record by ${isoDate(before)}; give a later \`before\``,
				{ field: "before", value: before },
			);
}

async function newRun(
	dataset: Dataset,
	folder: string,
	options: PretrainOptions,
): Promise<{ readonly begin: () => runs.Run; readonly embeddings?: Float32Array | undefined }> {
	runs.checkNewRun(folder);
	const { before, embeddingsFrom } = options;
	runs.checkSplits(dataset);
	const model = modelById(options.model ?? "trajgpt");
	const { preset = "default", settings = {} } = options;
	const { learningRate = learningRateOf(model, preset), ...others } = options.training ?? {};
	const wanted = checkConfig(runs.trainOptions, { ...others, learningRate }, "training options");
	const seen = await datasetView(dataset, { before, trainPatients: wanted.trainPatients });
	if (before !== undefined) checkCut(seen, before);
	const decided = Object.keys(settings).find((name) => common.datasetSettings.includes(name));
	if (decided !== undefined)
		throw new InputError(
			`\`settings\` ${decided}=${settings[decided]}: ${decided === "hazards" ? "hazards have options of their own" : `${decided} is determined by the dataset`}; leave it out`,
			{ field: "settings", value: settings[decided] },
		);
	const config = checkConfig(
		model.config,
		{
			...presetOf(model, preset),
			...settings,
			...common.settingsOf(dataset),
			hazards: hazardsOf(dataset, preset, options.hazards),
		},
		`model ${model.id}`,
	);
	const { provider = "cpu", precision, devices, communicator = oneProcess } = options;
	const training =
		provider === "xla" && options.training?.batchShapes === undefined
			? {
					...wanted,
					batchShapes: runs.shapesForDevice(wanted, (plan) => splitBatches(seen, "train", plan)),
				}
			: wanted;
	checkLength(model, config, training);
	if (training.embeddings && embeddingsFrom === undefined)
		throw new InputError(
			`\`embeddings\` ${training.embeddings}: no embeddings are read; name a file with \`embeddingsFrom\``,
			{ field: "embeddings", value: training.embeddings },
		);
	const embeddings =
		embeddingsFrom === undefined
			? undefined
			: await readCodeEmbeddings(embeddingsFrom, dataset.vocabulary, (config as CodeConfig).dim);
	await checkProvider(provider, precision, devices);
	// An accelerator has memory of its own.
	if (provider !== "xla")
		common.checkMemory(
			"training",
			common.trainingNeeds(model, config, Math.max(training.batchSlots, training.maxLength)),
			"lower `batchSlots` or `maxLength`, or choose a smaller `preset`",
		);
	const run = {
		model: model.id,
		config: config as Record<string, unknown>,
		options: embeddings ? { embeddings: "learned" as const, ...training } : training,
		...((await isSimulated(dataset)) && { simulated: true as const }),
		...(before !== undefined && { before }),
		versions: versions(),
		threads: options.threads ?? ownCores(communicator),
		provider,
		...(precision && { precision }),
	};
	// Settings may change the size of a preset.
	const advice =
		Object.keys(settings).length === 0 &&
		common.presetAdvice(model, preset, seen.patients("train").length);
	const begin = () => {
		if (advice) options.progress?.note(`note: ${advice}`);
		return runs.createRun(folder, dataset, run);
	};
	return { begin, embeddings };
}

/** The settings of a preset; rejects an unknown name, listing the known ones. */
export function presetOf(
	model: Pick<Model, "id" | "presets">,
	name: string,
): Readonly<Record<string, unknown>> {
	const preset = Object.hasOwn(model.presets, name) ? model.presets[name] : undefined;
	if (preset) return preset;
	throw new InputError(
		`${model.id} has no preset "${name}"; known presets: ${Object.keys(model.presets).join(", ")}`,
		{ field: "preset", value: name },
	);
}

/** Rejects rows longer than the model's positions; models of windows choose their own length. */
function checkLength(model: Model, config: unknown, { maxLength }: runs.TrainOptions): void {
	const most = model.context?.(config);
	if (model.predictsEachEvent && most !== undefined && maxLength > most)
		throw new InputError(
			`\`maxLength\` ${maxLength}: ${model.name} reads at most ${most} events; choose a shorter one, or more with \`settings\``,
			{ field: "maxLength", value: maxLength },
		);
}

function resumedRun(dataset: Dataset, folder: string, options: PretrainOptions): () => runs.Run {
	const run = runs.readRun(folder);
	runs.checkDataset(run, dataset);
	if (options.resume !== true) return () => run;
	const { training = {} } = options;
	common.checkResumed("run", run.options, training, "start a new run with another `out`");
	for (const name of [
		"model",
		"preset",
		"settings",
		"hazards",
		"before",
		"embeddingsFrom",
	] as const)
		if (options[name] !== undefined)
			throw new InputError(`\`resume\` takes the run's own model; leave out \`${name}\``, {
				field: name,
				value: options[name],
			});
	return () => run;
}

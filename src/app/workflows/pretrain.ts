import { existsSync } from "node:fs";
import { oneProcess, shared } from "../../base/communicator.js";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { isoDate } from "../../base/time.js";
import { type Dataset, datasetView, splitBatches } from "../../data/cohort/index.js";
import { isSimulated } from "../../evaluate/index.js";
import type { CodeConfig } from "../../model/heads.js";
import { learningRateOf, type Model, modelById } from "../../model/index.js";
import {
	checkDataset,
	checkNewRun,
	checkSplits,
	codeNumbers,
	createRun,
	holdingRun,
	type PretrainSummary,
	type Run,
	readRun,
	runFiles,
	shapesForDevice,
	type TrainOptions,
	trainOptions,
	writeRates,
} from "../../model/train/index.js";
import { checkProvider } from "./check-provider.js";
import { type HazardOptions, hazardsOf } from "./hazard-settings.js";
import { checkMemory, trainingNeeds } from "./memory-needs.js";
import { type ComputeOptions, ownCores } from "./open-runtime.js";
import { presetAdvice } from "./preset-advice.js";
import { checkResumed, datasetSettings, type Monitoring, settingsOf, train } from "./training.js";
import { versions } from "./versions.js";

/** Options of training from scratch. */
export interface PretrainOptions extends Monitoring, ComputeOptions {
	/** Id of the model. Default: `trajgpt`. */
	readonly model?: string | undefined;
	/** Model sizes, with a learning rate. Default: `default`. */
	readonly preset?: string | undefined;
	/** Model settings that override the preset. */
	readonly settings?: Readonly<Record<string, unknown>> | undefined;
	/** What hazards are learned; false for none. Default: all, but none with the paper's presets. */
	readonly hazards?: HazardOptions | boolean | undefined;
	/** The last day of records, observation and deaths that training sees. Default: it sees everything. */
	readonly before?: number | undefined;
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
): Promise<PretrainSummary> {
	const { threads, provider, precision, devices, progress, signal } = options;
	const { communicator = oneProcess } = options;
	const resume = options.resume === "if-begun" ? existsSync(runFiles(folder).run) : options.resume;
	// All checks come before the first change to the folder.
	const begin = resume
		? resumedRun(dataset, folder, options)
		: await newRun(dataset, folder, options);
	communicator.barrier();
	const work = async () => {
		const run = await shared(communicator, begin);
		if (communicator.rank > 0) checkDataset(run, dataset);
		const view = { before: run.before, trainPatients: run.options.trainPatients };
		const seen = await datasetView(dataset, view);
		const { hazards } = run.config as Pick<CodeConfig, "hazards">;
		if (hazards && communicator.rank === 0 && !existsSync(runFiles(folder).rates))
			await writeRates(folder, seen, hazards);
		return train({
			...{ folder, dataset: seen, view, run, hazards, resume: resume ?? false },
			codes: codeNumbers(seen.vocabulary),
			...{ threads, provider, precision, devices, progress, signal, communicator },
		});
	};
	return holdingRun(folder, work, communicator);
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
): Promise<() => Run> {
	checkNewRun(folder);
	const { before } = options;
	checkSplits(dataset);
	const model = modelById(options.model ?? "trajgpt");
	const { preset = "default", settings = {} } = options;
	const { learningRate = learningRateOf(model, preset), ...others } = options.training ?? {};
	const given = checkConfig(trainOptions, { ...others, learningRate }, "training options");
	const seen = await datasetView(dataset, { before, trainPatients: given.trainPatients });
	if (before !== undefined) checkCut(seen, before);
	const decided = Object.keys(settings).find((name) => datasetSettings.includes(name));
	if (decided !== undefined)
		throw new InputError(
			`\`settings\` ${decided}=${settings[decided]}: ${decided === "hazards" ? "hazards have options of their own" : `${decided} is determined by the dataset`}; leave it out`,
			{ field: "settings", value: settings[decided] },
		);
	const config = checkConfig(
		model.config,
		{
			...{ ...presetOf(model, preset), ...settings, ...settingsOf(dataset) },
			hazards: hazardsOf(dataset, preset, options.hazards),
		},
		`model ${model.id}`,
	);
	const { provider = "cpu", precision, devices, communicator = oneProcess } = options;
	const training =
		provider === "xla" && options.training?.batchShapes === undefined
			? {
					...given,
					batchShapes: shapesForDevice(given, (plan) => splitBatches(seen, "train", plan)),
				}
			: given;
	checkLength(model, config, training);
	await checkProvider(provider, precision, devices);
	// An accelerator has memory of its own.
	if (provider !== "xla")
		checkMemory(
			"training",
			trainingNeeds(model, config, Math.max(training.batchSlots, training.maxLength)),
			"lower `batchSlots` or `maxLength`, or choose a smaller `preset`",
		);
	const run = {
		model: model.id,
		config: config as Record<string, unknown>,
		options: training,
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
		presetAdvice(model, preset, seen.patients("train").length);
	return () => {
		if (advice) options.progress?.note(`note: ${advice}`);
		return createRun(folder, dataset, run);
	};
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
function checkLength(model: Model, config: unknown, { maxLength }: TrainOptions): void {
	const most = model.context?.(config);
	if (model.predictsEachEvent && most !== undefined && maxLength > most)
		throw new InputError(
			`\`maxLength\` ${maxLength}: ${model.name} reads at most ${most} events; choose a shorter one, or more with \`settings\``,
			{ field: "maxLength", value: maxLength },
		);
}

function resumedRun(dataset: Dataset, folder: string, options: PretrainOptions): () => Run {
	const run = readRun(folder);
	checkDataset(run, dataset);
	if (options.resume !== true) return () => run;
	const { training = {} } = options;
	checkResumed("run", run.options, training, "start a new run with another `out`");
	for (const name of ["model", "preset", "settings", "hazards", "before"] as const)
		if (options[name] !== undefined)
			throw new InputError(`\`resume\` takes the run's own model; leave out \`${name}\``, {
				field: name,
				value: options[name],
			});
	return () => run;
}

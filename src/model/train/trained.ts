import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import type { Manifest } from "../../data/cohort/index.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { type Model, modelById, type ParameterValues } from "../index.js";
import type { WeightSpecs } from "../nn/weights.js";
import {
	type Checkpoint,
	checkSeal,
	hasCheckpoint,
	isSealed,
	readCheckpoint,
} from "./checkpoint.js";
import type { FineTunedTask } from "./finetune/classifier.js";
import * as runs from "./run-folder.js";

export interface Trained {
	readonly folder: string;
	readonly run: runs.Run;
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
	/** The training step the weights are of. */
	readonly step: number;
	/** What it was trained on, as the run remembers it. */
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
	/** The task it was fine-tuned to, if it was opened as such: see `readModel`. */
	readonly task?: FineTunedTask;
	/** What whoever uses it should know. */
	readonly warnings?: readonly string[];
}

/** What a run has learned: the weights of its best epoch by validation. */
export function readTrained(folder: string): Trained {
	const run = runs.readRun(folder);
	const model = modelById(run.model);
	const files = runs.runFiles(folder);
	const checkpoint = readCheckpoint(files.best);
	const { step, tensors, seal } = checkpoint;
	const changed = runs.settingsThatDiffer(checkpoint, run);
	if (changed.length > 0)
		throw new InputError(
			`${files.run} does not belong to the weights in ${files.best}: it has other settings than those were ` +
				`learned with (here → there: ${changed.join(", ")}); restore it from a copy of the run, or train anew`,
		);
	if (seal) checkSeal(files.best, seal, runs.sealedFiles(folder));
	const config = checkConfig(model.config, run.config, `${folder}: model ${run.model}`);
	const weights = floatWeights(tensors, files.best);
	if (!seal) checkFit(weights, model.weights(config), files);
	return {
		folder,
		run,
		model,
		config,
		weights,
		step,
		...runs.readRunRecords(folder),
		warnings: unsealedPlaces(folder).map(unsealedWarning),
	};
}

/** The weights of a run and of its tasks that are bound to no files. */
function unsealedPlaces(folder: string): string[] {
	const tasks = join(folder, "tasks");
	const names = existsSync(tasks) ? readdirSync(tasks) : [];
	// A task that is damaged is refused when it is opened, not with the run.
	const isUnsealed = (place: string) => {
		try {
			return hasCheckpoint(place) && !isSealed(place);
		} catch {
			return false;
		}
	};
	return [
		runs.runFiles(folder).best,
		...names.map((name) => runs.runFiles(join(tasks, name)).best),
	].filter(isUnsealed);
}

const unsealedWarning = (place: string) =>
	`${place} was written by a version that did not bind the weights to the vocabulary, the manifest and the ` +
	`settings: a change of these files goes unnoticed; train the run again to have them bound`;

/** Refuses weights whose shapes are not those of the settings. */
function checkFit(
	weights: ParameterValues,
	specs: WeightSpecs,
	{ run, best }: ReturnType<typeof runs.runFiles>,
): void {
	const [misfit] = runs.tensorMismatches(weights, new Map(Object.entries(specs)));
	if (misfit !== undefined)
		throw new InputError(
			`the weights in ${best} do not fit the settings in ${run}: ${misfit}; ` +
				"restore both from the same run, or train anew",
		);
}

/** The tensors of a checkpoint as weights. */
export function floatWeights(tensors: Checkpoint["tensors"], where: string): ParameterValues {
	const weights: ParameterValues = new Map();
	for (const [name, { shape, data }] of tensors) {
		if (!(data instanceof Float32Array))
			throw new InputError(`${where}: ${name} is not float32; these are not weights of trajgpt`);
		weights.set(name, { shape, data });
	}
	return weights;
}

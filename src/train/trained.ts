import { checkConfig } from "../base/config.js";
import { InputError } from "../base/errors.js";
import type { Manifest } from "../cohort/index.js";
import type { Vocabulary } from "../cohort/vocabulary.js";
import { type Model, modelById, type ParameterValues } from "../models/index.js";
import { type Checkpoint, readCheckpoint } from "./checkpoint.js";
import { type Run, readRun, readRunRecords, runFiles } from "./run-folder.js";

export interface Trained {
	readonly folder: string;
	readonly run: Run;
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
	/** The training step the weights are of. */
	readonly step: number;
	/** What it was trained on, as the run remembers it. */
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
}

/** What a run has learned: the weights of its best epoch by validation. */
export function readTrained(folder: string): Trained {
	const run = readRun(folder);
	const model = modelById(run.model);
	const config = checkConfig(model.config, run.config, `${folder}: model ${run.model}`);
	const { best } = runFiles(folder);
	const { step, tensors } = readCheckpoint(best);
	const weights = floatWeights(tensors, best);
	return { folder, run, model, config, weights, step, ...readRunRecords(folder) };
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

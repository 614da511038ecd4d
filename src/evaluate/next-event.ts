import { random } from "../base/random.js";
import { type Batch, type Dataset, type Split, splitBatches } from "../cohort/index.js";
import {
	argmax,
	input,
	logSoftmax,
	type OnnxModel,
	parameter,
	pick,
	reshape,
	type Target,
	toOnnx,
} from "../graph/index.js";
import type { BatchShape, Model, ParameterValues } from "../models/index.js";
import { programs, type Runtime } from "../runtime/index.js";
import { isForetold, type PatientScore } from "./scores.js";

export interface TrainedModel {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Slots in a batch, padding included. */
const slots = 4096;

/** log p of each slot's event, and the most likely event of each slot. */
function scoreModel(
	target: Target,
	{ model, config, weights }: TrainedModel,
	{ rows, length }: BatchShape,
): OnnxModel {
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const logits = model.logits(config, parameters, { rows, length });
	const events = reshape(input("events", [rows, length], "int32"), [rows, length, 1]);
	return toOnnx(
		{ logProbabilities: pick(logSoftmax(logits), events, 2), best: argmax(logits) },
		{ target },
	);
}

/**
 * Scores of a model for each patient of a split: every event after the first, given its time and
 * all that came before it, however long ago. Histories are not cut.
 */
export async function nextEventScores(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
): Promise<PatientScore[]> {
	const patients = dataset.patients(split);
	if (patients.length === 0) return [];
	const maxLength = patients.reduce(
		(most, patient) => Math.max(most, dataset.lengthOf(patient)),
		2,
	);
	const batches = splitBatches(dataset, split, {
		maxLength,
		cut: "last",
		size: { slots },
		seed: 0,
	});
	const scores = new Map<number, PatientScore>();
	const resident = runtime.resident(trained.weights);
	const compiled = programs(
		runtime,
		(shape: BatchShape) => scoreModel(runtime.target, trained, shape),
		{ keyText: ({ rows, length }) => `${rows}x${length}` },
	);
	try {
		for (let i = 0; i < batches.plan.count; i++) {
			const batch = await batches.read(0, i);
			const { feeds } = trained.model.lossFeeds(
				trained.config,
				batch,
				{ objective: "next", horizon: 0 },
				random(0),
			);
			const inputs = { ...feeds, events: batch.tokens };
			const { logProbabilities, best } = await compiled.run(batch, inputs, resident);
			for (const score of rowScores(batch, logProbabilities as Float32Array, best as Int32Array))
				scores.set(score.patient, score);
		}
	} finally {
		resident.dispose();
		await compiled.dispose();
	}
	return [...patients].flatMap((patient) => scores.get(patient) ?? []);
}

function rowScores(
	{ length, tokens, lengths, sequences }: Batch,
	logProbabilities: Float32Array,
	best: Int32Array,
): PatientScore[] {
	return [...sequences].flatMap((patient, row) => {
		if (patient < 0) return [];
		let [events, logLikelihood, correct] = [0, 0, 0];
		for (let place = 0; place < (lengths[row] as number); place++) {
			const at = row * length + place;
			if (!isForetold(tokens[at] as number, place)) continue;
			events++;
			logLikelihood += logProbabilities[at] as number;
			if (best[at] === tokens[at]) correct++;
		}
		return [{ patient, events, logLikelihood, correct }];
	});
}

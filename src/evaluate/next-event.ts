import { InputError } from "../base/errors.js";
import { type Dataset, type Split, splitBatches } from "../cohort/index.js";
import { logSoftmax, type OnnxModel, parameter, type Target, toOnnx } from "../graph/index.js";
import type { BatchShape, Model, ParameterValues } from "../models/index.js";
import { programs, type Runtime } from "../runtime/index.js";
import { rankOf } from "./rank.js";
import { isForetold, type PatientScore, type ScoreTally, scoreTally } from "./scores.js";

export interface TrainedModel {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Most slots in a batch, padding included, and most numbers in its answer. */
const mostSlots = 4096;
const mostNumbers = 2 ** 23;

/** log p of every token at each slot. */
function answerModel(
	target: Target,
	{ model, config, weights }: TrainedModel,
	shape: BatchShape,
): OnnxModel {
	const { logits } = model;
	if (!logits)
		throw new InputError(
			`${model.name} does not foretell every event of a history in one pass; measure it on forecast`,
		);
	const parameters = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	return toOnnx({ logProbabilities: logSoftmax(logits(config, parameters, shape)) }, { target });
}

/** What was foretold of one event: log p of every token. */
type TakeEvent = (patient: number, logProbabilities: Float32Array, token: number) => void;

/**
 * Foretells every event after the first, of each patient of a split, given its time and all that came
 * before it, however long ago. Histories are not cut. Patients come in any order, the events of one
 * in theirs.
 */
async function foretell(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	take: TakeEvent,
): Promise<void> {
	const patients = dataset.patients(split);
	if (patients.length === 0) return;
	const vocab = dataset.vocabulary.size;
	const maxLength = patients.reduce(
		(most, patient) => Math.max(most, dataset.lengthOf(patient)),
		2,
	);
	const batches = splitBatches(dataset, split, {
		maxLength,
		cut: "last",
		size: { slots: Math.max(1, Math.min(mostSlots, Math.floor(mostNumbers / vocab))) },
		seed: 0,
	});
	const resident = runtime.resident(trained.weights);
	const compiled = programs(
		runtime,
		(shape: BatchShape) => answerModel(runtime.target, trained, shape),
		{ keyText: ({ rows, length }) => `${rows}x${length}` },
	);
	try {
		for (let i = 0; i < batches.plan.count; i++) {
			const batch = await batches.read(0, i);
			const feeds = trained.model.viewFeeds(trained.config, batch);
			const outputs = await compiled.run(batch, feeds, resident);
			const answers = outputs.logProbabilities as Float32Array;
			for (const [row, patient] of batch.sequences.entries())
				for (let place = 0; place < (batch.lengths[row] as number); place++) {
					const at = row * batch.length + place;
					const token = batch.tokens[at] as number;
					if (isForetold(token, place))
						take(patient, answers.subarray(at * vocab, (at + 1) * vocab), token);
				}
		}
	} finally {
		resident.dispose();
		await compiled.dispose();
	}
}

/** Scores of a model for each patient of a split; `also` sees every event that is scored. */
export async function nextEventScores(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	also?: (patient: number, logProbabilities: Float32Array, token: number, rank: number) => void,
): Promise<PatientScore[]> {
	const tallies = new Map<number, ScoreTally>(
		Array.from(dataset.patients(split), (patient) => [patient, scoreTally(patient)]),
	);
	await foretell(runtime, trained, dataset, split, (patient, logProbabilities, token) => {
		const rank = rankOf(logProbabilities, token);
		tallies.get(patient)?.add(logProbabilities[token] as number, rank);
		also?.(patient, logProbabilities, token, rank);
	});
	return [...tallies.values()].map((tally) => tally.score());
}

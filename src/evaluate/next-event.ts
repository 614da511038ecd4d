import { InputError } from "../base/errors.js";
import { fillBatch, planBatches } from "../cohort/batches.js";
import type { Dataset, History, Split } from "../cohort/index.js";
import { type Graph, logSoftmax } from "../graph/index.js";
import { checkFinite } from "../models/finite.js";
import type { BatchShape, Model, ParameterValues } from "../models/index.js";
import { slotStates } from "../models/pooled.js";
import { parametersOf } from "../nn/weights.js";
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
function answerGraph({ model, config, weights }: TrainedModel, shape: BatchShape): Graph {
	if (!model.predictsEachEvent)
		throw new InputError(
			`${model.name} does not foretell every event of a history in one pass; measure it on forecast`,
		);
	const parameters = parametersOf(weights);
	const { logits } = slotStates(model, config, parameters, shape);
	return { outputs: { logProbabilities: logSoftmax(logits) } };
}

/** What was foretold of one event: log p of every token. */
type TakeEvent = (patient: number, logProbabilities: Float32Array, token: number) => void;

/** A stretch of a history, with its birth events before it, and the first event of it that is foretold. */
interface Stretch {
	readonly patient: number;
	readonly from: number;
	readonly to: number;
	readonly first: number;
}

/**
 * A history in stretches that a model can read: each after the first begins halfway in the one before,
 * so that every event is foretold from at least half of what can be read.
 */
function stretchesOf(
	patient: number,
	events: number,
	birthEvents: number,
	most: number,
): Stretch[] {
	const room = Math.max(2, most - birthEvents);
	const stretches: Stretch[] = [];
	for (let first = 0, to = birthEvents; to < events; first = to) {
		const step = to === birthEvents ? room : Math.floor(room / 2);
		to = Math.min(events, to + step);
		stretches.push({ patient, from: Math.max(birthEvents, to - room), to, first });
	}
	return stretches;
}

/**
 * Foretells every event after the first, of each patient of a split, given its time and all that came
 * before it, or as much of that as the model can read. Patients come in any order, the events of one
 * in theirs.
 */
async function foretell(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	take: TakeEvent,
): Promise<void> {
	const vocab = dataset.vocabulary.size;
	const most = trained.model.context?.(trained.config) ?? Number.POSITIVE_INFINITY;
	const stretches = Array.from(dataset.patients(split)).flatMap((patient) =>
		stretchesOf(patient, dataset.lengthOf(patient), dataset.birthEventsOf(patient), most),
	);
	if (stretches.length === 0) return;
	const births = stretches.map(({ patient }) => dataset.birthEventsOf(patient));
	const lengths = stretches.map(({ from, to }, i) => to - from + (births[i] as number));
	const plan = planBatches(lengths, births, {
		maxLength: lengths.reduce((a, b) => Math.max(a, b), 2),
		cut: "last",
		size: { slots: Math.max(1, Math.min(mostSlots, Math.floor(mostNumbers / vocab))) },
		seed: 0,
	});
	const readStretch = async (at: number): Promise<History> => {
		const { patient, from, to } = stretches[at] as Stretch;
		const history = await dataset.read(patient);
		const kept = (n: number) => n < history.birthEvents || (n >= from && n < to);
		return {
			...history,
			tokens: history.tokens.filter((_, n) => kept(n)),
			times: history.times.filter((_, n) => kept(n)),
		};
	};
	const resident = runtime.resident(trained.weights);
	const compiled = programs(runtime, (shape: BatchShape) => answerGraph(trained, shape), {
		keyText: ({ rows, length }) => `${rows}x${length}`,
	});
	try {
		for (const planned of plan.epoch(0)) {
			const batch = await fillBatch(plan, planned, readStretch);
			const feeds = trained.model.filler(trained.config, batch)("slots");
			const outputs = await compiled.run(batch, feeds, resident);
			const answers = outputs.logProbabilities as Float32Array;
			for (const [row, at] of batch.sequences.entries()) {
				const stretch = stretches[at];
				if (!stretch) continue;
				// The slot of an event: birth events, then those of the stretch.
				const shift = stretch.from - (births[at] as number);
				for (let slot = 0; slot < (batch.lengths[row] as number); slot++) {
					const cell = row * batch.length + slot;
					const token = batch.tokens[cell] as number;
					const place = slot < (births[at] as number) ? slot : slot + shift;
					if (place >= stretch.first && isForetold(token, place))
						take(
							stretch.patient,
							checkFinite(answers.subarray(cell * vocab, (cell + 1) * vocab), "prediction"),
							token,
						);
				}
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

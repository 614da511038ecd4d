import { type Communicator, isOwn, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { fillBatch, planBatches } from "../../data/cohort/batches.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { programs, type Runtime } from "../../engine/runtime/index.js";
import { type Graph, logSoftmax } from "../../engine/tensor/index.js";
import { slotStates } from "../../model/heads.js";
import type { BatchShape, Model, ParameterValues } from "../../model/index.js";
import { parametersOf } from "../../model/nn/weights.js";
import { checkFinite } from "../../model/predictor.js";
import {
	codesOfTokens,
	firstOfDays,
	firstRecords,
	isPredicted,
	type PatientScore,
	rankOf,
	type ScoreTally,
	scoreTally,
} from "./scores.js";

interface TrainedModel {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Maximum number of slots per batch, padding included, and of numbers in its output. */
const mostSlots = 4096;
const mostNumbers = 2 ** 23;

/** log p of every token at each slot. */
function answerGraph({ model, config, weights }: TrainedModel, shape: BatchShape): Graph {
	if (!model.predictsEachEvent)
		throw new InputError(
			`${model.name} does not predict every event of a history in one pass; evaluate it on forecast`,
		);
	const parameters = parametersOf(weights);
	const { logits } = slotStates(model, config, parameters, shape);
	return { outputs: { logProbabilities: logSoftmax(logits) } };
}

/** Called with the prediction of one event, the birth event counted: log p of every token. */
type TakeEvent = (
	patient: number,
	logProbabilities: Float32Array,
	token: number,
	position: number,
) => void;

/** A section of a history, preceded by its birth event, and the first event in it to predict. */
interface Section {
	readonly patient: number;
	readonly from: number;
	readonly to: number;
	readonly first: number;
}

/**
 * Splits a history into sections of at most the model's context. Each section after the first begins halfway in
 * the previous one, so that every event is predicted from at least half a context.
 */
function sectionsOf(patient: number, events: number, birthEvents: number, most: number): Section[] {
	const room = Math.max(2, most - birthEvents);
	const sections: Section[] = [];
	for (let first = 0, to = birthEvents; to < events; first = to) {
		const step = to === birthEvents ? room : Math.floor(room / 2);
		to = Math.min(events, to + step);
		sections.push({ patient, from: Math.max(birthEvents, to - room), to, first });
	}
	return sections;
}

/**
 * Predicts every event after the first, of each patient of a split, given its time and all earlier events that
 * fit into the model's context. Patients come in any order, the events of a patient in order. Of processes that share
 * this, each predicts the events of its batches.
 */
async function predictEvents(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	take: TakeEvent,
	job: Communicator,
): Promise<void> {
	const vocab = dataset.vocabulary.size;
	const most = trained.model.context?.(trained.config) ?? Number.POSITIVE_INFINITY;
	const sections = Array.from(dataset.patients(split)).flatMap((patient) =>
		sectionsOf(patient, dataset.lengthOf(patient), dataset.birthEventsOf(patient), most),
	);
	if (sections.length === 0) return;
	const births = sections.map(({ patient }) => dataset.birthEventsOf(patient));
	const lengths = sections.map(({ from, to }, i) => to - from + (births[i] as number));
	const plan = planBatches(lengths, births, {
		maxLength: lengths.reduce((a, b) => Math.max(a, b), 2),
		cut: "last",
		size: { slots: Math.max(1, Math.min(mostSlots, Math.floor(mostNumbers / vocab))) },
		seed: 0,
		passes: 1,
	});
	const readSection = async (index: number): Promise<History> => {
		const { patient, from, to } = sections[index];
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
		for (const [i, planned] of plan.epoch(0).entries()) {
			if (!isOwn(job, i)) continue;
			const batch = await fillBatch(plan, planned, readSection);
			const feeds = trained.model.filler(trained.config, batch)("slots");
			const outputs = await compiled.run(batch, feeds, resident);
			const answers = outputs.logProbabilities as Float32Array;
			for (const [row, index] of batch.sequences.entries()) {
				const section = sections[index];
				if (!section) continue;
				// Slots contain the birth event, then the events of the section.
				const shift = section.from - (births[index] as number);
				for (let slot = 0; slot < batch.lengths[row]; slot++) {
					const cell = row * batch.length + slot;
					const token = batch.tokens[cell];
					const position = slot < (births[index] as number) ? slot : slot + shift;
					if (position >= section.first && isPredicted(token, position))
						take(
							section.patient,
							checkFinite(answers.subarray(cell * vocab, (cell + 1) * vocab), "prediction"),
							token,
							position,
						);
				}
			}
		}
	} finally {
		resident.dispose();
		await compiled.dispose();
	}
}

/**
 * Scores a model on each patient of a split, by code; `also` is called with every scored event and log p of every
 * code.
 */
export async function nextEventScores(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	also?: (patient: number, logProbabilities: Float32Array, code: number, rank: number) => void,
	/** Each process calls `also` with the events that it has predicted. */
	job: Communicator = oneProcess,
): Promise<PatientScore[]> {
	const codes = codesOfTokens(dataset.vocabulary);
	const tallies = new Map<number, ScoreTally>(
		Array.from(dataset.patients(split), (patient) => [patient, scoreTally(patient)]),
	);
	const about = new Map<number, { readonly isNew: Uint8Array; readonly isFirst: Uint8Array }>();
	for (const patient of tallies.keys()) {
		const { tokens, times } = await dataset.read(patient);
		about.set(patient, {
			isNew: firstRecords(codes.coded(tokens)),
			isFirst: firstOfDays(times),
		});
	}
	const take: TakeEvent = (patient, ofTokens, token, index) => {
		const logProbabilities = codes.sumLogs(ofTokens);
		const code = codes.of(token);
		const rank = rankOf(logProbabilities, code);
		tallies.get(patient)?.add({
			logProbability: logProbabilities[code],
			withValue: ofTokens[token],
			rank,
			isNew: about.get(patient)?.isNew[index] === 1,
			isFirstOfDay: about.get(patient)?.isFirst[index] === 1,
		});
		also?.(patient, logProbabilities, code, rank);
	};
	await predictEvents(runtime, trained, dataset, split, take, job);
	return summed(
		job,
		[...tallies.values()].map((tally) => tally.score()),
	);
}

/** The scores of all patients over all processes. */
function summed(job: Communicator, scores: readonly PatientScore[]): PatientScore[] {
	if (job.size === 1) return [...scores];
	const counts = ["events", "correct", "among5", "among10", "logLikelihood"] as const;
	const numbersOf = (score: PatientScore) => [
		...[score, score.ofNew, score.ofFirst].flatMap((counted) =>
			counts.map((name) => counted[name]),
		),
		score.withValues,
	];
	const all = Float64Array.from(scores.flatMap(numbersOf));
	job.sum(all);
	const width = 3 * counts.length + 1;
	return scores.map(({ patient }, i) => {
		const patientSums = all.subarray(i * width, (i + 1) * width);
		const part = (index: number) =>
			Object.fromEntries(
				counts.map((name, j) => [name, patientSums[index * counts.length + j]]),
			) as Record<(typeof counts)[number], number>;
		const withValues = patientSums[width - 1];
		return { patient, ...part(0), ofNew: part(1), ofFirst: part(2), withValues };
	});
}

import { alone, type Communicator, isOwn, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { fillBatch, planBatches } from "../../data/cohort/batches.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../../engine/runtime/index.js";
import { type Graph, logSoftmax } from "../../engine/tensor/index.js";
import { slotStates } from "../../model/heads.js";
import type { BatchShape, Model, ParameterValues } from "../../model/index.js";
import { parametersOf } from "../../model/nn/weights.js";
import { checkFinite } from "../../model/predictor.js";
import { bootstrap, ratioOf, type Statistic } from "../bootstrap.js";
import { probabilityBins } from "../calibration.js";
import type { Measure, MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { baselines, definedRatios, measureRows, type PatientRow } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import {
	chooseSmoothing,
	codesOfTokens,
	countScores,
	firstOfDays,
	firstRecords,
	isPredicted,
	oracleScores,
	type PatientScore,
	type RankCounts,
	rankOf,
	type ScoreTally,
	scoreTally,
} from "./scores.js";

/** Edges between probability bins, closer together where most codes are. */
const codeEdges = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
];
const choiceEdges = Array.from({ length: 9 }, (_, i) => (i + 1) / 10);

/** Task *next*: every event after the first, given its time. The baselines are scored once. */
export async function nextTask(dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> {
	const { split, seed, draws } = options;
	const { rows: others, notes } =
		options.baselines === false ? { rows: [], notes: [] } : await baselineRows(dataset, options);
	notes.push(
		"weighted calibration error: mean distance of probability and frequency over bins of every code of every event, weighted by the probability in each bin; calibration error of the first choice: weighted by the events in each bin",
	);

	const { isCode, hasRanges } = codesOfTokens(dataset.vocabulary);
	if (hasRanges)
		notes.push(
			"numbers are of codes, the ranges of their values summed; nats with values also predict the range",
		);
	return async (runtime, trained) => {
		const patients = dataset.patients(split);
		const about = { task: "next", split, patients: patients.length, seed, draws, notes };
		if (!trained) {
			const [first] = others;
			return {
				...about,
				events: eventsIn(first?.scores ?? []),
				...(first && { newCodes: shareOfNew(first.scores, options) }),
				...measureRows(others, patients.length, options),
			};
		}
		const numbers = new Map(Array.from(patients, (patient, i) => [patient, i]));
		const codes = probabilityBins(patients.length, codeEdges);
		const choices = probabilityBins(patients.length, choiceEdges);
		const calibrate = (
			patient: number,
			logProbabilities: Float32Array,
			recorded: number,
			rank: number,
		) => {
			const number = numbers.get(patient)!;
			let first = 0;
			for (let code = specialCount; code < logProbabilities.length; code++) {
				if (!isCode(code)) continue;
				const probability = Math.exp(logProbabilities[code]);
				codes.add(number, probability, code === recorded);
				if (probability > first) first = probability;
			}
			choices.add(number, first, rank === 0);
		};
		const { divide = alone } = runtime;
		const scores = await divide(async (job) => {
			const all = await nextEventScores(runtime, trained, dataset, split, calibrate, job);
			for (const bins of [codes, choices]) bins.sumOver(job);
			return all;
		});
		const modelRow = row({ who: "model", label: trained.model.name }, scores, {
			weightedCalibrationError: codes.error("probability"),
			topCalibrationError: choices.error("predictions"),
		});
		return {
			...about,
			events: eventsIn(scores),
			newCodes: shareOfNew(scores, options),
			...measureRows([modelRow, ...others], patients.length, options),
			calibration: codes.bins(options),
			topCalibration: choices.bins(options),
		};
	};
}

interface ScoredRow extends PatientRow {
	readonly scores: readonly PatientScore[];
}

/** Frequency baselines and, on simulated data, the oracle. */
async function baselineRows(
	dataset: Dataset,
	{ split, oracle, trainingDataset = dataset }: EvaluateOptions,
): Promise<{ rows: ScoredRow[]; notes: string[] }> {
	const smoothing = await chooseSmoothing(trainingDataset);
	const scored = (name: PatientRow["name"], scores: readonly PatientScore[]): ScoredRow => ({
		...row(name, scores),
		scores,
	});
	const rows = [
		scored(baselines.history, await countScores(dataset, split, smoothing)),
		scored(baselines.global, await countScores(dataset, split, Number.POSITIVE_INFINITY)),
	];
	const notes = [
		Number.isFinite(smoothing)
			? `own history: smoothed with ${smoothing.toFixed(2)} events spread as in training, chosen on the validation patients`
			: "own history: on the validation patients it did not help, so it is smoothed away",
	];
	const simulation = await findSimulationTruth(dataset, split, oracle);
	if ("truth" in simulation) {
		const { known, unknown } = await oracleScores(dataset, split, simulation.truth);
		rows.push(scored(baselines.oracle, known), scored(baselines.uninformed, unknown));
	} else if (simulation.reason) notes.push(`no reference model: ${simulation.reason}`);
	return { rows, notes };
}

const eventsIn = (scores: readonly PatientScore[]) =>
	scores.reduce((sum, { events }) => sum + events, 0);

/** The share of events whose code is new for the patient. */
function shareOfNew(scores: readonly PatientScore[], options: EvaluateOptions): Measure {
	const share = ratioOf(
		scores.map(({ ofNew }) => ofNew.events),
		scores.map(({ events }) => events),
	);
	return bootstrap(scores.length, { share }, options).share;
}

/** The events of a patient that are not among some. */
const without = (all: PatientScore, part: RankCounts): RankCounts => ({
	events: all.events - part.events,
	logLikelihood: all.logLikelihood - part.logLikelihood,
	correct: all.correct - part.correct,
	among5: all.among5 - part.among5,
	among10: all.among10 - part.among10,
});

function row(
	name: PatientRow["name"],
	scores: readonly PatientScore[],
	more: Readonly<Record<string, Statistic>> = {},
): PatientRow {
	const column = (part: (score: PatientScore) => number) => Float64Array.from(scores, part);
	const wholes = column(({ events }) => events);
	const recalls = (suffix: string, countsOf: (score: PatientScore) => RankCounts) => {
		const all = column((score) => countsOf(score).events);
		const ratio = (part: keyof RankCounts) => ({
			parts: column((score) => countsOf(score)[part]),
			wholes: all,
		});
		return {
			[suffix === "" ? "accuracy" : `recall@1${suffix}`]: ratio("correct"),
			[`recall@5${suffix}`]: ratio("among5"),
			[`recall@10${suffix}`]: ratio("among10"),
		};
	};
	const ofDays = (suffix: string, countsOf: (score: PatientScore) => RankCounts) => ({
		[`nats ${suffix}`]: {
			parts: column((score) => -countsOf(score).logLikelihood),
			wholes: column((score) => countsOf(score).events),
		},
		[`recall@10 ${suffix}`]: {
			parts: column((score) => countsOf(score).among10),
			wholes: column((score) => countsOf(score).events),
		},
	});
	const hasRest = scores.some(({ events, ofFirst }) => events > ofFirst.events);
	const valueNats = ({ withValues }: PatientScore) => -withValues;
	const hasValues = scores.some((score) => score.withValues !== score.logLikelihood);
	return {
		name,
		byPatient: {
			ratios: {
				...recalls("", (score) => score),
				nats: { parts: column(({ logLikelihood }) => -logLikelihood), wholes },
				...(hasValues && { "nats with values": { parts: column(valueNats), wholes } }),
				...definedRatios({
					...recalls(" known", (score) => without(score, score.ofNew)),
					...recalls(" new", ({ ofNew }) => ofNew),
					...(hasRest && ofDays("first of a day", ({ ofFirst }) => ofFirst)),
					...(hasRest && ofDays("rest of a day", (score) => without(score, score.ofFirst))),
				}),
			},
		},
		more,
	};
}

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

import { alone, type Communicator, isOwn, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { fillBatch, planBatches } from "../../data/cohort/batches.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../../engine/runtime/index.js";
import { type Graph, logSoftmax } from "../../engine/tensor/index.js";
import { slotStates } from "../../model/heads.js";
import type { BatchShape } from "../../model/index.js";
import { parametersOf } from "../../model/nn/weights.js";
import { checkFinite } from "../../model/predictor.js";
import type { Trained } from "../../model/train/index.js";
import * as statistics from "../bootstrap.js";
import { probabilityBins } from "../calibration.js";
import type { EvaluateOptions, Measure, MeasureRun } from "../evaluation.js";
import { findSimulationTruth } from "../simulation-truth.js";
import * as scoring from "./scores.js";

/** Edges between probability bins, closer together where most codes are. */
const codeEdges = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
];
const choiceEdges = Array.from({ length: 9 }, (_, i) => (i + 1) / 10);

/** Task *next*: every event after the first, given its time. The baselines are scored once. */
export async function nextTask(dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> {
	const { split } = options;
	const notes: string[] = [];
	const others = options.baselines === false ? [] : await baselineScores(dataset, options, notes);
	notes.push(
		"weighted calibration error: mean distance of probability and frequency over bins of every code of every event, weighted by the probability in each bin; calibration error of the first choice: weighted by the events in each bin",
	);
	const codesOf = scoring.codesOfTokens(dataset.vocabulary);
	if (codesOf.hasRanges)
		notes.push(
			"numbers are of codes, the ranges of their values summed; nats with values also predict the range",
		);
	const patients = dataset.patients(split).length;
	return async (runtime, trained) => {
		const codes = probabilityBins(patients, codeEdges);
		const choices = probabilityBins(patients, choiceEdges);
		const calibrate: TakeScored = (patient, logProbabilities, recorded, rank) => {
			let first = 0;
			for (let code = specialCount; code < logProbabilities.length; code++) {
				if (codesOf.of(code) !== code) continue;
				const probability = Math.exp(logProbabilities[code]);
				codes.add(patient, probability, code === recorded);
				if (probability > first) first = probability;
			}
			choices.add(patient, first, rank === 0);
		};
		const { divide = alone } = runtime;
		const scores =
			trained &&
			(await divide(async (job) => {
				const all = await nextEventScores(runtime, trained, dataset, split, calibrate, job);
				for (const bins of [codes, choices]) bins.sumOver(job);
				return all;
			}));
		const rows: statistics.PatientRow[] = others.map(([name, baselineScores]) => ({
			name,
			statistics: statistics.ratioStatistics(ratiosOf(baselineScores)),
		}));
		if (scores)
			rows.unshift({
				name: { who: "model", label: trained.model.name },
				statistics: {
					...statistics.ratioStatistics(ratiosOf(scores)),
					weightedCalibrationError: codes.error("probability"),
					topCalibrationError: choices.error("predictions"),
				},
			});
		const first = scores ?? others[0]?.[1];
		return statistics.measured("next", options, rows, {
			patients,
			events: first?.total("events") ?? 0,
			notes,
			...(first && { newCodes: shareOfNew(first, options) }),
			...(scores && { calibration: codes.bins(options), topCalibration: choices.bins(options) }),
		});
	};
}

async function baselineScores(dataset: Dataset, options: EvaluateOptions, notes: string[]) {
	const { split, trainingDataset = dataset } = options;
	const smoothing = await scoring.chooseSmoothing(trainingDataset);
	notes.push(
		Number.isFinite(smoothing)
			? `own history: smoothed with ${smoothing.toFixed(2)} events spread as in training, chosen on the validation patients`
			: "own history: on the validation patients it did not help, so it is smoothed away",
	);
	const rows: (readonly [statistics.RowName, scoring.EventScores])[] = [
		[statistics.baselines.history, await scoring.countScores(dataset, split, smoothing)],
		[
			statistics.baselines.global,
			await scoring.countScores(dataset, split, Number.POSITIVE_INFINITY),
		],
	];
	const truth = await findSimulationTruth(dataset, options, notes);
	if (!truth) return rows;
	const { known, unknown } = await scoring.oracleScores(dataset, split, truth);
	return [
		...rows,
		[statistics.baselines.oracle, known],
		[statistics.baselines.uninformed, unknown],
	] as const;
}

/** The share of events whose code is new for the patient. */
const shareOfNew = ({ patients, column }: scoring.EventScores, options: EvaluateOptions): Measure =>
	statistics.bootstrap(
		patients.length,
		{ share: statistics.ratioOf(column("events", "new"), column("events")) },
		options,
	).share;

function ratiosOf({ column, total }: scoring.EventScores): statistics.Ratios {
	const perEvent = (sum: Parameters<typeof column>[0], group?: scoring.EventGroup) => ({
		parts: column(sum, group),
		wholes: column("events", group),
	});
	const nats = (sum: "logLikelihood" | "withValues", group?: scoring.EventGroup) => {
		const { parts, wholes } = perEvent(sum, group);
		return { parts: parts.map((logP) => -logP), wholes };
	};
	const recalls = (group: "known" | "new") => ({
		[`recall@1 ${group}`]: perEvent("correct", group),
		[`recall@5 ${group}`]: perEvent("among5", group),
		[`recall@10 ${group}`]: perEvent("among10", group),
	});
	const ofDays = (group: "first" | "rest") => ({
		[`nats ${group} of a day`]: nats("logLikelihood", group),
		[`recall@10 ${group} of a day`]: perEvent("among10", group),
	});
	const hasRest = total("events", "rest") > 0;
	const logPs = column("logLikelihood");
	const hasValues = column("withValues").some((logP, i) => logP !== logPs[i]);
	return {
		accuracy: perEvent("correct"),
		"recall@5": perEvent("among5"),
		"recall@10": perEvent("among10"),
		nats: nats("logLikelihood"),
		...(hasValues && { "nats with values": nats("withValues") }),
		...statistics.definedRatios({
			...recalls("known"),
			...recalls("new"),
			...(hasRest && ofDays("first")),
			...(hasRest && ofDays("rest")),
		}),
	};
}

type TrainedModel = Pick<Trained, "model" | "config" | "weights">;

/** Maximum number of slots per batch, padding included, and of numbers in its output. */
const mostSlots = 4096;
const mostNumbers = 2 ** 23;

/** log p of every token at each slot. */
function answerGraph({ model, config, weights }: TrainedModel, shape: BatchShape): Graph {
	if (!model.predictsEachEvent)
		throw new InputError(
			`${model.name} does not predict every event of a history in one pass; evaluate it on forecast`,
		);
	const { logits } = slotStates(model, config, parametersOf(weights), shape);
	return { outputs: { logProbabilities: logSoftmax(logits) } };
}

/**
 * Splits a history into sections of at most the model's context, each preceded by the birth event; `first` is the first
 * event in it to predict. Each section after the first begins halfway in the previous one, so that every event is
 * predicted from at least half a context.
 */
function sectionsOf(dataset: Dataset, patient: number, mostEvents: number) {
	const events = dataset.lengthOf(patient);
	const births: number = dataset.birthEventsOf(patient);
	const room = Math.max(2, mostEvents - births);
	const sections = [];
	for (let first = 0, to = births; to < events; first = to) {
		const step = to === births ? room : Math.floor(room / 2);
		to = Math.min(events, to + step);
		sections.push({ patient, births, from: Math.max(births, to - room), to, first });
	}
	return sections;
}

/**
 * Predicts every event after the first, of each patient of a split, given its time and all earlier events that
 * fit into the model's context: log p of every token. Patients come in any order, the events of a patient in order. Of
 * processes that share this, each predicts the events of its batches.
 */
async function* predictEvents(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	job: Communicator,
) {
	const vocab = dataset.vocabulary.size;
	const most = trained.model.context?.(trained.config) ?? Number.POSITIVE_INFINITY;
	const sections = Array.from(dataset.patients(split)).flatMap((patient) =>
		sectionsOf(dataset, patient, most),
	);
	if (sections.length === 0) return;
	const lengths = sections.map(({ from, to, births }) => to - from + births);
	const plan = planBatches(
		lengths,
		sections.map(({ births }) => births),
		{
			maxLength: lengths.reduce((a, b) => Math.max(a, b), 2),
			cut: "last",
			size: { slots: Math.max(1, Math.min(mostSlots, Math.floor(mostNumbers / vocab))) },
			seed: 0,
			passes: 1,
		},
	);
	const readSection = async (index: number): Promise<History> => {
		const { patient, from, to, births } = sections[index];
		const history = await dataset.read(patient);
		const isInside = (_: number, n: number) => n < births || (n >= from && n < to);
		return {
			...history,
			tokens: history.tokens.filter(isInside),
			times: history.times.filter(isInside),
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
				const { patient, births, from, first } = section;
				for (let slot = 0; slot < batch.lengths[row]; slot++) {
					const cell = row * batch.length + slot;
					const token = batch.tokens[cell];
					// Slots contain the birth event, then the events of the section.
					const position = slot < births ? slot : slot + from - births;
					if (position < first || !scoring.isPredicted(token, position)) continue;
					const logProbabilities = answers.subarray(cell * vocab, (cell + 1) * vocab);
					checkFinite(logProbabilities, "prediction");
					yield { patient, position, token, logProbabilities };
				}
			}
		}
	} finally {
		resident.dispose();
		await compiled.dispose();
	}
}

/** Called with every scored event: the patient, numbered within the split, log p of every code, the code, and its rank. */
type TakeScored = (
	patient: number,
	logProbabilities: Float32Array,
	code: number,
	rank: number,
) => void;

/** Scores a model on each patient of a split, by code. Each process calls `also` with the events that it has predicted. */
export async function nextEventScores(
	runtime: Runtime,
	trained: TrainedModel,
	dataset: Dataset,
	split: Split,
	also?: TakeScored,
	job: Communicator = oneProcess,
): Promise<scoring.EventScores> {
	const codes = scoring.codesOfTokens(dataset.vocabulary);
	const scores = await scoring.eventScores(dataset, split);
	const numbers = new Map(Array.from(scores.patients, (patient, i) => [patient, i]));
	for await (const predicted of predictEvents(runtime, trained, dataset, split, job)) {
		const { position, token, logProbabilities: ofTokens } = predicted;
		const patient = numbers.get(predicted.patient)!;
		const logProbabilities = codes.sumLogs(ofTokens);
		const code = codes.of(token);
		const rank = scoring.rankOf(logProbabilities, code);
		scores.add(patient, position, rank, logProbabilities[code], ofTokens[token]);
		also?.(patient, logProbabilities, code, rank);
	}
	if (job.size > 1) scores.sumOver(job);
	return scores;
}

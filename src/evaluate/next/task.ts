import { alone } from "../../base/communicator.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { bootstrap, ratioOf, type Statistic } from "../bootstrap.js";
import { probabilityBins } from "../calibration.js";
import type { Measure, MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { baselines, definedRatios, measureRows, type PatientRow } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { chooseSmoothing, countScores, oracleScores } from "./baselines.js";
import { nextEventScores } from "./next-event.js";
import { codesOfTokens, type PatientScore, type RankCounts } from "./scores.js";

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

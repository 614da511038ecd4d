import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { CodeConfig } from "../../model/heads.js";
import { fitLogistic, logisticScores, type Trained } from "../../model/train/index.js";
import { representations } from "../../predict/index.js";
import { spanText } from "../../predict/user-input/index.js";
import type { PatientRow } from "../rows.js";
import { probable, ranked, type TaskData, viewsOf } from "./label-set.js";
import {
	directionsOf,
	expectedDirection,
	pastDirection,
	standardised,
	standardOf,
} from "./standardised-directions.js";
import { isOnsetTask, type TaskCodes } from "./task-labels.js";
import { taskRisks } from "./task-risks.js";

/** The default number of labels per few-shot draw, and the number of draws. */
const usualShots = 5;
const shotDraws = 50;
/** Training patients whose representations, without labels, give mean and deviation. */
const standardPatients = 1000;
/** Training patients into whose histories codes are inserted. */
const insertedPatients = 40;

/** Rows with the pre-trained weights: similarity to a prototype, cumulative incidence, and few-shot. */
export async function frozenRows(
	data: TaskData,
	codes: TaskCodes,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<PatientRow[]> {
	const { dataset, trainingDataset, options, train, evaluated } = data;
	const { name } = trained.model;
	const { seed, shots = usualShots } = options;
	if (train.labels.length === 0) return riskRows(data, codes, runtime, trained, notes);
	const represent = (histories: Parameters<typeof representations>[2]) =>
		representations(runtime, trained, histories);
	const vectorsOf = async (whose: Dataset, labels: readonly Label[]) =>
		represent(await viewsOf(whose, labels));
	const labelsAt = (indices: readonly number[]) => indices.map((label) => train.labels[label]);
	const draws = drawShots(train.targets, shots, shotDraws, seed);
	const trainSample = random(seed)
		.fork("usual")
		.shuffle([...train.labels.keys()])
		.slice(0, standardPatients);
	const needed = [...new Set([...trainSample, ...draws.flat()])];
	const trainVectors = await vectorsOf(trainingDataset, labelsAt(needed));
	const width = trainVectors.length / needed.length;
	const standard = standardOf(trainVectors.subarray(0, trainSample.length * width), width);
	const evaluatedVectors = await vectorsOf(dataset, evaluated.labels);
	const directions = directionsOf(standardised(evaluatedVectors, standard), width);
	const prototype =
		codes.codesAre === "expected"
			? expectedDirection(trained, codes.prototype, standard)
			: await pastDirection(
					codes.prototype,
					standard,
					await viewsOf(trainingDataset, labelsAt(trainSample.slice(0, insertedPatients))),
					represent,
				);
	const noShots = { directions: new Float64Array(0), targets: [] };
	notes.push(`zero-shot: ${codes.words}`);
	const rows: PatientRow[] = [
		{
			name: {
				who: "model",
				label: `${name}, zero-shot prototype`,
				setting: "zero-shot prototype",
			},
			...ranked(evaluated, fewShotScores(prototype, noShots, directions)),
		},
		...(await riskRows(data, codes, runtime, trained, notes)),
	];
	if (draws.length === 0) {
		notes.push(`no ${shots}-shot row: too few labels of training patients`);
		return rows;
	}
	const trainDirections = directionsOf(standardised(trainVectors, standard), width);
	const positions = new Map(needed.map((label, position) => [label, position]));
	const shotDirections = (draw: Shots) =>
		Float64Array.from(
			draw.flatMap((label) => {
				const first = positions.get(label)! * width;
				return [...trainDirections.subarray(first, first + width)];
			}),
		);
	const scores = draws.map((draw) => {
		const targets = draw.map((label) => train.targets[label]);
		return fewShotScores(prototype, { directions: shotDirections(draw), targets }, directions);
	});
	notes.push(
		`${shots}-shot: mean over ${draws.length} draws of ${Math.ceil(shots / 2)} positive and ${Math.floor(shots / 2)} negative training patients; intervals over patients and draws`,
	);
	rows.push({
		name: {
			who: "model",
			label: `${name}, ${shots}-shot`,
			...(shots === usualShots && { setting: "5-shot" }),
		},
		byPatient: { scored: { labelled: evaluated, scores } },
	});
	return rows;
}

/** The row of the model's own risk, if it has learned hazards of the task's codes. */
async function riskRows(
	{ task, dataset, evaluated }: TaskData,
	codes: TaskCodes,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<PatientRow[]> {
	const rows: PatientRow[] = [];
	if ((trained.config as CodeConfig).hazards && codes.risk.length > 0) {
		const risk = await taskRisks(runtime, trained, dataset, evaluated.labels, codes);
		const label = `${trained.model.name}, zero-shot risk`;
		rows.push({
			name: { who: "model", label, setting: "zero-shot risk" },
			// Only onset labels have this definition: those of the paper have another, and insulin also counts the same day.
			...(isOnsetTask(dataset, task) ? probable(evaluated, risk) : ranked(evaluated, risk)),
		});
		const today = codes.sameDay ? ", or that a further record of that day is one" : "";
		notes.push(
			`zero-shot risk: probability of a record within ${spanText(codes.horizonDays)} of the index day, death competing${today}`,
		);
	} else
		notes.push(
			codes.risk.length > 0
				? "no zero-shot risk: the model has learned no hazards"
				: "no zero-shot risk: the code of the task is not a token; for insulin, prepare with --drugs tokens",
		);
	return rows;
}

/** The indices of the labels of one draw. */
type Shots = readonly number[];

/**
 * Draws of `shots` labels, balanced between positives and negatives with an odd label positive: unbalanced, five
 * labels would rarely contain a positive. No draws if there are too few labels.
 */
export function drawShots(
	targets: ArrayLike<number>,
	shots: number,
	draws: number,
	seed: number,
): Shots[] {
	const all = Array.from({ length: targets.length }, (_, index) => index);
	const positives = all.filter((label) => targets[label]);
	const negatives = all.filter((label) => !targets[label]);
	const wanted = Math.ceil(shots / 2);
	if (positives.length < wanted || negatives.length < shots - wanted) return [];
	const stream = random(seed).fork("shots");
	return Array.from({ length: draws }, (_, draw) => {
		const drawStream = stream.fork(draw);
		return [
			...drawStream.shuffle(positives).slice(0, wanted),
			...drawStream.shuffle(negatives).slice(0, shots - wanted),
		];
	});
}

/**
 * Scores of a classifier trained on few labels. The prior of the weights is a Gaussian around the prototype, a
 * vector of length 1, with variance 1 / width each, so that labels are expected to add a vector of the same
 * length. Without labels the score is the similarity to the prototype.
 */
export function fewShotScores(
	prototype: Float64Array,
	taught: { readonly directions: Float64Array; readonly targets: ArrayLike<number> },
	directions: Float64Array,
): Float64Array {
	const width = prototype.length;
	const fit = fitLogistic(taught.directions, taught.targets, width, {
		precision: width,
		centre: prototype,
	});
	return logisticScores(directions, fit);
}

import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../cohort/index.js";
import { representations } from "../../infer/index.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";
import type { CalibrationBin, MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { baselines, measureRows, type PatientRow } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { drawShots, fewShotScores } from "./few-shot.js";
import { fineTuned } from "./fine-tuned.js";
import { labelOracles } from "./oracle.js";
import { countRegression, recordCounts } from "./own-history.js";
import { type Questions, questionsOf, viewsOf } from "./questions.js";
import {
	directionsOf,
	expectedDirection,
	pastDirection,
	standardised,
	standardOf,
} from "./standardised-directions.js";
import { binsFor, calibrationBins, probabilityStatistics } from "./statistics.js";
import { type TaskCodes, taskCodes } from "./task-codes.js";
import { risks } from "./zero-shot-risk.js";

/** Labels of a draw, if not told otherwise, and how often they are drawn. */
const usualShots = 5;
const shotDraws = 50;
/** Training patients whose vectors, not their answers, say what is usual. */
const usualPatients = 1000;
/** Those among them into whose histories codes are put. */
const movedPatients = 40;

interface Opened {
	readonly task: string;
	readonly dataset: Dataset;
	readonly options: EvaluateOptions;
	readonly labels: readonly Label[];
	readonly train: Questions;
	readonly valid: Questions;
	readonly asked: Questions;
	readonly codes: TaskCodes | undefined;
}

/**
 * A task that asks yes or no: zero-shot, with few labels and fine-tuned, beside opponents that count.
 * The opponents are measured once.
 */
export async function labelledTask(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws } = options;
	const labels = await dataset.labels(task);
	const opened: Opened = {
		...{ task, dataset, options, labels },
		train: questionsOf(dataset, labels, "train"),
		valid: questionsOf(dataset, labels, "valid"),
		asked: questionsOf(dataset, labels, split),
		codes: taskCodes(task, dataset.vocabulary, options.code),
	};
	const { asked } = opened;
	const positive = asked.answers.reduce((a, b) => a + b, 0);
	if (positive === 0 || positive === asked.answers.length)
		throw new InputError(
			`${dataset.folder}: ${positive} of the ${asked.answers.length} labels of ${task} in split ${split} are positive; ` +
				"both answers are needed to measure anything: prepare more patients, or with other splits (`trajgpt prepare --splits`)",
		);
	const notes = [`${asked.answers.length} questions, ${positive} of them positive`];
	if (split !== "test")
		notes.push(
			split === "train"
				? "measured on the labels that few-shot and fine-tuning learn from: too good to be true"
				: "measured on the labels that chose the fine-tuned epoch and its scale: a little too good",
		);
	const others = options.baselines === false ? [] : await baselineRows(opened, notes);
	return async (runtime, trained) => {
		const own = [...notes];
		const { rows, calibration } = trained
			? await modelRows(opened, runtime, trained, own)
			: { rows: [] };
		return {
			task,
			split,
			patients: asked.count,
			events: asked.labels.reduce((sum, { events }) => sum + events, 0),
			seed,
			draws,
			notes: own,
			...measureRows([...rows, ...others], asked.count, options),
			...(calibration && { calibration }),
		};
	};
}

const ranked = (answered: Questions, scores: ArrayLike<number>): PatientRow["byPatient"] => ({
	scored: { answered, scores: [scores] },
});

/** Scores that are probabilities: also how far they are from what came. */
const probable = (answered: Questions, probabilities: ArrayLike<number>) => ({
	byPatient: ranked(answered, probabilities),
	more: probabilityStatistics(answered, probabilities),
});

/** Of the model: as many rows as there are ways to ask it. */
async function modelRows(
	opened: Opened,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<{ rows: PatientRow[]; calibration?: CalibrationBin[] }> {
	const { task, dataset, options, labels, valid, asked, codes } = opened;
	const { name, pretraining } = trained.model;
	const rows: PatientRow[] =
		codes && pretraining !== "none" ? await frozenRows(opened, codes, runtime, trained, notes) : [];
	if (pretraining === "none")
		notes.push(`no zero-shot and few-shot rows: ${name} is trained on each task from scratch`);
	else if (!codes)
		notes.push("no zero-shot and few-shot rows: name the code the task is about with --code");
	const tuned = await fineTuned(runtime, trained, dataset, task, labels, valid, asked);
	if (!tuned) {
		notes.push(`not fine-tuned: run \`trajgpt finetune ${trained.folder} --task ${task}\``);
		return { rows };
	}
	const bins = binsFor(asked.answers.length);
	notes.push(
		`fine-tuned: epoch ${tuned.epoch}, the best by validation; log-odds times ${tuned.slope.toFixed(2)} ${tuned.shift < 0 ? "−" : "+"} ${Math.abs(tuned.shift).toFixed(2)}, as the validation labels say`,
		`calibration: ${bins} bins of about ${Math.round(asked.answers.length / bins)} questions; by chance alone a perfect forecast would have an error of ${(100 * chanceError(tuned.probabilities, bins)).toFixed(1)} points`,
	);
	rows.push({
		name: { who: "model", label: `${name}, fine-tuned`, setting: "fine-tuned" },
		...probable(asked, tuned.probabilities),
	});
	return { rows, calibration: calibrationBins(asked, tuned.probabilities).bins(options) };
}

/** The calibration error that chance alone gives: mean |observed − p| of a part of a binomial. */
function chanceError(probabilities: Float64Array, bins: number): number {
	const sorted = probabilities.slice().sort();
	const size = sorted.length / bins;
	let sum = 0;
	for (let bin = 0; bin < bins; bin++) {
		const own = sorted.subarray(Math.round(bin * size), Math.round((bin + 1) * size));
		const variance = own.reduce((total, p) => total + p * (1 - p), 0) / own.length ** 2;
		if (own.length > 0) sum += Math.sqrt((2 / Math.PI) * variance) / bins;
	}
	return sum;
}

/** With the pre-trained weights as they are: likeness to a prototype, own risk, and few labels. */
async function frozenRows(
	{ dataset, options, train, asked }: Opened,
	codes: TaskCodes,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<PatientRow[]> {
	const name = trained.model.name;
	const { seed, shots = usualShots } = options;
	const draws = drawShots(train.answers, shots, shotDraws, seed);
	const sample = random(seed)
		.fork("usual")
		.shuffle([...train.labels.keys()])
		.slice(0, usualPatients);
	const needed = [...new Set([...sample, ...draws.flat()])];
	const vectorsOf = async (labels: readonly Label[]) =>
		representations(runtime, trained, await viewsOf(dataset, labels));
	const known = await vectorsOf(needed.map((at) => train.labels[at]!));
	const width = known.length / needed.length;
	const standard = standardOf(known.subarray(0, sample.length * width), width);
	const directions = directionsOf(standardised(await vectorsOf(asked.labels), standard), width);
	const prototype =
		codes.codesAre === "expected"
			? expectedDirection(trained, codes.prototype, standard)
			: await pastDirection(
					codes.prototype,
					standard,
					await viewsOf(
						dataset,
						sample.slice(0, movedPatients).map((at) => train.labels[at]!),
					),
					(histories) => representations(runtime, trained, histories),
				);
	const likeness = fewShotScores(
		prototype,
		{ directions: new Float64Array(0), answers: [] },
		directions,
	);
	notes.push(`zero-shot: ${codes.words}`);
	const rows: PatientRow[] = [
		{
			name: {
				who: "model",
				label: `${name}, zero-shot prototype`,
				setting: "zero-shot prototype",
			},
			byPatient: ranked(asked, likeness),
		},
	];
	// A model that forecasts after fine-tuning has no risk of its own before.
	if (trained.model.forecasting.after === "pretraining") {
		const predictor = trained.model.predictor(runtime, trained.config, trained.weights);
		const risk = await risks(predictor, dataset, asked.labels, codes.risk).finally(() =>
			predictor.dispose(),
		);
		rows.push({
			name: { who: "model", label: `${name}, zero-shot risk`, setting: "zero-shot risk" },
			byPatient: ranked(asked, risk),
		});
	}
	if (draws.length === 0) {
		notes.push(`no ${shots}-shot row: too few labels of training patients`);
		return rows;
	}
	const taught = directionsOf(standardised(known, standard), width);
	const places = new Map(needed.map((at, place) => [at, place]));
	const scores = draws.map((shot) =>
		fewShotScores(
			prototype,
			{
				directions: Float64Array.from(
					shot.flatMap((at) => {
						const first = places.get(at)! * width;
						return [...taught.subarray(first, first + width)];
					}),
				),
				answers: shot.map((at) => train.answers[at]!),
			},
			directions,
		),
	);
	notes.push(
		`${shots}-shot: mean over ${draws.length} draws of ${Math.ceil(shots / 2)} positive and ${Math.floor(shots / 2)} negative training patients; intervals over patients and draws`,
	);
	rows.push({
		name: {
			who: "model",
			label: `${name}, ${shots}-shot`,
			...(shots === usualShots && { setting: "5-shot" }),
		},
		byPatient: { scored: { answered: asked, scores } },
	});
	return rows;
}

async function baselineRows(
	{ task, dataset, options, train, valid, asked, codes }: Opened,
	notes: string[],
): Promise<PatientRow[]> {
	const rows: PatientRow[] = [];
	const taught = train.answers.reduce((a, b) => a + b, 0);
	if (taught > 0 && taught < train.answers.length && valid.answers.length > 0) {
		const { logOdds, precision } = await countRegression(dataset, train, valid, asked);
		rows.push({
			name: { ...baselines.history, label: "own history, all labels", setting: "fine-tuned" },
			...probable(
				asked,
				logOdds.map((z) => 1 / (1 + Math.exp(-z))),
			),
		});
		notes.push(
			`own history, all labels: logistic regression on counts of codes, length and last gap, from ${train.answers.length} training labels (${taught} positive); precision ${precision} chosen on validation`,
		);
	}
	if (codes) {
		const related = [...new Set(codes.prototype.flat())];
		rows.push({
			name: { ...baselines.history, label: "own history, related records" },
			byPatient: ranked(asked, await recordCounts(dataset, asked.labels, related)),
		});
	}
	rows.push({
		name: { ...baselines.global, label: "prevalence" },
		...probable(
			asked,
			new Float64Array(asked.answers.length).fill(taught / Math.max(1, train.answers.length)),
		),
	});
	const oracle = labelOracles[task];
	if (!oracle) return rows;
	const found = await findSimulationTruth(dataset, options.split, options.oracle);
	if ("truth" in found) {
		const chances = await oracle.chances(dataset, asked.labels, found.truth);
		rows.push({
			name: baselines.oracle,
			...(oracle.calibrated ? probable(asked, chances) : { byPatient: ranked(asked, chances) }),
		});
		notes.push(`oracle: the true chance of ${oracle.of}`);
	} else if (found.reason) notes.push(`no oracle: ${found.reason}`);
	return rows;
}

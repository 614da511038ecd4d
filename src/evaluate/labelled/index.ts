import { InputError } from "../../base/errors.js";
import { probabilityOf } from "../../base/log-odds.js";
import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../cohort/index.js";
import { representations } from "../../infer/index.js";
import { spanText } from "../../infer/user-input/index.js";
import type { CodeConfig } from "../../models/heads/codes.js";
import type { Runtime } from "../../runtime/index.js";
import { finetuneCommand, type Trained } from "../../train/index.js";
import type { CalibrationBin, MeasureRun } from "../evaluation.js";
import { evenlySpread, mostTaught, takenOf } from "../evenly-spread.js";
import type { EvaluateOptions } from "../options.js";
import { type LabelPrediction, personAt } from "../predictions.js";
import { baselines, measureRows, type PatientRow } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { tooFewText } from "../too-few.js";
import { drawShots, fewShotScores } from "./few-shot.js";
import { fineTuned, prevalenceOf } from "./fine-tuned.js";
import { type LabelSet, labelSetOf, viewsOf } from "./label-set.js";
import { labelOracles, onsetOracle } from "./oracle.js";
import { countRegression, recordCounts } from "./own-history.js";
import {
	directionsOf,
	expectedDirection,
	pastDirection,
	standardised,
	standardOf,
} from "./standardised-directions.js";
import { binsFor, calibrationBins, probabilityStatistics } from "./statistics.js";
import { type TaskCodes, taskCodes } from "./task-codes.js";
import { isOnsetTask, taskLabels } from "./task-labels.js";
import { ageSexRisk, taskRisks } from "./zero-shot-risk.js";

/** The default number of labels per few-shot draw, and the number of draws. */
const usualShots = 5;
const shotDraws = 50;
/** Training patients whose representations, without labels, give mean and deviation. */
const usualPatients = 1000;
/** Training patients into whose histories codes are inserted. */
const movedPatients = 40;

interface Opened {
	readonly task: string;
	readonly dataset: Dataset;
	/** The dataset of the training and validation labels. */
	readonly home: Dataset;
	readonly options: EvaluateOptions;
	readonly labels: readonly Label[];
	readonly train: LabelSet;
	readonly valid: LabelSet;
	readonly evaluated: LabelSet;
	readonly codes: TaskCodes | undefined;
}

/**
 * A task with binary labels: zero-shot, few-shot and fine-tuned rows of the model, and baselines. The baselines
 * are evaluated once.
 */
export async function labelledTask(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws, home = dataset } = options;
	const { labels, notes: taskNotes } = await taskLabels(dataset, task);
	const taught = home === dataset ? labels : (await taskLabels(home, task)).labels;
	const opened: Opened = {
		...{ task, dataset, home, options, labels },
		train: labelSetOf(home, taught, "train"),
		valid: labelSetOf(home, taught, "valid"),
		evaluated: labelSetOf(dataset, labels, split),
		codes: taskCodes(task, dataset.vocabulary, options.code),
	};
	const { evaluated } = opened;
	const positive = positivesOf(evaluated);
	if (positive === 0 || positive === evaluated.targets.length)
		throw new InputError(
			`${dataset.folder}: ${positive} of the ${evaluated.targets.length} labels of ${task} in split ${split} are positive; ` +
				"both classes are needed: prepare more patients, or use other splits (`trajgpt prepare --splits`)",
		);
	const notes = [
		...taskNotes(split),
		`${evaluated.targets.length} labels, ${positive} of them positive`,
	];
	if (split !== "test")
		notes.push(
			split === "train"
				? "measured on the labels that few-shot and fine-tuning learn from: too good to be true"
				: "measured on the labels that chose the fine-tuned epoch and its scale: a little too good",
		);
	const others = options.baselines === false ? [] : await baselineRows(opened, notes);
	const tooFew = tooFewText({
		...{ split, patients: evaluated.count },
		labels: { positive, all: evaluated.targets.length },
	});
	return async (runtime, trained) => {
		const own = [...notes];
		const { rows, calibration } = trained
			? await modelRows(opened, runtime, trained, own)
			: { rows: [] };
		return {
			task,
			split,
			patients: evaluated.count,
			events: evaluated.labels.reduce((sum, { events }) => sum + events, 0),
			seed,
			draws,
			notes: own,
			...(tooFew && { tooFew }),
			...measureRows([...rows, ...others], evaluated.count, options),
			...(calibration && { calibration }),
		};
	};
}

const positivesOf = ({ targets }: LabelSet) => targets.reduce((a, b) => a + b, 0);

const ranked = (labelled: LabelSet, scores: ArrayLike<number>): PatientRow["byPatient"] => ({
	scored: { labelled, scores: [scores] },
});

/** Scores that are probabilities, so their distance from the labels is also measured. */
const probable = (labelled: LabelSet, probabilities: ArrayLike<number>) => ({
	byPatient: ranked(labelled, probabilities),
	more: probabilityStatistics(labelled, probabilities),
});

/** The rows of the model, one per setting. */
async function modelRows(
	opened: Opened,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<{ rows: PatientRow[]; calibration?: CalibrationBin[] }> {
	const { task, dataset, options, labels, evaluated, codes } = opened;
	const { name, pretraining } = trained.model;
	const rows: PatientRow[] =
		codes && pretraining !== "none" ? await frozenRows(opened, codes, runtime, trained, notes) : [];
	if (pretraining === "none")
		notes.push(`no zero-shot and few-shot rows: ${name} is trained on each task from scratch`);
	else if (!codes)
		notes.push("no zero-shot and few-shot rows: name the code the task is about with --code");
	const tuned = await fineTuned(runtime, trained, dataset, task, labels, opened);
	if (!tuned) {
		const risk = rows.find(({ name: own }) => own.setting === "zero-shot risk");
		if (risk && "scored" in risk.byPatient)
			await tellPredictions(opened, risk.name.label, risk.byPatient.scored.scores[0]!);
		const labelFile = dataset.labelFiles?.[task];
		notes.push(`not fine-tuned: run \`${finetuneCommand(trained.folder, { task, labelFile })}\``);
		return { rows };
	}
	await tellPredictions(opened, `${name}, fine-tuned`, tuned.probabilities);
	const bins = binsFor(evaluated.targets.length);
	notes.push(
		`fine-tuned: epoch ${tuned.epoch}, the best by validation; log-odds times ${tuned.slope.toFixed(2)} ${tuned.shift < 0 ? "−" : "+"} ${Math.abs(tuned.shift).toFixed(2)}, as the validation labels say`,
		`calibration: ${bins} bins of about ${Math.round(evaluated.targets.length / bins)} labels; by chance a perfect model would have an error of ${(100 * chanceError(tuned.probabilities, bins)).toFixed(1)} points`,
	);
	rows.push({
		name: { who: "model", label: `${name}, fine-tuned`, setting: "fine-tuned" },
		...probable(evaluated, tuned.probabilities),
	});
	return { rows, calibration: calibrationBins(evaluated, tuned.probabilities).bins(options) };
}

/** Passes on the predictions of the evaluated labels. */
async function tellPredictions(
	{ dataset, evaluated, options }: Opened,
	row: string,
	probabilities: ArrayLike<number>,
): Promise<void> {
	if (!options.onPredictions) return;
	const predictions: LabelPrediction[] = [];
	for (const [at, { patient, time, value, weight }] of evaluated.labels.entries())
		predictions.push({
			...personAt(await dataset.read(patient), time),
			...{ time, weight, label: value, probability: probabilities[at] as number },
		});
	const isWeighted = evaluated.weights.some((weight) => weight !== 1);
	const notes = isWeighted
		? [
				"labels have weights (inverse probability of censoring), which only the plain schema has: tools that leave them out give other numbers than evaluate",
			]
		: [];
	options.onPredictions({ row, predictions, notes });
}

/** The calibration error expected by chance: mean |observed − p| of a binomial fraction. */
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

/** Rows with the pre-trained weights: similarity to a prototype, cumulative incidence, and few-shot. */
async function frozenRows(
	opened: Opened,
	codes: TaskCodes,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<PatientRow[]> {
	const { dataset, home, options, train, evaluated } = opened;
	const name = trained.model.name;
	const { seed, shots = usualShots } = options;
	if (train.labels.length === 0) return riskRows(opened, codes, runtime, trained, notes);
	const draws = drawShots(train.targets, shots, shotDraws, seed);
	const sample = random(seed)
		.fork("usual")
		.shuffle([...train.labels.keys()])
		.slice(0, usualPatients);
	const needed = [...new Set([...sample, ...draws.flat()])];
	const vectorsOf = async (whose: Dataset, labels: readonly Label[]) =>
		representations(runtime, trained, await viewsOf(whose, labels));
	const known = await vectorsOf(
		home,
		needed.map((at) => train.labels[at]!),
	);
	const width = known.length / needed.length;
	const standard = standardOf(known.subarray(0, sample.length * width), width);
	const asked = await vectorsOf(dataset, evaluated.labels);
	const directions = directionsOf(standardised(asked, standard), width);
	const prototype =
		codes.codesAre === "expected"
			? expectedDirection(trained, codes.prototype, standard)
			: await pastDirection(
					codes.prototype,
					standard,
					await viewsOf(
						home,
						sample.slice(0, movedPatients).map((at) => train.labels[at]!),
					),
					(histories) => representations(runtime, trained, histories),
				);
	const similarity = fewShotScores(
		prototype,
		{ directions: new Float64Array(0), targets: [] },
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
			byPatient: ranked(evaluated, similarity),
		},
		...(await riskRows(opened, codes, runtime, trained, notes)),
	];
	if (draws.length === 0) {
		notes.push(`no ${shots}-shot row: too few labels of training patients`);
		return rows;
	}
	const taught = directionsOf(standardised(known, standard), width);
	const positions = new Map(needed.map((at, position) => [at, position]));
	const scores = draws.map((shot) =>
		fewShotScores(
			prototype,
			{
				directions: Float64Array.from(
					shot.flatMap((at) => {
						const first = positions.get(at)! * width;
						return [...taught.subarray(first, first + width)];
					}),
				),
				targets: shot.map((at) => train.targets[at]!),
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
		byPatient: { scored: { labelled: evaluated, scores } },
	});
	return rows;
}

/** The row of the model's own risk, if it has learned hazards of the task's codes. */
async function riskRows(
	{ task, dataset, evaluated }: Opened,
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
			// Other labels ask something else: those of the paper, and insulin on any record of the same day.
			...(isOnsetTask(dataset, task)
				? probable(evaluated, risk)
				: { byPatient: ranked(evaluated, risk) }),
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

async function baselineRows(
	{ task, dataset, home, options, train, valid, evaluated, codes }: Opened,
	notes: string[],
): Promise<PatientRow[]> {
	const rows: PatientRow[] = [];
	const most = options.regressionPatients ?? mostTaught;
	const taught = labelSetOf(home, evenlySpread(train.labels, most), "train");
	const positive = positivesOf(taught);
	if (positive > 0 && positive < taught.targets.length && valid.targets.length > 0) {
		const { logOdds, precision } = await countRegression(
			{
				dataset: home,
				train: taught,
				valid: labelSetOf(home, evenlySpread(valid.labels, most), "valid"),
			},
			{ dataset, evaluated },
		);
		rows.push({
			name: { ...baselines.history, label: "own history, all labels", setting: "fine-tuned" },
			...probable(evaluated, logOdds.map(probabilityOf)),
		});
		notes.push(
			`own history, all labels: logistic regression on counts of codes, length and last gap, from ${takenOf(train.targets.length, most)} training labels${train.targets.length > most ? ", as many as `--regression-patients` says" : ""} (${positive} positive); precision ${precision} chosen on validation`,
		);
	} else if (train.targets.length > most && valid.targets.length > 0)
		notes.push(
			`no row own history, all labels: ${positive} of the ${takenOf(train.targets.length, most)} training labels that the regression learns from are positive, and both classes are needed; \`--regression-patients\` sets how many it learns from`,
		);
	if (codes) {
		const related = [...new Set(codes.prototype.flat())];
		rows.push({
			name: { ...baselines.history, label: "own history, related records" },
			byPatient: ranked(evaluated, await recordCounts(dataset, evaluated.labels, related)),
		});
	}
	rows.push({
		name: { ...baselines.global, label: "prevalence" },
		...probable(evaluated, new Float64Array(evaluated.targets.length).fill(prevalenceOf(train))),
	});
	if (isOnsetTask(dataset, task) && codes) {
		rows.push({
			name: { ...baselines.global, label: "age and sex" },
			...probable(evaluated, await ageSexRisk(home, dataset, evaluated.labels, codes)),
		});
		const found = await onsetOracle(dataset, evaluated.labels, codes, options);
		if ("chances" in found)
			rows.push({ name: baselines.oracle, ...probable(evaluated, found.chances) });
		notes.push(...found.notes);
		return rows;
	}
	const oracle = labelOracles[task];
	if (!oracle) return rows;
	const found = await findSimulationTruth(dataset, options.split, options.oracle);
	if ("truth" in found) {
		const chances = await oracle.chances(dataset, evaluated.labels, found.truth);
		rows.push({
			name: baselines.oracle,
			...(oracle.calibrated
				? probable(evaluated, chances)
				: { byPatient: ranked(evaluated, chances) }),
		});
		notes.push(`reference model: the true chance of ${oracle.of}`);
	} else if (found.reason) notes.push(`no reference model: ${found.reason}`);
	return rows;
}

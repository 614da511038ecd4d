import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import * as glm from "../../model/glm.js";
import type { CodeConfig } from "../../model/heads.js";
import * as tuning from "../../model/train/index.js";
import { logOddsOf, representations, taskScorer } from "../../predict/index.js";
import { spanText } from "../../predict/user-input/moments.js";
import type { PatientRow, RowName } from "../bootstrap.js";
import { type EvaluateOptions, isExternal } from "../evaluation.js";
import * as labelSets from "./label-set.js";
import { type LabelStart, labelStart } from "./label-start.js";
import * as regressions from "./regression.js";
import * as taskLabels from "./task-labels.js";

export interface TaskData {
	readonly task: string;
	readonly dataset: Dataset;
	/** The dataset of the training and validation labels. */
	readonly trainingDataset: Dataset;
	readonly options: EvaluateOptions;
	readonly labels: readonly Label[];
	readonly train: labelSets.LabelSet;
	readonly valid: labelSets.LabelSet;
	readonly evaluated: labelSets.LabelSet;
	readonly codes: taskLabels.TaskCodes | undefined;
}

/** A row that scores each label once. */
export interface ScoredRow extends PatientRow {
	readonly scores?: ArrayLike<number>;
}

/** A row of scores; of probabilities, their distance from the labels is measured too, otherwise only their ranking. */
export const scoredRow = (
	name: RowName,
	labelled: labelSets.LabelSet,
	scores: ArrayLike<number>,
	areProbabilities = true,
): ScoredRow => ({
	name,
	scores,
	statistics: {
		...labelSets.rankStatistics(labelled, scores),
		...(areProbabilities && labelSets.probabilityStatistics(labelled, scores)),
	},
});

const usualShots = 5;
const shotDraws = 50;
/** Training patients whose representations, without labels, give mean and deviation. */
const standardPatients = 1000;
/** Training patients into whose histories codes are inserted. */
const insertedPatients = 40;

/** Rows with the pre-trained weights: similarity to a prototype, cumulative incidence, and few-shot. */
export async function frozenRows(
	data: TaskData,
	codes: taskLabels.TaskCodes,
	runtime: Runtime,
	trained: tuning.Trained,
	notes: string[],
): Promise<ScoredRow[]> {
	const { dataset, trainingDataset, options, train, evaluated } = data;
	const { name } = trained.model;
	const { seed, shots = usualShots } = options;
	if (train.labels.length === 0) return riskRows(data, codes, runtime, trained, notes);
	const represent = (histories: Parameters<typeof representations>[2]) =>
		representations(runtime, trained, histories);
	const viewsAt = (indices: readonly number[]) =>
		labelSets.viewsOf(
			trainingDataset,
			indices.map((label) => train.labels[label]),
		);
	const draws = drawShots(train.targets, shots, shotDraws, seed);
	const trainSample = random(seed)
		.fork("usual")
		.shuffle([...train.labels.keys()])
		.slice(0, standardPatients);
	const needed = [...new Set([...trainSample, ...draws.flat()])];
	const trainVectors = await represent(await viewsAt(needed));
	const width = trainVectors.length / needed.length;
	const standard = regressions.standardOf(
		trainVectors.subarray(0, trainSample.length * width),
		width,
	);
	const directionsIn = (vectors: Float32Array) =>
		regressions.directionsOf(regressions.standardised(vectors, standard), width);
	const views = await labelSets.viewsOf(dataset, evaluated.labels);
	const directions = glm.denseRows(directionsIn(await represent(views)), width);
	const prototype =
		codes.codesAre === "expected"
			? regressions.expectedDirection(trained, codes.prototype, standard)
			: await regressions.pastDirection(
					codes.prototype,
					standard,
					await viewsAt(trainSample.slice(0, insertedPatients)),
					represent,
				);
	const noShots = { directions: new Float64Array(0), targets: [] };
	notes.push(`zero-shot: ${codes.words}`);
	const rows = [
		scoredRow(
			{ who: "model", label: `${name}, zero-shot prototype`, setting: "zero-shot prototype" },
			evaluated,
			fewShotScores(prototype, noShots, directions),
			false,
		),
		...(await riskRows(data, codes, runtime, trained, notes)),
	];
	if (draws.length === 0) {
		notes.push(`no ${shots}-shot row: too few labels of training patients`);
		return rows;
	}
	const trainDirections = directionsIn(trainVectors);
	const directionOf = (label: number) => {
		const first = needed.indexOf(label) * width;
		return [...trainDirections.subarray(first, first + width)];
	};
	const scores = draws.map((draw) => {
		const targets = draw.map((label) => train.targets[label]);
		const taught = { directions: Float64Array.from(draw.flatMap(directionOf)), targets };
		return fewShotScores(prototype, taught, directions);
	});
	notes.push(
		`${shots}-shot: mean over ${draws.length} draws of ${Math.ceil(shots / 2)} positive and ${Math.floor(shots / 2)} negative training patients; intervals over patients and draws`,
	);
	const label = `${name}, ${shots}-shot`;
	rows.push({
		name: { who: "model", label, ...(shots === usualShots && { setting: "5-shot" }) },
		statistics: labelSets.fewShotStatistics(evaluated, scores),
	});
	return rows;
}

async function riskRows(
	{ task, dataset, evaluated }: TaskData,
	codes: taskLabels.TaskCodes,
	runtime: Runtime,
	trained: tuning.Trained,
	notes: string[],
): Promise<ScoredRow[]> {
	const hasCode = codes.risk.length > 0;
	if (!hasCode || !(trained.config as CodeConfig).hazards) {
		notes.push(
			hasCode
				? "no zero-shot risk: the model has learned no hazards"
				: "no zero-shot risk: the code of the task is not a token; for insulin, prepare with --drugs tokens",
		);
		return [];
	}
	const risk = await taskLabels.taskRisks(runtime, trained, dataset, evaluated.labels, codes);
	const today = codes.sameDay ? ", or that a further record of that day is one" : "";
	notes.push(
		`zero-shot risk: probability of a record within ${spanText(codes.horizonDays)} of the index day, death competing${today}`,
	);
	const label = `${trained.model.name}, zero-shot risk`;
	// Only onset labels have this definition: those of the paper have another, and insulin also counts the same day.
	const areProbabilities = taskLabels.isOnsetTask(dataset, task);
	const name = { who: "model", label, setting: "zero-shot risk" } as const;
	return [scoredRow(name, evaluated, risk, areProbabilities)];
}

/**
 * Draws of `shots` labels, balanced between positives and negatives with an odd label positive: unbalanced, five
 * labels would rarely contain a positive. No draws if there are too few labels.
 */
export function drawShots(targets: ArrayLike<number>, shots: number, draws: number, seed: number) {
	const all = [...Array.from(targets).keys()];
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
	directions: glm.SparseRows,
): Float64Array {
	const rows = glm.denseRows(taught.directions, prototype.length);
	const prior = { precision: prototype.length, centre: prototype };
	return glm.linearPredictor(
		directions,
		glm.fitLogistic(rows, glm.weightedLabels(taught.targets), prior),
	);
}

/** Predictions with the fine-tuned weights of a run, and their scale; undefined if there are none for the task. */
export async function fineTuned(
	runtime: Runtime,
	trained: tuning.Trained,
	{ task, dataset, labels, train, valid, evaluated }: TaskData,
) {
	const begun = tuning.readTask(trained.folder, task);
	const best = begun && tuning.taskWeights(trained.folder, task);
	if (!begun || !best) return undefined;
	const external = isExternal(trained, dataset);
	const { labels: count = 0, labelsHash = "" } = begun.identity;
	tuning.checkTask(trained.folder, begun, {
		...tuning.taskIdentity(trained, labels),
		...(external && { labels: count, labelsHash }),
	});
	const kept = tuning.readScoring(trained.folder, task, best.step);
	if (!kept && external)
		throw new InputError(
			`${trained.folder} has no scale for the probabilities of ${task}, which comes from its own validation labels; run \`${tuning.finetuneCommand(trained.folder, begun, "--resume")}\``,
		);
	const scoring = kept ?? (await fitScoring(runtime, trained, dataset, begun, { train, valid }));
	const scorer = taskScorer(runtime, trained, { scoring, weights: best.weights });
	const probabilities = await scorer
		.probabilities(await labelSets.viewsOf(dataset, evaluated.labels), evaluated.patients)
		.finally(() => scorer.dispose());
	return { probabilities, scoring, epoch: best.epoch };
}

/** What turns the log-odds of a fine-tuned model into probabilities: its regression, and how much the network adds. */
export async function fitScoring(
	runtime: Runtime,
	trained: tuning.Trained,
	dataset: Dataset,
	{ task, options: { maxLength } }: tuning.Task,
	{ train, valid }: Readonly<Record<"train" | "valid", labelSets.LabelSet>>,
	start?: LabelStart,
): Promise<tuning.Scoring> {
	const best = tuning.taskWeights(trained.folder, task);
	if (!best) throw new InputError(`${trained.folder} has no fine-tuned weights of ${task}`);
	const codes = taskLabels.taskCodes(task, dataset.vocabulary, undefined);
	const labels = { train: train.labels, valid: valid.labels };
	const { regression, labels: queries } =
		start ?? (await labelStart(runtime, trained, dataset, task, labels, maxLength));
	const knowsRisk = (trained.config as CodeConfig).hazards && codes && codes.risk.length > 0;
	const prevalence = prevalenceOf(train);
	const scoring: tuning.Scoring = {
		task,
		...taskLabels.taskDefinition(dataset, task),
		prevalence,
		maxLength,
		...(regression && {
			regression,
			...(knowsRisk && {
				risk: {
					tokens: [...codes.risk],
					horizonDays: codes.horizonDays,
					...(codes.sameDay && { sameDay: true }),
				},
			}),
		}),
		gain: 1,
	};
	const scorer = taskScorer(runtime, trained, { scoring, weights: best.weights });
	const offsets = Float64Array.from(queries.valid, ({ offset = logOddsOf(prevalence) }) => offset);
	const network = await scorer
		.networkLogOdds(await labelSets.viewsOf(dataset, valid.labels), offsets)
		.finally(() => scorer.dispose());
	return { ...scoring, gain: gainOf(network, offsets, valid) };
}

/** The share of positives, each label counting as many patients as it stands for. */
export function prevalenceOf({ targets, weights }: labelSets.LabelSet): number {
	let [positive, all] = [0, 0];
	for (const [index, weight] of weights.entries()) {
		positive += weight * targets[index];
		all += weight;
	}
	return positive / Math.max(1, all);
}

/** Of the gain, whose most probable value without labels is 0: a standard deviation of 0.5. */
const gainPrecision = 4;
/** Keeps a coefficient where it is. */
const fixed = 1e9;

/** How much of what a network changes in offsets agrees with labels: the most probable factor, and at least 0. */
export function gainOf(
	network: Float64Array,
	offsets: Float64Array,
	{
		targets,
		weights,
	}: { readonly targets: ArrayLike<number>; readonly weights: ArrayLike<number> },
): number {
	const changes = network.map((logOdds, i) => logOdds - offsets[i]);
	const rows = glm.denseRows(changes, 1, offsets);
	const [gain] = glm.fitted(glm.logistic, rows, glm.weightedLabels(targets, weights), {
		precisions: Float64Array.of(gainPrecision, fixed, fixed),
		centres: Float64Array.of(0, 1, 0),
	});
	return Math.max(0, gain);
}

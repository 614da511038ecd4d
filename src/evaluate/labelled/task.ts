import { evenlySpread, takenOf } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { probabilityOf } from "../../base/log-odds.js";
import { random } from "../../base/random.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { insulinDays } from "../../data/cohort/label-rules.js";
import { companionChances, rates } from "../../data/simulate/hazards.js";
import { insulinLogOdds } from "../../data/simulate/prescriptions.js";
import { simulateLife } from "../../data/simulate/simulate-life.js";
import { State } from "../../data/simulate/state.js";
import { positionOf, size } from "../../data/simulate/tables.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { predictTrees } from "../../model/boosted-trees.js";
import { linearPredictor } from "../../model/glm.js";
import { finetuneCommand, type Trained } from "../../model/train/index.js";
import { labelRows } from "../../model/train/regressions/label-features.js";
import {
	choosePrecisions,
	fitLabels,
	fitLabelTrees,
	heldOutParts,
	labelOutcomes,
} from "../../model/train/regressions/label-regression.js";
import { logOddsOf } from "../../predict/index.js";
import { baselines, measured, type PatientRow, type RowName } from "../bootstrap.js";
import * as results from "../evaluation.js";
import { refuseSameLabels } from "../prediction-file.js";
import { personAt } from "../predictions.js";
import { findSimulationTruth, type SimulationTruth } from "../simulation-truth.js";
import { fileRows } from "./file-rows.js";
import * as labelSets from "./label-set.js";
import * as models from "./model-rows.js";
import {
	ageSexRisk,
	isOnsetTask,
	labelColumns,
	type TaskCodes,
	taskCodes,
	taskLabels,
} from "./task-labels.js";

/**
 * A task with binary labels: zero-shot, few-shot and fine-tuned rows of the model, and baselines. The baselines
 * are evaluated once.
 */
export async function labelledTask(
	task: string,
	dataset: Dataset,
	options: results.EvaluateOptions,
): Promise<results.MeasureRun> {
	const { split, trainingDataset = dataset } = options;
	const { labels, notes: taskNotes } = await taskLabels(dataset, task);
	const homeLabels =
		trainingDataset === dataset ? labels : (await taskLabels(trainingDataset, task)).labels;
	const data: models.TaskData = {
		task,
		dataset,
		trainingDataset,
		options,
		labels,
		train: labelSets.labelSetOf(trainingDataset, homeLabels, "train"),
		valid: labelSets.labelSetOf(trainingDataset, homeLabels, "valid"),
		evaluated: labelSets.labelSetOf(dataset, labels, split),
		codes: taskCodes(task, dataset.vocabulary, options.code),
	};
	const { evaluated } = data;
	const positive = labelSets.positivesOf(evaluated);
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
	const fromFiles = await fileRows(data);
	const others = [
		...fromFiles,
		...(options.baselines === false ? [] : await baselineRows(data, notes)),
	];
	return async (runtime, trained) => {
		const runNotes = [...notes];
		const { rows, calibration } = trained
			? await modelRows(data, runtime, trained, runNotes)
			: { rows: [] };
		refuseSameLabels([...rows, ...others].map(({ name }) => name.label));
		return measured(task, options, [...rows, ...others], {
			patients: evaluated.count,
			events: evaluated.labels.reduce((sum, { events }) => sum + events, 0),
			notes: runNotes,
			labels: { positive, all: evaluated.targets.length },
			...(calibration && { calibration }),
		});
	};
}

async function modelRows(
	data: models.TaskData,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<{ rows: PatientRow[]; calibration?: results.CalibrationBin[] }> {
	const { task, dataset, options, evaluated, codes } = data;
	const { name, pretraining } = trained.model;
	const rows =
		codes && pretraining !== "none"
			? await models.frozenRows(data, codes, runtime, trained, notes)
			: [];
	if (pretraining === "none")
		notes.push(`no zero-shot and few-shot rows: ${name} is trained on each task from scratch`);
	else if (!codes)
		notes.push("no zero-shot and few-shot rows: name the code the task is about with `code`");
	const tuned = await models.fineTuned(runtime, trained, data);
	if (!tuned) {
		const risk = rows.find((row) => row.name.setting === "zero-shot risk");
		if (risk) await reportPredictions(data, risk);
		const labelFile = dataset.labelFiles?.[task];
		notes.push(`not fine-tuned: run \`${finetuneCommand(trained.folder, { task, labelFile })}\``);
		return { rows };
	}
	const bins = labelSets.binsFor(evaluated.targets.length);
	notes.push(
		`fine-tuned: epoch ${tuned.epoch}, the best by validation; ${tuned.scoring.gain.toFixed(2)} of what the network changes in the log-odds of ${tuned.scoring.regression ? "a ridge regression" : "the prevalence"}, as the validation labels say`,
		`calibration: ${bins} bins of about ${Math.round(evaluated.targets.length / bins)} labels; by chance a perfect model would have an error of ${(100 * chanceError(tuned.probabilities, bins)).toFixed(1)} points`,
	);
	const label = `${name}, fine-tuned`;
	const tunedName = { who: "model", label, setting: "fine-tuned" } as const;
	const row = models.scoredRow(tunedName, evaluated, tuned.probabilities);
	await reportPredictions(data, row);
	return {
		rows: [...rows, row],
		calibration: labelSets.calibrationBins(evaluated, tuned.probabilities).bins(options),
	};
}

async function reportPredictions(
	{ dataset, evaluated, options }: models.TaskData,
	{ name, scores = [] }: models.ScoredRow,
): Promise<void> {
	if (!options.onPredictions) return;
	const predictions: results.LabelPrediction[] = [];
	for (const [index, { patient, time, value, weight }] of evaluated.labels.entries())
		predictions.push({
			...personAt(await dataset.read(patient), time),
			time,
			weight,
			label: value,
			probability: scores[index],
		});
	const isWeighted = evaluated.weights.some((weight) => weight !== 1);
	const notes = isWeighted
		? [
				"labels have weights (inverse probability of censoring), which only the plain schema has: tools that leave them out give other numbers than evaluate",
			]
		: [];
	options.onPredictions({ row: name.label, predictions, notes });
}

/** The calibration error expected by chance: mean |observed − p| of a binomial fraction. */
function chanceError(probabilities: Float64Array, bins: number): number {
	const sorted = probabilities.slice().sort();
	const size = sorted.length / bins;
	let sum = 0;
	for (let bin = 0; bin < bins; bin++) {
		const members = sorted.subarray(Math.round(bin * size), Math.round((bin + 1) * size));
		const variance = members.reduce((total, p) => total + p * (1 - p), 0) / members.length ** 2;
		if (members.length > 0) sum += Math.sqrt((2 / Math.PI) * variance) / bins;
	}
	return sum;
}

/** Labels of each value that a regression needs. */
const fewestLearned = 2;

async function baselineRows(data: models.TaskData, notes: string[]): Promise<PatientRow[]> {
	const { task, dataset, trainingDataset, train, evaluated, codes } = data;
	const { labels, targets } = evaluated;
	const rows = await regressionRows(data, notes);
	const prevalence = new Float64Array(targets.length).fill(models.prevalenceOf(train));
	rows.push(models.scoredRow({ ...baselines.global, label: "prevalence" }, evaluated, prevalence));
	if (isOnsetTask(dataset, task) && codes) {
		const risks = await ageSexRisk(trainingDataset, dataset, labels, codes);
		rows.push(models.scoredRow({ ...baselines.global, label: "age and sex" }, evaluated, risks));
	}
	return [...rows, ...(await oracleRows(data, notes))];
}

/** What a careful analyst would fit to the labels for training and validation. */
async function regressionRows(data: models.TaskData, notes: string[]): Promise<PatientRow[]> {
	const { task, dataset, trainingDataset, options, train, valid, evaluated, codes } = data;
	const { regressionPatients: limit = results.regressionLimit } = options;
	const isLimited = train.targets.length > limit;
	const taken = takenOf(train.targets.length, limit);
	const trained = evenlySpread(train.labels, limit);
	const validated = evenlySpread(valid.labels, limit);
	const labels = [...trained, ...validated];
	const positive = labels.filter(({ value }) => value).length;
	const limitText = isLimited ? ", the limit of `regressionPatients`" : "";
	if (Math.min(positive, labels.length - positive) < fewestLearned) {
		notes.push(
			`no ridge regression and no boosted trees: of the ${taken} training labels${limitText} and the ${validated.length} validation labels, ${positive} are positive, and at least ${fewestLearned} of both values are needed`,
		);
		return [];
	}
	const columns = labelColumns(trainingDataset.vocabulary, codes);
	const knownOf = async (among: Dataset, asked: readonly Label[]) =>
		isOnsetTask(dataset, task) && codes
			? (await ageSexRisk(trainingDataset, among, asked, codes)).map(logOddsOf)
			: undefined;
	const known = await knownOf(trainingDataset, labels);
	const examples = {
		rows: labelRows(columns, await labelSets.viewsOf(trainingDataset, labels), known),
		outcomes: labelOutcomes(labels),
		parts: heldOutParts(trained, validated),
	};
	const evaluatedKnown = await knownOf(dataset, evaluated.labels);
	const views = await labelSets.viewsOf(dataset, evaluated.labels);
	const rows = labelRows(columns, views, evaluatedKnown);
	const coefficients = fitLabels(columns, examples, choosePrecisions(columns, examples));
	const trees = fitLabelTrees(examples, known);
	const heldOut = examples.parts.includes(-1)
		? "the validation labels"
		: "each tenth of the people in turn";
	notes.push(
		`ridge regression: logistic, on ${known ? "the risk by age and sex, " : ""}age, sex${columns.related.length > 0 ? `, related records (${codes?.words})` : ""} and counts, recent counts and recency of all codes and categories; a penalty for each kind of feature, chosen on ${heldOut}`,
		`boosted trees: on the same features; their number and size chosen on ${heldOut}`,
		`both learned from ${taken} training labels${limitText} and ${validated.length} validation labels (${positive} positive)`,
	);
	const rowOf = (name: RowName, logOdds: Float64Array) =>
		models.scoredRow({ ...name, setting: "fine-tuned" }, evaluated, logOdds.map(probabilityOf));
	return [
		rowOf(baselines.ridge, linearPredictor(rows, coefficients)),
		rowOf(baselines.trees, predictTrees(trees, rows, evaluatedKnown)),
	];
}

async function oracleRows(
	{ task, dataset, options, evaluated, codes }: models.TaskData,
	notes: string[],
): Promise<PatientRow[]> {
	const { labels } = evaluated;
	if (isOnsetTask(dataset, task) && codes) {
		const chances = await onsetOracle(dataset, labels, codes, options, notes);
		return chances ? [models.scoredRow(baselines.oracle, evaluated, chances)] : [];
	}
	const oracle = labelOracles[task];
	const truth = oracle && (await findSimulationTruth(dataset, options, notes));
	if (!truth) return [];
	notes.push(`reference model: the true chance of ${oracle.of}`);
	const chances = await labelChances(oracle, dataset, labels, truth);
	return [models.scoredRow(baselines.oracle, evaluated, chances, oracle.calibrated)];
}

type SimulatedRecords = ReturnType<SimulationTruth["patient"]>["history"];

interface LabelOracle {
	/** What the probabilities are of, in words. */
	readonly of: string;
	/** Whether they are probabilities of the label itself. */
	readonly calibrated: boolean;
	/** Whether records of the label's day are known. */
	readonly knowsDay: boolean;
	/** The probability of a label, numbered by `index`, from the state of its patient. */
	chance(state: State, day: number, records: SimulatedRecords, index: number): number;
}

/** Sampled futures per patient. */
const futures = 64;

export const labelOracles: Readonly<Record<string, LabelOracle>> = {
	/** Exact probability that heart failure is coded at a visit on the day, whatever its reason. */
	"chf-paper": {
		of: "428 being coded at the visit",
		calibrated: false,
		knowsDay: false,
		chance(state, day) {
			const failure = positionOf("428");
			const byReason = new Float64Array(size);
			const companions = new Float64Array(size);
			state.enter(day);
			const total = rates(state, day, byReason);
			let sum = 0;
			for (let reason = 0; reason < size; reason++) {
				if (byReason[reason] === 0) continue;
				companionChances(state, day, reason, companions);
				sum += byReason[reason] * (reason === failure ? 1 : companions[failure]);
			}
			return sum / total;
		},
	},
	/**
	 * The probability that insulin is started: exact for the visit itself, by sampled futures for later visits
	 * within the period. Steroids, which matter a little, are not recorded and are assumed absent.
	 */
	insulin: {
		of: "insulin within the time, steroids unknown",
		calibrated: true,
		knowsDay: true,
		chance(start, day, { birth, events }, index) {
			const diabetes = positionOf("250");
			const state = new State();
			const lastRecord = new Map<number, number>();
			for (const event of events)
				if (event.day <= day) lastRecord.set(positionOf(event.code), event.day);
			const none = (visit: number, earlier: number, records: ReadonlyMap<number, number>) => {
				const odds = insulinLogOdds({
					day: visit,
					birth,
					earlier,
					firstDay: day,
					lastRecord: (code) => records.get(code) ?? Number.NEGATIVE_INFINITY,
					lastSteroid: Number.NEGATIVE_INFINITY,
				});
				return 1 / (1 + Math.exp(odds));
			};
			let later = 0;
			for (let sample = 0; sample < futures; sample++) {
				state.copy(start);
				state.enter(day + 1);
				const records = new Map(lastRecord);
				let [without, earlier] = [1, 1];
				const stream = random(index).fork("insulin").fork(sample);
				simulateLife(state, stream, day + 1, day + insulinDays + 1, (visit, codes, length) => {
					for (let i = 0; i < length; i++) records.set(codes[i], visit);
					for (let i = 0; i < length; i++)
						if (codes[i] === diabetes) without *= none(visit, earlier++, records);
				});
				later += without / futures;
			}
			return 1 - none(day, 0, lastRecord) * later;
		},
	},
};

/** The true probability of each label, from the simulated history up to its day. */
async function labelChances(
	{ knowsDay, chance }: LabelOracle,
	dataset: Dataset,
	labels: readonly Label[],
	truth: SimulationTruth,
): Promise<Float64Array> {
	const chances = new Float64Array(labels.length);
	for (const [index, label] of labels.entries()) {
		const day = Math.round(label.time);
		const { history } = truth.patient(await dataset.read(label.patient));
		const { birth, sex, coverage, events } = history;
		const follower = truth.oracle.follow({ birth, sex, ...(coverage && { coverage }) });
		for (const event of events)
			if (knowsDay ? event.day <= day : event.day < day) follower.observe(event.day, event.code);
		const state = new State();
		state.copy(follower.state());
		chances[index] = chance(state, day, history, index);
	}
	return chances;
}

/** The reference model's cumulative incidence of a task's codes after each label. */
async function onsetOracle(
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: TaskCodes,
	options: results.EvaluateOptions,
	notes: string[],
): Promise<Float64Array | undefined> {
	const { futures, seed } = options;
	const truth = await findSimulationTruth(dataset, options, notes, "incidence");
	if (!truth) return undefined;
	const chances = new Float64Array(labels.length);
	for (const [index, { patient, time }] of labels.entries()) {
		const history = await dataset.read(patient);
		const sampled = { futures, seed };
		const { tokens } = truth.incidence(history, Math.floor(time), [horizonDays], sampled);
		chances[index] = 1 - risk.reduce((left, token) => left * (1 - (tokens[token] ?? 0)), 1);
	}
	notes.push(
		`reference model: the simulator's own probability, averaged over ${futures} sampled futures per patient`,
	);
	return chances;
}

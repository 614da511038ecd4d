import { evenlySpread, takenOf } from "../../base/arrays.js";
import { probabilityOf } from "../../base/log-odds.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { logisticScores } from "../../model/train/index.js";
import { regressionLimit } from "../options.js";
import { baselines, type PatientRow } from "../rows.js";
import { findSimulationTruth } from "../simulation-truth.js";
import { prevalenceOf } from "./fine-tuned.js";
import {
	type LabelSet,
	labelSetOf,
	positivesOf,
	probable,
	ranked,
	type TaskData,
	viewOf,
} from "./label-set.js";
import { regression } from "./regression.js";
import { standardised } from "./standardised-directions.js";
import { isOnsetTask } from "./task-labels.js";
import { ageSexRisk, labelOracles, onsetOracle } from "./task-risks.js";

/** The rows of the baselines and, for simulated patients, of the reference model. */
export async function baselineRows(data: TaskData, notes: string[]): Promise<PatientRow[]> {
	const { task, dataset, trainingDataset, train, evaluated, codes } = data;
	const rows = await regressionRows(data, notes);
	if (codes) {
		const related = [...new Set(codes.prototype.flat())];
		rows.push({
			name: { ...baselines.history, label: "own history, related records" },
			...ranked(evaluated, await recordCounts(dataset, evaluated.labels, related)),
		});
	}
	rows.push({
		name: { ...baselines.global, label: "prevalence" },
		...probable(evaluated, new Float64Array(evaluated.targets.length).fill(prevalenceOf(train))),
	});
	if (isOnsetTask(dataset, task) && codes)
		rows.push({
			name: { ...baselines.global, label: "age and sex" },
			...probable(evaluated, await ageSexRisk(trainingDataset, dataset, evaluated.labels, codes)),
		});
	return [...rows, ...(await oracleRows(data, notes))];
}

/** Logistic regression on what was recorded, from training labels of both classes. */
async function regressionRows(
	{ dataset, trainingDataset, options, train, valid, evaluated }: TaskData,
	notes: string[],
): Promise<PatientRow[]> {
	const { regressionPatients: limit = regressionLimit } = options;
	const trainSample = labelSetOf(trainingDataset, evenlySpread(train.labels, limit), "train");
	const positive = positivesOf(trainSample);
	const isLimited = train.targets.length > limit;
	const taken = takenOf(train.targets.length, limit);
	if (valid.targets.length === 0) return [];
	if (positive === 0 || positive === trainSample.targets.length) {
		if (isLimited)
			notes.push(
				`no row own history, all labels: ${positive} of the ${taken} training labels that the regression learns from are positive, and both classes are needed; \`regressionPatients\` sets how many it learns from`,
			);
		return [];
	}
	const validSample = labelSetOf(trainingDataset, evenlySpread(valid.labels, limit), "valid");
	const { logOdds, precision } = await countRegression(
		{ dataset: trainingDataset, train: trainSample, valid: validSample },
		{ dataset, evaluated },
	);
	notes.push(
		`own history, all labels: logistic regression on counts of codes, length and last gap, from ${taken} training labels${isLimited ? ", the limit of `regressionPatients`" : ""} (${positive} positive); precision ${precision} chosen on validation`,
	);
	return [
		{
			name: { ...baselines.history, label: "own history, all labels", setting: "fine-tuned" },
			...probable(evaluated, logOdds.map(probabilityOf)),
		},
	];
}

/** The row of the reference model, where the population is simulated and the task has one. */
async function oracleRows(
	{ task, dataset, options, evaluated, codes }: TaskData,
	notes: string[],
): Promise<PatientRow[]> {
	if (isOnsetTask(dataset, task) && codes) {
		const onset = await onsetOracle(dataset, evaluated.labels, codes, options);
		notes.push(...onset.notes);
		return "chances" in onset
			? [{ name: baselines.oracle, ...probable(evaluated, onset.chances) }]
			: [];
	}
	const oracle = labelOracles[task];
	if (!oracle) return [];
	const simulation = await findSimulationTruth(dataset, options.split, options.oracle);
	if (!("truth" in simulation)) {
		if (simulation.reason) notes.push(`no reference model: ${simulation.reason}`);
		return [];
	}
	const chances = await oracle.chances(dataset, evaluated.labels, simulation.truth);
	notes.push(`reference model: the true chance of ${oracle.of}`);
	return [
		{
			name: baselines.oracle,
			...(oracle.calibrated ? probable(evaluated, chances) : ranked(evaluated, chances)),
		},
	];
}

/** Counts the records of some codes in each history. */
async function recordCounts(
	dataset: Dataset,
	labels: readonly Label[],
	codes: readonly number[],
): Promise<Float64Array> {
	const wanted = new Set(codes);
	const counts = new Float64Array(labels.length);
	for (const [index, label] of labels.entries())
		for (const token of (await viewOf(dataset, label)).tokens)
			if (wanted.has(token)) counts[index] += 1;
	return counts;
}

/** Features of a history: records per code, number of records, duration and the last gap. */
async function countFeatures(dataset: Dataset, labels: readonly Label[]): Promise<Float32Array> {
	const { size } = dataset.vocabulary;
	const width = size + 3;
	const features = new Float32Array(labels.length * width);
	for (const [row, label] of labels.entries()) {
		const { tokens, times } = await viewOf(dataset, label);
		const rowFeatures = features.subarray(row * width, (row + 1) * width);
		for (const token of tokens) rowFeatures[token] += 1;
		for (let code = 0; code < size; code++) rowFeatures[code] = Math.log1p(rowFeatures[code]);
		const [first, last] = [times[0] ?? label.time, times.at(-1) ?? label.time];
		rowFeatures.set(
			[Math.log1p(tokens.length), label.time - first, Math.log1p(label.time - last)],
			size,
		);
	}
	return features;
}

/** The baseline with the same labels: logistic regression on counts, learned at home. */
async function countRegression(
	{
		dataset: trainingDataset,
		train,
		valid,
	}: Readonly<{ dataset: Dataset; train: LabelSet; valid: LabelSet }>,
	{ dataset, evaluated }: Readonly<{ dataset: Dataset; evaluated: LabelSet }>,
): Promise<{ readonly logOdds: Float64Array; readonly precision: number }> {
	const examples = async ({ labels, targets, weights }: LabelSet) => ({
		vectors: await countFeatures(trainingDataset, labels),
		targets,
		weights,
	});
	const { fit, precision, standard } = regression(await examples(train), await examples(valid));
	const vectors = standardised(await countFeatures(dataset, evaluated.labels), standard);
	return { logOdds: logisticScores(vectors, fit), precision };
}

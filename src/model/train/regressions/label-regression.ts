import { random } from "../../../base/random.js";
import { binnedRows } from "../../binned-rows.js";
import { fitTrees, type TreeSettings, type Trees, treeCandidates } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import { featureFamilies } from "../../hazards/landmarks.js";
import {
	familiesOfColumns,
	type LabelColumns,
	type LabelFamily,
	labelFamilies,
} from "./label-features.js";

/*
 * Logistic regression of labels on what was recorded before. Coefficients are the most probable ones under a Gaussian
 * prior around 0 (around 1 for log-odds that are known beforehand), with one precision for each family of columns.
 * A hundred labels tell little about a thousand columns: each family starts with a precision that leaves it out, and gets
 * a lower one if that helps on people who are held out.
 */

/** Labels and what was known of people, as regressions learn from them. */
export interface LabelExamples {
	readonly rows: glm.SparseRows;
	readonly outcomes: glm.Outcomes;
	/** The part in which a row is held out; −1 if it never is. */
	readonly parts: Int8Array;
}

/** The precision of each of `labelFamilies`. */
export type LabelPrecisions = readonly number[];

/** Leaves a family out. */
const highest = 1e6;
/** From strong to weak. */
const candidates = [1000, 300, 100, 30, 10, 3, 1];
const familyFactors = [4, 1 / 4];
/** What a family has to gain on the people who are held out, or its precision stays: −log likelihood. */
const leastGain = 1;
/** Gradients of a fit, in squared standard errors. */
const tolerance = 1e-4;

/** Of the column of ones. */
const biasPrecision = 1e-3;

/** With fewer validation labels of one value, everybody is held out in turn. */
const fewestOfClass = 50;
const partCount = 10;

interface LabelledPerson {
	/** The same for labels of one person. */
	readonly patient: number;
	readonly value: boolean;
}

/** Divides people into parts with equally many labels of both values. */
export function crossValidationParts(labels: readonly LabelledPerson[]): Int8Array {
	const positive = new Set(labels.filter(({ value }) => value).map(({ patient }) => patient));
	const people = [...new Set(labels.map(({ patient }) => patient))];
	const shuffled = random(0).fork("parts").shuffle(people);
	const ordered = [
		...shuffled.filter((patient) => positive.has(patient)),
		...shuffled.filter((patient) => !positive.has(patient)),
	];
	const partOf = new Map(ordered.map((patient, i) => [patient, i % partCount]));
	return Int8Array.from(labels, ({ patient }) => partOf.get(patient) ?? 0);
}

/**
 * The people on whom penalties are chosen: those for validation or, if these have few labels of one value, each tenth of
 * all people in turn.
 */
export function heldOutParts(
	train: readonly LabelledPerson[],
	valid: readonly LabelledPerson[],
): Int8Array {
	const positive = valid.filter(({ value }) => value).length;
	if (Math.min(positive, valid.length - positive) < fewestOfClass)
		return crossValidationParts([...train, ...valid]);
	return Int8Array.from({ length: train.length + valid.length }, (_, i) =>
		i < train.length ? -1 : 0,
	);
}

/** Labels count by their weights. */
export const labelOutcomes = (
	labels: readonly (Pick<LabelledPerson, "value"> & { readonly weight?: number | undefined })[],
): glm.Outcomes =>
	glm.weightedLabels(
		labels.map(({ value }) => Number(value)),
		labels.map(({ weight = 1 }) => weight),
	);

const partsOf = ({ parts }: LabelExamples): number[] =>
	[...new Set(parts)].filter((part) => part >= 0).sort();

/** The labels outside a part, or in it. */
const labelsOf = (
	{ outcomes: { events, exposure }, parts }: LabelExamples,
	part: number,
	isInside: boolean,
): glm.Outcomes => ({
	events,
	exposure: exposure.map((weight, row) => ((parts[row] === part) === isInside ? weight : 0)),
});

function penaltyOf(families: Int8Array, precisions: LabelPrecisions): glm.Penalty {
	const known = labelFamilies.indexOf("known log-odds");
	return {
		precisions: Float64Array.from(families, (family) =>
			family < 0 ? biasPrecision : precisions[family],
		),
		centres: Float64Array.from(families, (family) => Number(family === known)),
	};
}

/** Coefficients that are learned outside each part. */
function fitsOutside(
	families: Int8Array,
	examples: LabelExamples,
	precisions: LabelPrecisions,
): Float64Array[] {
	const penalty = penaltyOf(families, precisions);
	return partsOf(examples).map((part) => {
		const outcomes = labelsOf(examples, part, false);
		return glm.fitGlm(glm.logistic, examples.rows, outcomes, penalty, tolerance);
	});
}

/** −log likelihood of the labels of all parts, each predicted from the labels outside it. */
function heldOutLoss(
	families: Int8Array,
	examples: LabelExamples,
	precisions: LabelPrecisions,
): number {
	const parts = partsOf(examples);
	const fits = fitsOutside(families, examples, precisions);
	return fits.reduce((sum, coefficients, i) => {
		const logOdds = glm.linearPredictor(examples.rows, coefficients);
		return sum + glm.lossOf(glm.logistic, labelsOf(examples, parts[i], true), logOdds);
	}, 0);
}

/**
 * The precision of each family, chosen one after the other: those of records first together, then each beside the
 * others.
 */
export function choosePrecisions(columns: LabelColumns, examples: LabelExamples): LabelPrecisions {
	const families = familiesOfColumns(columns);
	const lossOf = (precisions: LabelPrecisions) => heldOutLoss(families, examples, precisions);
	let best: LabelPrecisions = labelFamilies.map(() => highest);
	let least = lossOf(best);
	/** Follows precisions from one to the next while the loss falls. */
	const follow = (path: readonly LabelPrecisions[]) => {
		let reached = best;
		let lowest = least;
		for (const precisions of path) {
			const loss = lossOf(precisions);
			if (!(loss < lowest)) break;
			[reached, lowest] = [precisions, loss];
		}
		if (lowest < least - leastGain) [best, least] = [reached, lowest];
	};
	const records: readonly LabelFamily[] = featureFamilies;
	for (const names of [["known log-odds"], ["age and sex"], ["related records"], records])
		follow(
			candidates.map((precision) =>
				best.map((other, i) => (names.includes(labelFamilies[i]) ? precision : other)),
			),
		);
	for (const name of records) {
		const family = labelFamilies.indexOf(name);
		if (best[family] < highest)
			for (const factor of familyFactors) follow([best.with(family, best[family] * factor)]);
	}
	return best;
}

/** The coefficients of all columns, learned from all labels. */
export function fitLabels(
	columns: LabelColumns,
	{ rows, outcomes }: Pick<LabelExamples, "rows" | "outcomes">,
	precisions: LabelPrecisions,
): Float64Array {
	const penalty = penaltyOf(familiesOfColumns(columns), precisions);
	return glm.fitted(glm.logistic, rows, outcomes, penalty);
}

/** The log-odds of each label, learned from the labels outside its part. */
export function logOddsOutside(
	columns: LabelColumns,
	examples: LabelExamples,
	precisions: LabelPrecisions,
): Float64Array {
	const parts = partsOf(examples);
	const predicted = fitsOutside(familiesOfColumns(columns), examples, precisions).map((fit) =>
		glm.linearPredictor(examples.rows, fit),
	);
	return Float64Array.from(examples.parts, (part, row) => predicted[parts.indexOf(part)][row]);
}

/** Labels are few: small trees, of which at most so many. */
const labelTrees: readonly TreeSettings[] = treeCandidates.map((settings) => ({
	...settings,
	leaves: settings.leaves / 2,
	rounds: 200,
	patience: 20,
}));

/** Boosted trees, whose size and number are chosen on the people who are held out, and which learn from all labels. */
export function fitLabelTrees(examples: LabelExamples, known?: Float64Array): Trees {
	const rows = binnedRows(examples.rows);
	const rowsWith = (outcomes: glm.Outcomes) => ({ rows, outcomes, offset: known });
	const lossesWith = (settings: TreeSettings): number[] => {
		const byPart = partsOf(examples).map(
			(part) =>
				fitTrees(
					glm.logistic,
					{
						train: rowsWith(labelsOf(examples, part, false)),
						valid: rowsWith(labelsOf(examples, part, true)),
					},
					settings,
				).validLosses,
		);
		const rounds = Math.min(...byPart.map(({ length }) => length));
		return Array.from({ length: rounds }, (_, round) =>
			byPart.reduce((sum, losses) => sum + losses[round], 0),
		);
	};
	const tried = labelTrees.map((settings) => {
		const losses = lossesWith(settings);
		const least = Math.min(...losses);
		return { settings, least, rounds: losses.indexOf(least) };
	});
	const { settings, rounds } = tried.reduce((best, other) =>
		other.least < best.least ? other : best,
	);
	const all = rowsWith(examples.outcomes);
	// Trees that are validated on what they learn from are all kept.
	return fitTrees(glm.logistic, { train: all, valid: all }, { ...settings, rounds }).trees;
}

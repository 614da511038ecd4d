import type { OnsetSums, RatesByAgeAndSex } from "../../../data/cohort/age-sex-rates.js";
import { type BinnedRows, binnedRows } from "../../binned-rows.js";
import { fitTrees, predictTrees, type TreeSettings, type Trees } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import type { HazardSettings } from "../../hazards/settings.js";
import {
	type AgeCurve,
	ageCurve,
	curveBeside,
	type FollowedLandmarks,
	outcomesOf,
} from "./followed-landmarks.js";
import { type DescribedPeople, recordColumns, treeRows } from "./record-features.js";

/*
 * log h = log rate by age and sex + effects of earlier records.
 * Effects are the most probable ones after Poisson regression on landmarks under a Gaussian prior around 0, with one
 * precision for each family of features, whatever the output: rare codes stay near the rates of age and sex.
 */

/** What a regression learns from, and what its precisions are chosen on. */
export interface HazardRegressionData {
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly rates: RatesByAgeAndSex;
	/** Of all time at risk of the training patients, from which the rates are. */
	readonly sums: OnsetSums;
	readonly train: FollowedLandmarks;
	readonly valid: FollowedLandmarks;
}

/** The precision of the effects of each family of features. */
export type FamilyPrecisions = readonly number[]; // [families]

/**
 * How a rate differs from that of age and sex. Ridge: small effects of everything that helps. Trees: thresholds and
 * interactions, of age and sex too.
 */
export type RegressionForm =
	| { readonly kind: "ridge"; readonly precisions: FamilyPrecisions }
	| { readonly kind: "trees"; readonly settings: TreeSettings };

/** What was learned of the hazard of one output. */
export interface FittedOutput {
	/** How the rate depends on age and sex, beside what was learned. */
	readonly curve: AgeCurve;
	/** By column of `recordRows`, or trees over these columns, age and sex. */
	readonly learned: Float64Array | Trees;
	/** −log likelihood of the first records after the validation landmarks. */
	readonly validationLoss: number;
}

/** The logarithm of how much higher a rate is than that of age and sex. */
export function logRatios({ learned }: FittedOutput, people: DescribedPeople): Float64Array {
	return learned instanceof Float64Array
		? glm.linearPredictor(people.features, learned)
		: predictTrees(learned, treeRows(people));
}

/** Precision of the effects of how much was recorded of anything, whatever the penalty of the others: they are few. */
const pastPrecision = 400;
/** Of the level of all landmarks, which differs little from that of the rates. */
const biasPrecision = 1;
/** Of fits: 0.1 standard errors, much less than a penalty moves the coefficients. */
const tolerance = 1e-2;

/** How often the age curve is adapted to the effects. */
const rounds = 2;

const ridgePenalty = (
	{ settings, vocab }: HazardRegressionData,
	precisions: FamilyPrecisions,
): glm.Penalty => {
	const { count, past, bias, width } = recordColumns(settings, vocab);
	const byColumn = new Float64Array(width)
		.fill(pastPrecision, past, bias)
		.fill(biasPrecision, bias);
	for (const [family, precision] of precisions.entries())
		byColumn.fill(precision, family * count, (family + 1) * count);
	return { precisions: byColumn, centres: new Float64Array(width) };
};

/**
 * The age curve and the effects of one output. People collect causes as they age, so that the curve of all people has a
 * part of their effects: after effects were fitted, the curve is fitted again beside them.
 */
function* fitEffects(
	data: HazardRegressionData,
	output: number,
	precisions: FamilyPrecisions,
): glm.Fit<Pick<FittedOutput, "curve"> & { readonly effects: Float64Array }> {
	const { settings, sums, train } = data;
	const penalty = ridgePenalty(data, precisions);
	let curve = ageCurve(data.rates, output);
	let effects = penalty.centres;
	for (let round = 0; round <= rounds; round++) {
		const ratios = glm.linearPredictor(train.features, effects);
		if (round > 0) curve = curveBeside(settings, train, sums, output, ratios) ?? curve;
		const outcomes = outcomesOf(settings, train, output, curve);
		effects = yield* glm.fitGlm(glm.poisson, train.features, outcomes, penalty, {
			start: effects,
			tolerance,
		});
	}
	return { curve, effects };
}

/** Fits outputs, each by itself. */
export function hazardFitter(data: HazardRegressionData) {
	const { settings, train, valid, rates } = data;
	let binned: Readonly<Record<"train" | "valid", BinnedRows>> | undefined;
	const binnedOnce = () => {
		if (binned) return binned;
		const rows = binnedRows(treeRows(train));
		binned = { train: rows, valid: binnedRows(treeRows(valid), rows.bins) };
		return binned;
	};
	const fitOutputTrees = (output: number, treeSettings: TreeSettings): FittedOutput => {
		const rows = binnedOnce();
		const curve = ageCurve(rates, output);
		const outcomesIn = (landmarks: FollowedLandmarks) =>
			outcomesOf(settings, landmarks, output, curve);
		const validOutcomes = outcomesIn(valid);
		const treeData = {
			train: { rows: rows.train, outcomes: outcomesIn(train) },
			valid: { rows: rows.valid, outcomes: validOutcomes },
		};
		const { trees, validLoss } = fitTrees(glm.poisson, treeData, treeSettings);
		return { curve, learned: trees, validationLoss: validLoss - validOutcomes.logRates };
	};
	return (form: RegressionForm, outputs: readonly number[]): FittedOutput[] => {
		if (form.kind === "trees")
			return outputs.map((output) => fitOutputTrees(output, form.settings));
		const fits = outputs.map((output) => fitEffects(data, output, form.precisions));
		return glm.runFits(fits).map(({ curve, effects }, i) => {
			const validationLoss = lossOfEffects(data, outputs[i], curve, effects);
			return { curve, learned: effects, validationLoss };
		});
	};
}

/** −log likelihood of the first records after the validation landmarks. */
export function lossOfEffects(
	{ settings, valid }: HazardRegressionData,
	output: number,
	curve: AgeCurve,
	effects: Float64Array,
): number {
	const outcomes = outcomesOf(settings, valid, output, curve);
	const eta = glm.linearPredictor(valid.features, effects);
	return glm.lossOf(glm.poisson, outcomes, eta) - outcomes.logRates;
}

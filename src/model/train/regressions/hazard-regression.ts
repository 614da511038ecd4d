import type { OnsetSums, RatesByAgeAndSex } from "../../../data/cohort/age-sex-rates.js";
import { type BinnedRows, binnedRows } from "../../binned-rows.js";
import { fitTrees, predictTrees, type TreeSettings, type Trees } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import type { HazardSettings } from "../../hazards/settings.js";
import {
	type AgeCurve,
	ageCurve,
	type FollowedLandmarks,
	outcomesOf,
} from "./followed-landmarks.js";
import { type DescribedPeople, treeRows } from "./record-features.js";

/** What a regression learns from, and what its penalty, or the size of its trees, is chosen on. */
export interface HazardRegressionData {
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly rates: RatesByAgeAndSex;
	/** Of all time at risk of the training patients, from which the rates are. */
	readonly sums: OnsetSums;
	readonly train: FollowedLandmarks;
	readonly valid: FollowedLandmarks;
}

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

/** Fits boosted trees to outputs, each by itself: thresholds and interactions of records, age and sex. */
export function treesFitter(data: HazardRegressionData) {
	const { settings, train, valid, rates } = data;
	let binned: Readonly<Record<"train" | "valid", BinnedRows>> | undefined;
	const binnedOnce = () => {
		if (binned) return binned;
		const rows = binnedRows(treeRows(train));
		binned = { train: rows, valid: binnedRows(treeRows(valid), rows.bins) };
		return binned;
	};
	return (treeSettings: TreeSettings, outputs: readonly number[]): FittedOutput[] => {
		const rows = binnedOnce();
		return outputs.map((output) => {
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

import * as glm from "../../glm.js";
import { byFrequency } from "../../hazards/by-frequency.js";
import { fitLasso, type LassoPenalty } from "../../lasso.js";
import { type AgeCurve, ageCurve, curveBeside, outcomesOf } from "./followed-landmarks.js";
import {
	type FittedOutput,
	type HazardRegressionData,
	lossOfEffects,
} from "./hazard-regression.js";
import { recordColumns } from "./record-features.js";

/*
 * log h = log rate by age and sex + effects of earlier records, of which few differ from 0: those that stand out of what
 * chance does. The penalty of an effect is proportional to the standard deviation of its score, the derivative of the log
 * likelihood, where there are no effects: one strength means the same for frequent and rare columns and codes.
 */

/** Thresholds in standard deviations of the score, from strong to weak. */
const strengths = [2.6, 1.8, 1.4, 1.1] as const;
/** Expected first records among people with a record, at least: a column of fewer needs as much to stand out. */
const leastInformation = 0.5;
/** Precisions of effects, of how much was recorded of anything, and of the level of all. */
const effectPrecision = 10;
const pastPrecision = 80;
const biasPrecision = 10;

export interface LassoRegressionData extends HazardRegressionData {
	/** The features of the training landmarks by column. */
	readonly columns: glm.SparseColumns;
}

/** Fits of each output: without effects, then at all strengths, from strong to weak. */
export const lassoPaths =
	(data: LassoRegressionData) =>
	(outputs: readonly number[]): FittedOutput[][] =>
		outputs.map((output) => lassoPath(data, output));

function lassoPath(data: LassoRegressionData, output: number): FittedOutput[] {
	const { settings, rates, sums, train, columns } = data;
	let curve = ageCurve(rates, output);
	let effects: Float64Array = new Float64Array(columns.starts.length - 1);
	const deviations = scoreDeviations(columns, outcomesPerPerson(data, output, curve));
	const fitted = () => {
		const validationLoss = lossOfEffects(data, output, curve, effects);
		return { curve, learned: effects, validationLoss };
	};
	return [
		fitted(),
		...strengths.map((strength) => {
			// People collect causes as they age, so that the curve of all people has a part of their effects.
			const ratios = glm.linearPredictor(train.features, effects);
			curve = curveBeside(settings, train, sums, output, ratios) ?? curve;
			const outcomes = outcomesPerPerson(data, output, curve);
			const penalty = penaltyOf(data, deviations, strength);
			effects = fitLasso(
				glm.poisson,
				{ rows: train.features, columns },
				outcomes,
				penalty,
				effects,
			);
			return fitted();
		}),
	];
}

/** First records and expected ones, divided by the landmarks of a person, who see the same first record. */
function outcomesPerPerson(
	{ settings, train }: LassoRegressionData,
	output: number,
	curve: AgeCurve,
): glm.Outcomes {
	const { events, exposure } = outcomesOf(settings, train, output, curve);
	const share = (counted: number) => counted / train.perPerson;
	return { events: events.map(share), exposure: exposure.map(share) };
}

/** The standard deviation of the score of each column where no record has an effect. */
const scoreDeviations = (
	{ starts, rows, values }: glm.SparseColumns,
	{ exposure }: glm.Outcomes,
): Float64Array =>
	Float64Array.from(starts.subarray(1), (end, column) => {
		let information = 0;
		for (let i = starts[column]; i < end; i++) information += exposure[rows[i]] * values[i] ** 2;
		return Math.sqrt(Math.max(leastInformation, information));
	});

function penaltyOf(
	{ settings, vocab }: LassoRegressionData,
	deviations: Float64Array,
	strength: number,
): LassoPenalty {
	const { past, bias, width } = recordColumns(settings, vocab);
	return {
		thresholds: deviations.map((deviation, column) => (column < past ? strength * deviation : 0)),
		precisions: new Float64Array(width)
			.fill(effectPrecision)
			.fill(pastPrecision, past, bias)
			.fill(biasPrecision, bias),
	};
}

/**
 * The fit of each output at the strength that suits those that are about as frequent, by the first records of the
 * validation patients: each alone has too few.
 */
export function atSharedStrengths(
	{ train: { onsets, perPerson } }: HazardRegressionData,
	paths: ReadonlyMap<number, readonly FittedOutput[]>,
): Map<number, FittedOutput> {
	const onsetsOf = (output: number) =>
		(onsets.starts[output + 1] - onsets.starts[output]) / perPerson;
	const chosen = new Map<number, FittedOutput>();
	for (const members of byFrequency([...paths.keys()], onsetsOf)) {
		const fitsAt = (step: number) =>
			members.map((output) => [output, paths.get(output)?.[step] as FittedOutput] as const);
		let best = fitsAt(0);
		let least = Number.POSITIVE_INFINITY;
		for (const step of [0, ...strengths].keys()) {
			const fits = fitsAt(step);
			const loss = fits.reduce((sum, [, { validationLoss }]) => sum + validationLoss, 0);
			if (!(loss < least)) continue;
			[best, least] = [fits, loss];
		}
		for (const [output, fit] of best) chosen.set(output, fit);
	}
	return chosen;
}

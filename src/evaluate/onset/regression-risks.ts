import { probabilityOf } from "../../base/log-odds.js";
import type { Progress } from "../../base/progress.js";
import { trainingLandmarks } from "../../cohort/age-sex-rates.js";
import { recordDays } from "../../cohort/at-risk.js";
import type { Dataset, History, Split } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { ageFeatures, landmarkValues } from "../../models/hazards/landmarks.js";
import { hazardSettings } from "../../models/hazards/settings.js";
import { countUpTo } from "../ascending-order.js";
import { kaplanMeier } from "../survival/curves.js";
import { censored, death, sortFollowUp } from "../survival/follow-up.js";
import type { IndexedPatient } from "./index-days.js";
import {
	type Fit,
	fitSparseLogistic,
	logOddsOf,
	type Penalty,
	runFits,
	type SparseRows,
	type WeightedLabels,
	weightedLoss,
} from "./sparse-logistic.js";

/** Precisions of the coefficients: little for the bias, age and sex; for counts chosen on validation, strongest first. */
const biasPrecision = 1e-4;
const agePrecision = 1;
const countPrecisions = [3000, 700, 150, 30, 7];

/** Of fits: 0.1 standard errors, much less than a penalty moves the coefficients. */
const tolerance = 1e-2;

/** Columns: 1, hats of age and of age by sex, log(1 + records) of every token, the same of the last year. */
const countsFrom = 1 + ageFeatures;
const widthOf = (vocab: number) => countsFrom + 2 * vocab;

/** What is known of patients on days. */
export interface Features {
	readonly all: SparseRows;
	/** Age and sex alone. */
	readonly ages: SparseRows;
}

export function regressionFeatures(
	patients: Iterable<{ readonly history: History; readonly day: number }>,
	vocab: number,
): Features {
	const settings = hazardSettings.parse({});
	const starts: number[] = [];
	const agesEnd: number[] = [];
	const ends: number[] = [];
	const columns: number[] = [];
	const values: number[] = [];
	const add = (column: number, value: number) => {
		if (value === 0) return;
		columns.push(column);
		values.push(value);
	};
	for (const { history, day } of patients) {
		const { features: found, observe } = landmarkValues(settings, vocab, 1);
		observe(0, history, day);
		starts.push(columns.length);
		add(0, 1);
		for (const [i, hat] of found.ages.entries()) add(1 + i, hat);
		agesEnd.push(columns.length);
		for (let token = specialCount; token < vocab; token++) {
			add(countsFrom + token, Math.log1p(found.counts[token]!));
			add(countsFrom + vocab + token, Math.log1p(found.recent[token]!));
		}
		ends.push(columns.length);
	}
	const all = {
		starts: Int32Array.from(starts),
		ends: Int32Array.from(ends),
		columns: Int32Array.from(columns),
		values: Float32Array.from(values),
	};
	return { all, ages: { ...all, ends: Int32Array.from(agesEnd) } };
}

/** Landmarks of the patients of a split, and what happened after them. */
export interface Landmarks {
	readonly features: Features;
	/** Days until death or the end of observation, and which of the two. */
	readonly time: Float64Array;
	readonly status: Uint8Array;
	/** Per token: the landmarks at which the patient already has it. */
	readonly known: readonly (readonly number[])[];
	/** Per token: the landmarks with an onset later on, and the days until it. */
	readonly onsets: readonly (readonly { readonly row: number; readonly after: number }[])[];
}

async function landmarksOf(
	dataset: Dataset,
	split: Split,
	{ seed, lookBackDays }: RegressionOptions,
): Promise<Landmarks> {
	const vocab = dataset.vocabulary.size;
	const found: Pick<IndexedPatient, "history" | "day" | "atRisk">[] = [];
	for (const patient of dataset.patients(split)) {
		const history = await dataset.read(patient);
		for (const landmark of trainingLandmarks(history, seed, lookBackDays))
			found.push({ history, ...landmark });
	}
	const known: number[][] = Array.from({ length: vocab }, () => []);
	const onsets: { row: number; after: number }[][] = Array.from({ length: vocab }, () => []);
	for (const [row, { history, day, atRisk }] of found.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token]! > Number.NEGATIVE_INFINITY) known[token]!.push(row);
			else if (after[token]! <= atRisk.until)
				onsets[token]!.push({ row, after: after[token]! - day });
		}
	}
	return {
		features: regressionFeatures(found, vocab),
		time: Float64Array.from(found, ({ atRisk }) => atRisk.until - atRisk.from),
		status: Uint8Array.from(found, ({ atRisk }) => (atRisk.endedBy === "death" ? death : censored)),
		...{ known, onsets },
	};
}

/**
 * Labels and weights of a token at a horizon. Those who have it already weigh 0; onset within the horizon is 1, death
 * before it 0. Weights correct for censoring as in `outcomeAt`, but from one Kaplan–Meier curve for all tokens: the
 * end of observation does not depend on the token, and observation goes on after an onset.
 */
export function labelsAt(
	{ time, status, known, onsets }: Landmarks,
	horizonDays: number,
): (token: number) => WeightedLabels {
	const { days, values } = kaplanMeier(sortFollowUp({ time, status }), "censoring");
	const uncensored = (day: number) => values[countUpTo(days, day) - 1]!;
	const without = Float64Array.from(time, (end, row) => {
		if (end > horizonDays) return 1 / uncensored(horizonDays);
		return status[row] === death ? 1 / uncensored(end - 1) : 0;
	});
	return (token) => {
		const labels = new Uint8Array(time.length);
		const weights = without.slice();
		for (const row of known[token]!) weights[row] = 0;
		for (const { row, after } of onsets[token]!) {
			if (after > horizonDays) continue;
			labels[row] = 1;
			weights[row] = 1 / uncensored(after - 1);
		}
		return { labels, weights };
	};
}

/** Landmarks to learn from or to choose penalties on, for one token and horizon. */
export interface Labelled {
	readonly features: Features;
	readonly outcome: WeightedLabels;
}

/**
 * The coefficients for one token and horizon: first of age and sex alone, then of counts too, with penalties from
 * strong to weak until the loss on the validation landmarks rises. If counts never lower it, theirs stay 0.
 */
export function* fitRegression(train: Labelled, valid: Labelled, vocab: number): Fit<Float64Array> {
	const { labels, weights } = train.outcome;
	const total = weights.reduce((sum, own) => sum + own, 0);
	const onsets = weights.reduce((sum, own, row) => sum + own * labels[row]!, 0);
	const centres = new Float64Array(widthOf(vocab));
	centres[0] = Math.log((onsets + 0.5) / (total - onsets + 0.5));
	const penaltyOf = (counts: number): Penalty => {
		const precisions = new Float64Array(centres.length).fill(counts);
		precisions.fill(agePrecision, 0, countsFrom)[0] = biasPrecision;
		return { precisions, centres };
	};
	const lossOf = (coefficients: Float64Array) =>
		weightedLoss(valid.outcome, logOddsOf(valid.features.all, coefficients));
	const { features, outcome } = train;
	let best = yield* fitSparseLogistic(features.ages, outcome, penaltyOf(1), { tolerance });
	let least = lossOf(best);
	for (const counts of countPrecisions) {
		const next = yield* fitSparseLogistic(features.all, outcome, penaltyOf(counts), {
			start: best,
			tolerance,
		});
		const loss = lossOf(next);
		if (loss >= least) break;
		[best, least] = [next, loss];
	}
	return best;
}

export interface RegressionOptions {
	readonly seed: number;
	readonly lookBackDays: number;
	readonly progress?: Progress;
}

/**
 * The risk of each code by a logistic regression of its own on age, sex and the counts of all codes: what a careful
 * analyst would fit. Learned at landmarks of the training patients; penalties chosen on those of the validation
 * patients. One array per horizon, [patients, vocab]; NaN for tokens that were not asked for.
 */
export async function regressionRisks(
	dataset: Dataset,
	patients: readonly IndexedPatient[],
	horizons: readonly { readonly days: number; readonly tokens: readonly number[] }[],
	options: RegressionOptions,
): Promise<Float32Array[]> {
	const vocab = dataset.vocabulary.size;
	const train = await landmarksOf(dataset, "train", options);
	const valid = await landmarksOf(dataset, "valid", options);
	const { all } = regressionFeatures(patients, vocab);
	const found = horizons.map(() => new Float32Array(patients.length * vocab).fill(Number.NaN));
	const fits = horizons.flatMap(({ days, tokens }, i) => {
		const [trainLabels, validLabels] = [labelsAt(train, days), labelsAt(valid, days)];
		return tokens.map(function* (token): Fit<void> {
			const coefficients = yield* fitRegression(
				{ features: train.features, outcome: trainLabels(token) },
				{ features: valid.features, outcome: validLabels(token) },
				vocab,
			);
			for (const [at, logOdds] of logOddsOf(all, coefficients).entries())
				found[i]![at * vocab + token] = probabilityOf(logOdds);
		});
	});
	runFits(fits, (done) =>
		options.progress?.update({
			...{ label: "regression per code", done, total: fits.length, fields: [] },
		}),
	);
	options.progress?.finish();
	return found;
}

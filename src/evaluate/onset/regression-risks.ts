import { evenlySpread } from "../../base/arrays.js";
import { probabilityOf } from "../../base/log-odds.js";
import type { Progress } from "../../base/progress.js";
import { recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { landmarkValues } from "../../model/hazards/landmarks.js";
import { hazardSettings } from "../../model/hazards/settings.js";
import { regressionLimit } from "../options.js";
import { countUpTo } from "../order-statistics.js";
import { kaplanMeier } from "../survival/curves.js";
import { censored, death, sortFollowUp } from "../survival/follow-up.js";
import { countsFrom, type Features, fittingThreads } from "./fit-regressions.js";
import { type IndexedPatient, trainingLandmarks } from "./index-days.js";
import { logOddsOf, type WeightedLabels } from "./sparse-logistic.js";

/** Index days per training patient. */
const landmarksEach = 3;
/** Regressions that a thread fits at a time. */
const fitsPerCall = 8;

/** Arrays that threads share. */
function sharedIntegers(values: readonly number[]): Int32Array {
	const shared = new Int32Array(new SharedArrayBuffer(4 * values.length));
	shared.set(values);
	return shared;
}
function sharedFloats(values: readonly number[]): Float32Array {
	const shared = new Float32Array(new SharedArrayBuffer(4 * values.length));
	shared.set(values);
	return shared;
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
		const { features: values, observe } = landmarkValues(settings, vocab, 1);
		observe(0, history, day);
		starts.push(columns.length);
		add(0, 1);
		for (const [i, hat] of values.ages.entries()) add(1 + i, hat);
		agesEnd.push(columns.length);
		for (let token = specialCount; token < vocab; token++) {
			add(countsFrom + token, Math.log1p(values.counts[token]));
			add(countsFrom + vocab + token, Math.log1p(values.recent[token]));
		}
		ends.push(columns.length);
	}
	const all = {
		starts: sharedIntegers(starts),
		ends: sharedIntegers(ends),
		columns: sharedIntegers(columns),
		values: sharedFloats(values),
	};
	return { all, ages: { ...all, ends: sharedIntegers(agesEnd) } };
}

/** Landmarks of patients of a split, and what happened after them. */
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
	{ seed, lookBackDays, most = regressionLimit }: RegressionOptions,
): Promise<Landmarks> {
	const vocab = dataset.vocabulary.size;
	const landmarks: Pick<IndexedPatient, "history" | "day" | "atRisk">[] = [];
	for (const patient of evenlySpread(dataset.patients(split), most)) {
		const history = await dataset.read(patient);
		for (const landmark of trainingLandmarks(history, seed, lookBackDays, landmarksEach))
			landmarks.push({ history, ...landmark });
	}
	const known: number[][] = Array.from({ length: vocab }, () => []);
	const onsets: { row: number; after: number }[][] = Array.from({ length: vocab }, () => []);
	for (const [row, { history, day, atRisk }] of landmarks.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token] > Number.NEGATIVE_INFINITY) known[token].push(row);
			else if (after[token] <= atRisk.until) onsets[token].push({ row, after: after[token] - day });
		}
	}
	return {
		features: regressionFeatures(landmarks, vocab),
		time: Float64Array.from(landmarks, ({ atRisk }) => atRisk.until - atRisk.from),
		status: Uint8Array.from(landmarks, ({ atRisk }) =>
			atRisk.endedBy === "death" ? death : censored,
		),
		known,
		onsets,
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
	const uncensored = (day: number) => values[countUpTo(days, day) - 1];
	const without = Float64Array.from(time, (end, row) => {
		if (end > horizonDays) return 1 / uncensored(horizonDays);
		return status[row] === death ? 1 / uncensored(end - 1) : 0;
	});
	return (token) => {
		const labels = new Uint8Array(time.length);
		const weights = without.slice();
		for (const row of known[token]) weights[row] = 0;
		for (const { row, after } of onsets[token]) {
			if (after > horizonDays) continue;
			labels[row] = 1;
			weights[row] = 1 / uncensored(after - 1);
		}
		return { labels, weights };
	};
}

export interface RegressionOptions {
	readonly seed: number;
	readonly lookBackDays: number;
	/** The most patients of each split to learn from and to choose penalties on; 100,000 by default. */
	readonly most?: number | undefined;
	/** 1 by default. */
	readonly threads?: number | undefined;
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
	const risks = horizons.map(() => new Float32Array(patients.length * vocab).fill(Number.NaN));
	const asked = horizons.flatMap(({ days, tokens }, horizon) => {
		const [trainLabels, validLabels] = [labelsAt(train, days), labelsAt(valid, days)];
		return tokens.map((token) => {
			const outcomes = () => ({ train: trainLabels(token), valid: validLabels(token) });
			return { horizon, token, outcomes };
		});
	});
	const features = { train: train.features, valid: valid.features, vocab };
	const { threads = 1, progress } = options;
	const { fit, end } = fittingThreads(features, asked.length, threads);
	let [next, done] = [0, 0];
	const fitNext = async () => {
		while (next < asked.length) {
			const batch = asked.slice(next, next + fitsPerCall);
			next += batch.length;
			const fitted = await fit(batch.map(({ outcomes }) => outcomes()));
			for (const [i, { horizon, token }] of batch.entries())
				for (const [index, logOdds] of logOddsOf(all, fitted[i]).entries())
					risks[horizon][index * vocab + token] = probabilityOf(logOdds);
			done += batch.length;
			progress?.update({ label: "regression per code", done, total: asked.length, fields: [] });
		}
	};
	try {
		await Promise.all(Array.from({ length: threads }, fitNext));
	} finally {
		await end();
	}
	progress?.finish();
	return risks;
}

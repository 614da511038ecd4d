import type { Progress } from "../../../base/progress.js";
import {
	onsetSums,
	type RatesByAgeAndSex,
	smoothRates,
} from "../../../data/cohort/age-sex-rates.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { startThreads } from "../../../engine/runtime/threads.js";
import { featureFamilies } from "../../hazards/landmarks.js";
import type { HazardSettings } from "../../hazards/settings.js";
import { followedLandmarks, type LandmarkOptions } from "./followed-landmarks.js";
import {
	type FamilyPrecisions,
	type FittedOutput,
	type HazardRegressionData,
	hazardFitter,
	type RegressionKind,
} from "./hazard-regression.js";

/** A regression of hazards on age, sex and earlier records. */
export interface HazardRegression {
	readonly kind: RegressionKind;
	readonly rates: RatesByAgeAndSex;
	readonly precisions: FamilyPrecisions;
	/** What was learned of each output that was asked for. */
	readonly outputs: ReadonlyMap<number, FittedOutput>;
}

export interface HazardRegressionOptions {
	readonly kind: RegressionKind;
	readonly outputs: readonly number[];
	readonly lookBackDays: number;
	/** Patients of a split, at most, evenly spread. */
	readonly mostPatients?: number;
	readonly threads?: number | undefined;
	readonly progress?: Progress | undefined;
}

/** Landmarks per person: more hardly add to what is known of a person. */
const perPerson = 5;
/** Of a split, which bounds memory and time. */
const mostLandmarks = 100_000;
/** Landmarks are the same in every run. */
const landmarkSeed = 0;

/** The landmarks that regressions learn from. */
export const usualLandmarks = (
	lookBackDays: number,
	mostPatients = mostLandmarks,
): LandmarkOptions => ({
	seed: landmarkSeed,
	lookBackDays,
	perPerson,
	mostPatients,
	mostLandmarks,
});

/** From strong to weak. */
const commonPrecisions = [3200, 1600, 800, 400, 200, 100, 50];
const familyFactors = [4, 1 / 4];
/** Outputs on which precisions are chosen. */
const tunedOutputs = 24;
/** Outputs that a thread fits per call. */
const perCall = 4;
/** Landmarks × outputs for which another thread is worth its start. */
const workPerThread = 100_000;

/**
 * Fits hazards of first records to the training patients. The precision of each family of features is chosen on the
 * likelihood of the validation patients.
 */
export async function fitHazards(
	settings: HazardSettings,
	dataset: Dataset,
	{ kind, outputs, lookBackDays, mostPatients, threads = 1, progress }: HazardRegressionOptions,
): Promise<HazardRegression> {
	const landmarkOptions = usualLandmarks(lookBackDays, mostPatients);
	const data: HazardRegressionData = {
		settings,
		vocab: dataset.vocabulary.size,
		rates: smoothRates(
			await onsetSums(dataset, "train", {
				horizonDays: 1,
				lookBackDays,
				groups: settings.groups.map(({ tokens }) => tokens),
			}),
		),
		train: await followedLandmarks(settings, dataset, "train", landmarkOptions),
		valid: await followedLandmarks(settings, dataset, "valid", landmarkOptions),
	};
	const fitter = fittingThreads(data, outputs.length, threads);
	const fitAll = async (
		precisions: FamilyPrecisions,
		which: readonly number[],
		label: string,
	): Promise<Map<number, FittedOutput>> => {
		const fitted = new Map<number, FittedOutput>();
		const calls = Array.from({ length: Math.ceil(which.length / perCall) }, (_, call) =>
			which.slice(call * perCall, (call + 1) * perCall),
		);
		await Promise.all(
			calls.map(async (batch) => {
				const results = await fitter.fit(kind, precisions, batch);
				for (const [i, output] of batch.entries()) fitted.set(output, results[i]);
				progress?.update({ label, done: fitted.size, total: which.length, fields: [] });
			}),
		);
		return fitted;
	};
	try {
		const tuned = spreadByOnsets(data, outputs, tunedOutputs);
		const precisions = await chosenPrecisions(kind, async (candidate) => {
			const fitted = await fitAll(
				candidate,
				tuned,
				`choosing the penalties of the ${kind} regression: code`,
			);
			return [...fitted.values()].reduce((sum, { validationLoss }) => sum + validationLoss, 0);
		});
		return {
			kind,
			rates: data.rates,
			precisions,
			outputs: await fitAll(precisions, outputs, `${kind} regression of hazards: code`),
		};
	} finally {
		await fitter.end();
		progress?.finish();
	}
}

/** Outputs from frequent to rare, evenly spread by rank; the rarest tell nothing about penalties. */
function spreadByOnsets(
	{ train: { onsets } }: HazardRegressionData,
	outputs: readonly number[],
	most: number,
): number[] {
	const onsetsOf = (output: number) => onsets.starts[output + 1] - onsets.starts[output];
	const ranked = outputs
		.filter((output) => onsetsOf(output) > 0)
		.sort((a, b) => onsetsOf(b) - onsetsOf(a));
	const usable = Math.ceil(ranked.length * 0.8);
	const count = Math.min(most, usable);
	return Array.from({ length: count }, (_, i) => ranked[Math.floor((i * usable) / count)]);
}

/** The best common precision; trees have none. In a ridge regression then the best of each family beside the others. */
async function chosenPrecisions(
	kind: RegressionKind,
	lossOf: (precisions: FamilyPrecisions) => Promise<number>,
): Promise<FamilyPrecisions> {
	let best: FamilyPrecisions = [];
	let least = Number.POSITIVE_INFINITY;
	if (kind === "trees") return best;
	const isBetter = async (precisions: FamilyPrecisions) => {
		const loss = await lossOf(precisions);
		if (loss >= least) return false;
		[best, least] = [precisions, loss];
		return true;
	};
	for (const precision of commonPrecisions)
		if (!(await isBetter(featureFamilies.map(() => precision)))) break;
	if (kind === "ridge")
		for (const family of featureFamilies.keys())
			for (const factor of familyFactors)
				if (await isBetter(best.with(family, best[family] * factor))) break;
	return best;
}

/** Fits outputs in threads, or in this one if there is little to do. */
function fittingThreads(data: HazardRegressionData, outputs: number, threads: number) {
	const work = data.train.ages.length * outputs;
	const count = Math.min(threads, Math.floor(work / workPerThread));
	const fit = hazardFitter(data);
	if (count < 2)
		return {
			fit: async (...args: FitArguments) => fit(...args),
			end: async () => {},
		};
	const { call, end } = startThreads(new URL("./regression-thread.js", import.meta.url), {
		count,
		workerData: data,
		work: "fits regressions",
	});
	return { fit: (...args: FitArguments) => call("fit", args) as Promise<FittedOutput[]>, end };
}

type FitArguments = [
	kind: RegressionKind,
	precisions: FamilyPrecisions,
	outputs: readonly number[],
];

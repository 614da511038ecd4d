import type { Progress } from "../../../base/progress.js";
import {
	onsetSums,
	type RatesByAgeAndSex,
	smoothRates,
} from "../../../data/cohort/age-sex-rates.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { startThreads } from "../../../engine/runtime/threads.js";
import { type TreeSettings, treeCandidates } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import type { HazardSettings } from "../../hazards/settings.js";
import { followedLandmarks, type LandmarkOptions } from "./followed-landmarks.js";
import { type FittedOutput, type HazardRegressionData, treesFitter } from "./hazard-regression.js";
import { atSharedStrengths, type LassoRegressionData, lassoPaths } from "./lasso-path.js";
import { recordColumns } from "./record-features.js";

/** A regression of hazards on age, sex and earlier records. */
export interface HazardRegression {
	readonly rates: RatesByAgeAndSex;
	/** What was learned of each output that was asked for. */
	readonly outputs: ReadonlyMap<number, FittedOutput>;
}

export interface HazardRegressionOptions {
	readonly outputs: readonly number[];
	readonly threads?: number | undefined;
	readonly progress?: Progress | undefined;
}

/** Landmarks per person: more hardly add to what is known of a person. */
const perPerson = 5;
/** Of a split, which bounds memory and time. */
const mostLandmarks = 200_000;
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

/** Outputs on which the size of trees is chosen. */
const tunedOutputs = 24;
/** Outputs that a thread fits per call, at most. */
const mostPerCall = 16;
/** Landmarks × outputs for which another thread is worth its start. */
const workPerThread = 100_000;

/** What regressions of any kind learn from. */
export async function hazardRegressionData(
	settings: HazardSettings,
	dataset: Dataset,
	{
		lookBackDays,
		mostPatients = mostLandmarks,
	}: {
		readonly lookBackDays: number;
		/** Patients of a split, at most, evenly spread. */
		readonly mostPatients?: number;
	},
): Promise<HazardRegressionData> {
	const landmarkOptions = usualLandmarks(lookBackDays, mostPatients);
	const sums = await onsetSums(dataset, "train", {
		horizonDays: 1,
		lookBackDays,
		groups: settings.groups.map(({ tokens }) => tokens),
	});
	return {
		settings,
		vocab: dataset.vocabulary.size,
		rates: smoothRates(sums),
		sums,
		train: await followedLandmarks(settings, dataset, "train", landmarkOptions),
		valid: await followedLandmarks(settings, dataset, "valid", landmarkOptions),
	};
}

/**
 * Fits hazards of first records to the training patients: those of age and sex times few effects of earlier records.
 * How strong these must be is chosen on the likelihood of the validation patients.
 */
export async function fitLassoHazards(
	data: HazardRegressionData,
	{ outputs, threads = 1, progress }: HazardRegressionOptions,
): Promise<HazardRegression> {
	if (outputs.length === 0) return { rates: data.rates, outputs: new Map() };
	const { width } = recordColumns(data.settings, data.vocab);
	const byColumn = { ...data, columns: glm.columnsOf(data.train.features, width) };
	const fitter = openFitter(byColumn, outputs.length, threads, progress);
	try {
		const paths = await fitter.paths(outputs, "lasso regression of hazards: code");
		return { rates: data.rates, outputs: atSharedStrengths(data, paths) };
	} finally {
		await fitter.end();
	}
}

/** The same with boosted trees, of one size for all outputs: the best on validation, from small to large. */
export async function fitTreeHazards(
	data: HazardRegressionData,
	{ outputs, threads = 1, progress }: HazardRegressionOptions,
): Promise<HazardRegression & { readonly size: TreeSettings }> {
	const fitter = openFitter(data, outputs.length, threads, progress);
	try {
		const tuned = spreadByOnsets(data, outputs, tunedOutputs);
		let best:
			| { readonly size: TreeSettings; readonly fitted: Map<number, FittedOutput> }
			| undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const size of treeCandidates) {
			const fitted = await fitter.trees(
				size,
				tuned,
				"choosing the size of the boosted trees: code",
			);
			const loss = [...fitted.values()].reduce(
				(sum, { validationLoss }) => sum + validationLoss,
				0,
			);
			if (best && loss >= least) break;
			best = { size, fitted };
			least = loss;
		}
		const { size, fitted } = best as NonNullable<typeof best>;
		const others = outputs.filter((output) => !fitted.has(output));
		const rest = await fitter.trees(size, others, "boosted trees of hazards: code");
		return { rates: data.rates, size, outputs: new Map([...fitted, ...rest]) };
	} finally {
		await fitter.end();
	}
}

/** Outputs from frequent to rare, evenly spread by rank; the rarest tell nothing. */
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

/** Fits outputs in threads, or in this one if there is little to do. */
function openFitter(
	data: HazardRegressionData & Partial<LassoRegressionData>,
	outputCount: number,
	threads: number,
	progress: Progress | undefined,
) {
	const work = data.train.ages.length * outputCount;
	const count = Math.max(1, Math.min(threads, Math.floor(work / workPerThread)));
	const pool =
		count > 1
			? startThreads(new URL("./regression-thread.js", import.meta.url), {
					count,
					workerData: data,
					work: "fits regressions",
				})
			: undefined;
	const trees = treesFitter(data);
	const paths = lassoPaths(data as LassoRegressionData);
	/** The results of all outputs, from as many calls as keep all threads at work. */
	async function inBatches<Result>(
		outputs: readonly number[],
		label: string,
		call: (batch: readonly number[]) => Promise<unknown> | readonly Result[],
	): Promise<Map<number, Result>> {
		const perCall = Math.min(mostPerCall, Math.ceil(outputs.length / (2 * count)));
		const batches = Array.from({ length: Math.ceil(outputs.length / perCall) }, (_, i) =>
			outputs.slice(i * perCall, (i + 1) * perCall),
		);
		let done = 0;
		const results = await Promise.all(
			batches.map(async (batch) => {
				const ofBatch = (await call(batch)) as readonly Result[];
				done += batch.length;
				progress?.update({ label, done, total: outputs.length, fields: [] });
				return ofBatch;
			}),
		);
		return new Map(results.flat().map((result, i) => [outputs[i], result]));
	}
	return {
		trees: (size: TreeSettings, outputs: readonly number[], label: string) =>
			inBatches<FittedOutput>(outputs, label, (batch) =>
				pool ? pool.call("trees", [size, batch]) : trees(size, batch),
			),
		paths: (outputs: readonly number[], label: string) =>
			inBatches<FittedOutput[]>(outputs, label, (batch) =>
				pool ? pool.call("paths", [batch]) : paths(batch),
			),
		async end(): Promise<void> {
			await pool?.end();
			progress?.finish();
		},
	};
}

import type { Progress } from "../../../base/progress.js";
import {
	onsetSums,
	type RatesByAgeAndSex,
	smoothRates,
} from "../../../data/cohort/age-sex-rates.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { startThreads } from "../../../engine/runtime/threads.js";
import { treeCandidates } from "../../boosted-trees.js";
import * as glm from "../../glm.js";
import { featureFamilies } from "../../hazards/landmarks.js";
import type { HazardSettings } from "../../hazards/settings.js";
import { followedLandmarks, type LandmarkOptions } from "./followed-landmarks.js";
import {
	type FittedOutput,
	type HazardRegressionData,
	hazardFitter,
	type RegressionForm,
} from "./hazard-regression.js";
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

/** From strong to weak. The search starts in between. */
const commonPrecisions = [3200, 1600, 800, 400, 200, 100, 50];
const startingPrecision = 800;
const familyFactors = [4, 1 / 4];
/** Outputs on which the form of a regression is chosen. */
const tunedOutputs = 24;
/** Outputs that a thread fits per call, at most: several share a pass over the rows. */
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
 * Fits hazards of first records to the training patients. The precision of each family of features, or the size of
 * trees, is chosen on the likelihood of the validation patients, for all outputs together.
 */
export async function fitHazards(
	data: HazardRegressionData,
	{ kind, outputs, threads = 1, progress }: HazardRegressionOptions & { readonly kind: ChosenKind },
): Promise<HazardRegression & { readonly form: RegressionForm }> {
	const fitter = fittingThreads(data, outputs.length, threads);
	const fitAll = (form: RegressionForm, which: readonly number[], label: string) =>
		inBatches(which, (batch) => fitter.fit(form, batch), { fitter, label, progress });
	try {
		const tuned = spreadByOnsets(data, outputs, tunedOutputs);
		const { form, fitted } = await chosenForm(kind, (candidate) =>
			fitAll(candidate, tuned, `${choosing[kind]}: code`),
		);
		const others = outputs.filter((output) => !fitted.has(output));
		const rest = await fitAll(form, others, `${kind} regression of hazards: code`);
		return { rates: data.rates, form, outputs: new Map([...fitted, ...rest]) };
	} finally {
		await fitter.end();
		progress?.finish();
	}
}

/** The same with few effects, some of them large. How strong they must be is chosen on the validation patients. */
export async function fitLassoHazards(
	data: HazardRegressionData,
	{ outputs, threads = 1, progress }: HazardRegressionOptions,
): Promise<HazardRegression> {
	const { width } = recordColumns(data.settings, data.vocab);
	const byColumn = { ...data, columns: glm.columnsOf(data.train.features, width) };
	const fitter = fittingThreads(byColumn, outputs.length, threads);
	try {
		const label = "lasso regression of hazards: code";
		const paths = await inBatches(outputs, fitter.paths, { fitter, label, progress });
		return { rates: data.rates, outputs: atSharedStrengths(data, paths) };
	} finally {
		await fitter.end();
		progress?.finish();
	}
}

/** The results of all outputs, from as many calls as keep all threads at work. */
async function inBatches<Result>(
	outputs: readonly number[],
	call: (batch: readonly number[]) => Promise<readonly Result[]>,
	{
		fitter,
		label,
		progress,
	}: {
		readonly fitter: { readonly threads: number };
		readonly label: string;
		readonly progress: Progress | undefined;
	},
): Promise<Map<number, Result>> {
	const perCall = Math.min(mostPerCall, Math.ceil(outputs.length / (2 * fitter.threads)));
	const batches = Array.from({ length: Math.ceil(outputs.length / perCall) }, (_, i) =>
		outputs.slice(i * perCall, (i + 1) * perCall),
	);
	let done = 0;
	const results = await Promise.all(
		batches.map(async (batch) => {
			const ofBatch = await call(batch);
			done += batch.length;
			progress?.update({ label, done, total: outputs.length, fields: [] });
			return ofBatch;
		}),
	);
	return new Map(results.flat().map((result, i) => [outputs[i], result]));
}

type ChosenKind = RegressionForm["kind"];

const choosing = {
	ridge: "choosing the penalties of the ridge regression",
	trees: "choosing the size of the boosted trees",
} as const satisfies Record<ChosenKind, string>;

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

interface FittedForm {
	readonly form: RegressionForm;
	readonly fitted: ReadonlyMap<number, FittedOutput>;
}

/**
 * The form with the least validation loss: the best size of trees, from small to large; or the best common precision,
 * in a ridge regression then the best of each family beside the others.
 */
async function chosenForm(
	kind: ChosenKind,
	fit: (form: RegressionForm) => Promise<FittedForm["fitted"]>,
): Promise<FittedForm> {
	const common = commonForms(kind);
	const first = kind === "trees" ? 0 : commonPrecisions.indexOf(startingPrecision);
	let best: FittedForm = { form: common[first], fitted: new Map() };
	let least = Number.POSITIVE_INFINITY;
	const isBetter = async (form: RegressionForm) => {
		const fitted = await fit(form);
		const losses = Array.from(fitted.values(), ({ validationLoss }) => validationLoss);
		const loss = losses.reduce((sum, ofOutput) => sum + ofOutput, 0);
		if (loss >= least) return false;
		best = { form, fitted };
		least = loss;
		return true;
	};
	await isBetter(common[first]);
	const improves = async (step: 1 | -1) => {
		let next = first + step;
		while (next in common && (await isBetter(common[next]))) next += step;
		return next !== first + step;
	};
	if (!(await improves(1))) await improves(-1);
	if (kind === "ridge")
		for (const family of featureFamilies.keys())
			for (const factor of familyFactors)
				if (await isBetter(withFactor(best.form, family, factor))) break;
	return best;
}

const commonForms = (kind: ChosenKind): RegressionForm[] =>
	kind === "trees"
		? treeCandidates.map((settings) => ({ kind, settings }))
		: commonPrecisions.map((precision) => ({
				kind,
				precisions: featureFamilies.map(() => precision),
			}));

function withFactor(form: RegressionForm, family: number, factor: number): RegressionForm {
	if (form.kind === "trees") return form;
	const { kind, precisions } = form;
	return { kind, precisions: precisions.with(family, precisions[family] * factor) };
}

/** Fits outputs in threads, or in this one if there is little to do. */
function fittingThreads(
	data: HazardRegressionData & Partial<LassoRegressionData>,
	outputs: number,
	threads: number,
) {
	const work = data.train.ages.length * outputs;
	const count = Math.min(threads, Math.floor(work / workPerThread));
	if (count < 2) {
		const fit = hazardFitter(data);
		return {
			threads: 1,
			fit: async (form: RegressionForm, batch: readonly number[]) => fit(form, batch),
			paths: async (batch: readonly number[]) => lassoPaths(data as LassoRegressionData)(batch),
			end: async () => {},
		};
	}
	const { call, end } = startThreads(new URL("./regression-thread.js", import.meta.url), {
		count,
		workerData: data,
		work: "fits regressions",
	});
	return {
		threads: count,
		fit: (form: RegressionForm, batch: readonly number[]) =>
			call("fit", [form, batch]) as Promise<FittedOutput[]>,
		paths: (batch: readonly number[]) => call("paths", [batch]) as Promise<FittedOutput[][]>,
		end,
	};
}

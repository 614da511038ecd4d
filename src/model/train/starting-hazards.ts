import { evenlySpread } from "../../base/arrays.js";
import { type Random, random } from "../../base/random.js";
import { bandCount } from "../../data/cohort/age-sex-rates.js";
import { timeAtRisk } from "../../data/cohort/at-risk.js";
import type { RowSource } from "../../data/cohort/batches.js";
import type { Dataset, History } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type Family, fitted, logistic, poisson, sparseRows } from "../glm.js";
import { drawDay, drawLandmark } from "../hazards/draw-landmarks.js";
import { prefix, sinceHatsOf, sinceKnots } from "../hazards/head.js";
import {
	ageFeatures,
	type LandmarkFeatures,
	landmarkValues,
	pastFeatures,
} from "../hazards/landmarks.js";
import {
	type Bins,
	type HazardSettings,
	mostDirectCodes,
	outputsOf,
	visitBinsOf,
} from "../hazards/settings.js";
import type { ParameterValues } from "../index.js";
import { type KeptPriors, withKeptPrior } from "./kept-prior.js";
import {
	fitLassoHazards,
	type HazardRegressionOptions,
	hazardRegressionData,
} from "./regressions/fit-hazards.js";
import { ageCurve, logRateAt } from "./regressions/followed-landmarks.js";
import { recordColumns } from "./regressions/record-features.js";

/** Training patients with records, at most so many and evenly spread, each with draws of its own. */
async function* drawnPatients(dataset: Dataset, most: number, draws: Random) {
	for (const patient of evenlySpread(dataset.patients("train"), most)) {
		const history = await dataset.read(patient);
		const source = { history, from: history.birthEvents, to: history.tokens.length };
		if (source.to > source.from) yield { history, source, draw: draws.fork(patient) };
	}
}

/** Rows of a regression, to which others are added. */
export function glmRows() {
	const features: (readonly number[])[] = [];
	const exposure: number[] = [];
	const events: number[] = [];
	const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
	return {
		add(row: readonly number[], time: number, count: number): void {
			features.push(row);
			exposure.push(time);
			events.push(count);
		},
		/** The logarithm of the rate over all rows; half an event in some further time: where none is recorded there still is a rate. */
		crudeRate: (further: number) => Math.log((total(events) + 0.5) / (total(exposure) + further)),
		/** The most probable weights under a prior of precision 1 around the start, which keeps features that come together harmless. */
		fit(family: Family, start: readonly number[]): number[] {
			const centres = Float64Array.from(start);
			const precisions = new Float64Array(start.length).fill(1);
			const outcomes = { events: Float64Array.from(events), exposure: Float64Array.from(exposure) };
			return [...fitted(family, sparseRows(features), outcomes, { precisions, centres })];
		},
	};
}

/** Each bin that a time at risk reaches, with the days in it, and whether the time ended there; negative if it ends with an event. */
function* binsAtRisk({ from, to }: Pick<Bins, "from" | "to">, days: number) {
	for (const [bin, end] of to.entries()) {
		const exposure = Math.min(Math.abs(days), end) - from[bin];
		if (exposure <= 0) return;
		yield { bin, exposure, ended: Number(days < 0 && -days <= end) };
	}
}

/** What hazards depend on of the records before a landmark. */
const recordsBefore = ({ sinceAny, past }: LandmarkFeatures, landmark: number) => [
	...sinceHatsOf(sinceAny[landmark]),
	...past.subarray(landmark * pastFeatures, (landmark + 1) * pastFeatures),
];

/** Deaths are rare. */
const maxDeathPatients = 8000;

/** How often people die before the next visit: a level for each bin, and effects of age, sex and earlier records on the log rate. */
export async function deathRates(settings: HazardSettings, dataset: Dataset, seed: number) {
	const bins = visitBinsOf(settings);
	const { to } = bins;
	const widths = [to.length, sinceKnots.length, pastFeatures, ageFeatures];
	const rows = glmRows();
	const draws = random(seed).fork("deaths");
	for await (const { history, source, draw } of drawnPatients(dataset, maxDeathPatients, draws)) {
		const landmarks = landmarksOf(settings, source, draw);
		const values = landmarkValues(settings, dataset.vocabulary.size, landmarks.length);
		for (const [n, { day, weight }] of landmarks.entries()) {
			const atRisk = timeAtRisk(history, day, 0);
			if (!atRisk) continue;
			values.observe(n, history, day);
			const died = atRisk.endedBy === "death";
			values.follow(n, history, day, { until: atRisk.until, died, onset: false });
			const { features, outcomes } = values;
			const known = [
				...recordsBefore(features, n),
				...features.ages.subarray(n * ageFeatures, (n + 1) * ageFeatures),
			];
			for (const { bin, exposure, ended } of binsAtRisk(bins, outcomes.visitDeathRisk[n])) {
				const ofBin = to.map((_, column) => Number(column === bin));
				rows.add([...ofBin, ...known], weight * exposure, weight * ended);
			}
		}
	}
	// Half a death in a century.
	const crude = rows.crudeRate(36_525);
	const start = widths.flatMap((width, part) => new Array<number>(width).fill(part ? 0 : crude));
	const coefficients = rows.fit(poisson, start);
	const [bias, since, past, age] = widths.map((width) => coefficients.splice(0, width)) as [
		number[],
		number[],
		number[],
		number[],
	];
	return { bias, since, past, age };
}

/**
 * Landmarks as in training, on average, with a visit of weight 1. Of those after the last visit before a death there are
 * more, which weigh less: one draw per patient would meet few deaths.
 */
function landmarksOf(
	settings: HazardSettings,
	source: RowSource,
	draw: Random,
): { readonly day: number; readonly weight: number }[] {
	const { slotsPerLandmark, daysPerLandmark } = settings;
	const drawn = drawLandmark(settings, source, 1, draw);
	const landmarks = drawn ? [{ day: drawn.day, weight: slotsPerLandmark * drawn.visitWeight }] : [];
	const last = beforeDeath(source.history);
	if (!last) return landmarks;
	const days = last.death - last.start;
	return [
		...landmarks.filter(({ day }) => day < last.start),
		// Half of all draws are visits, half are days.
		...(last.isVisit ? [{ day: last.start, weight: 0.5 }] : []),
		{
			day: last.start + draw.integer(days),
			weight: (0.5 * days * slotsPerLandmark) / daysPerLandmark,
		},
	];
}

/** The days before an observed death, since the last visit or, if there is none, since observation began. */
function beforeDeath({ observed, death, times, birthEvents }: History) {
	if (death === null) return undefined;
	const end = Math.floor(death);
	const period = observed.find((candidate) => candidate.start < end && end <= candidate.end);
	if (!period) return undefined;
	let n = times.length - 1;
	while (n >= birthEvents && Math.floor(times[n]) >= end) n--;
	const visit = n < birthEvents ? Number.NEGATIVE_INFINITY : Math.floor(times[n]);
	return {
		death: end,
		start: Math.max(period.start, visit),
		isVisit: visit >= period.start,
	};
}

/** Training patients that are read, at most; evenly spread. */
const maxVisitPatients = 4000;

/**
 * Weights with which the next visit, how many records it has and how many are new, and death before it begin at regressions
 * on what was recorded before: the network has only the rest to learn. Few landmarks per step would learn it slowly.
 */
export async function withVisitRegression(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const { to } = visitBinsOf(settings);
	const { bins, shares } = await visitRows(settings, dataset, seed);
	const regressed = new Map(weights);
	const put = (name: string, data: readonly number[]) => {
		const { shape } = weights.get(`hazards.${name}`) as { shape: readonly number[] };
		regressed.set(`hazards.${name}`, { shape, data: Float32Array.from(data) });
	};
	const putAll = (name: string, bias: readonly number[], rest: readonly (readonly number[])[]) => {
		const columns = (from: number, end?: number) => rest.flatMap((row) => row.slice(from, end));
		put(`${name}.bias`, bias);
		put(`${name}.since`, columns(0, sinceKnots.length));
		put(`${name}.past`, columns(sinceKnots.length));
	};
	const zeros = (count: number) => new Array<number>(count).fill(0);
	const rates = bins.map((rows) => rows.fit(poisson, [rows.crudeRate(50), ...zeros(perVisit)]));
	putAll(
		"visit",
		rates.map(([bias]) => bias),
		rates.map(([, ...rest]) => rest),
	);
	for (const [name, rows] of Object.entries(shares)) {
		const coefficients = rows.fit(logistic, zeros(to.length + perVisit));
		putAll(name, coefficients.slice(0, to.length), [coefficients.slice(to.length)]);
	}
	for (const [name, effects] of Object.entries(await deathRates(settings, dataset, seed)))
		put(`visitDeath.${name}`, effects);
	return regressed;
}

/** Features of a landmark that the next visit depends on. */
const perVisit = sinceKnots.length + pastFeatures;

/** What the regressions learn from: landmarks of training patients, with the weights that training gives them. */
async function visitRows(settings: HazardSettings, dataset: Dataset, seed: number) {
	const visitBins = visitBinsOf(settings);
	const { to } = visitBins;
	// A bias for all rows of a rate; of a probability, one for each bin.
	const bins = to.map(glmRows);
	const shares = {
		oneRecord: glmRows(),
		visitEnd: glmRows(),
		newAlone: glmRows(),
		newCodes: glmRows(),
	};
	const draws = random(seed).fork("visits");
	for await (const { history, source, draw } of drawnPatients(dataset, maxVisitPatients, draws)) {
		const count = Math.ceil((source.to - source.from) / settings.slotsPerLandmark);
		const values = landmarkValues(settings, dataset.vocabulary.size, count);
		for (let n = 0; n < count; n++) {
			const drawn = drawLandmark(settings, source, count, draw);
			if (!drawn) continue;
			values.observe(n, history, drawn.day);
			values.follow(n, history, drawn.day, drawn);
			const { features, outcomes } = values;
			const weight = drawn.visitWeight;
			const known = recordsBefore(features, n);
			const days = outcomes.visitRisk[n];
			for (const { bin, exposure, ended } of binsAtRisk(visitBins, days))
				bins[bin].add([1, ...known], weight * exposure, weight * ended);
			const then = to.findIndex((end) => -days <= end);
			if (days >= 0 || then < 0) continue;
			const records = outcomes.visitRecords[n];
			const row = [...to.map((_, bin) => Number(bin === then)), ...known];
			const add = (name: keyof typeof shares, trials: number, successes: number) =>
				shares[name].add(row, weight * trials, weight * successes);
			add("oneRecord", 1, Number(records === 1));
			if (records > 1) add("visitEnd", records - 1, 1);
			const newRecords = outcomes.newRecords[n];
			add(records === 1 ? "newAlone" : "newCodes", records, newRecords);
		}
	}
	return { bins, shares };
}

/** Training patients that crude rates are taken from, at most; evenly spread. */
const maxRatePatients = 20_000;

/** What regressions may use. */
interface Means extends Pick<HazardRegressionOptions, "threads" | "progress"> {
	readonly kept?: KeptPriors | undefined;
}

/** Weights whose hazards begin at regressions on the training patients: the network has only the rest to learn. */
export async function startingHazards(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
	means: Means = {},
): Promise<ParameterValues> {
	const withRates = await withCrudeRates(weights, settings, dataset, seed);
	const withVisits = await withVisitRegression(withRates, settings, dataset, seed);
	const fit = () => withPrior(withVisits, settings, dataset, means);
	return means.kept ? withKeptPrior(withVisits, means.kept, fit) : fit();
}

/** Weights whose recurrences begin at the crude rates of the training patients. */
async function withCrudeRates(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	seed: number,
): Promise<ParameterValues> {
	const outputs = outputsOf(settings, dataset.vocabulary.size).count;
	const records = new Float64Array(outputs);
	const daysAtRisk = new Float64Array(outputs);
	const draws = random(seed).fork("crude rates");
	for await (const { history, source, draw } of drawnPatients(dataset, maxRatePatients, draws)) {
		const drawn = drawDay(settings, source, 1, draw);
		if (!drawn) continue;
		const { features, outcomes, observe, follow } = landmarkValues(
			settings,
			dataset.vocabulary.size,
			1,
		);
		observe(0, history, drawn.day);
		follow(0, history, drawn.day, drawn);
		for (const [output, days] of outcomes.risk.entries()) {
			if (features.since[output] < 0) continue;
			daysAtRisk[output] += drawn.codeWeight * Math.abs(days);
			if (days < 0) records[output] += drawn.codeWeight;
		}
	}
	// Half a record in a century: a code without any still has a rate.
	const data = Float32Array.from(records, (n, i) => Math.log((n + 0.5) / (daysAtRisk[i] + 36_525)));
	return new Map(weights).set(`${prefix}.next.bias`, { shape: [outputs], data });
}

/** Weights with the prior of first records: a lasso regression on age, sex and earlier records, which is not trained further. */
async function withPrior(
	weights: ParameterValues,
	settings: HazardSettings,
	dataset: Dataset,
	means: Means,
): Promise<ParameterValues> {
	const vocab = dataset.vocabulary.size;
	const { count } = outputsOf(settings, vocab);
	const hasCodes = vocab <= mostDirectCodes;
	const { lookBackDays } = settings;
	const data = await hazardRegressionData(settings, dataset, { lookBackDays });
	const { rates, outputs } = await fitLassoHazards(data, {
		outputs: hasCodes
			? Array.from({ length: count - specialCount }, (_, i) => specialCount + i)
			: [],
		...means,
	});
	const age = new Float32Array(count * 2 * bandCount);
	const bias = new Float32Array(count);
	const columns = recordColumns(settings, vocab);
	const codes = new Float32Array(hasCodes ? count * columns.past : 0);
	const past = new Float32Array(count * pastFeatures);
	for (let output = 0; output < count; output++) {
		const fitted = outputs.get(output);
		const curve = fitted?.curve ?? ageCurve(rates, output);
		const level = logRateAt(curve, 0, -1, 0);
		const effects = fitted?.learned as Float64Array | undefined;
		bias[output] = level + (effects?.[columns.bias] ?? 0);
		const bands = [...curve.mean.map((logRate) => logRate - level), ...curve.halfDifference];
		age.set(bands, output * bands.length);
		if (!effects) continue;
		codes.set(effects.subarray(0, columns.past), output * columns.past);
		past.set(effects.subarray(columns.past, columns.bias), output * pastFeatures);
	}
	const started = new Map(weights);
	started.set(`${prefix}.prior.age`, { shape: [count, 2 * bandCount], data: age });
	started.set(`${prefix}.prior.bias`, { shape: [count], data: bias });
	started.set(`${prefix}.prior.past`, { shape: [count, pastFeatures], data: past });
	if (hasCodes) started.set(`${prefix}.prior.codes`, { shape: [count, columns.past], data: codes });
	return started;
}

import { InputError } from "../../base/errors.js";
import type { Dataset, History } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type Bins, binsOf, outputsOf, visitBinsOf } from "../../model/hazards/settings.js";
import { type HazardModel, hazardModel } from "../../predict/hazards.js";
import { measured, type PatientRow, ratioStatistics } from "../bootstrap.js";
import type { EvaluateOptions, MeasureRun } from "../evaluation.js";
import * as metrics from "./sequence-metrics.js";

/** The settings of the HoTPP benchmark for StackOverflow, in units of time. */
const settings = { horizon: 10, delta: 2, step: 4, targets: 32, compared: 10, cost: 1 };
/**
 * The unit in mean gaps between events. EasyTPP's StackOverflow counts in 10⁶ seconds (11.57 days), at a mean gap of
 * 9.45 days.
 */
const unitInGaps = 1.224;
/** Groups of patients of which one is left out at a time, for the interval of T-mAP. */
const groups = 10;
/** Below this a prediction is not made. */
const lowestScore = -100;

/** An event after which predictions are made: its position in the history of a patient, numbered within the split. */
interface Point {
	readonly patient: number;
	readonly history: History;
	readonly position: number;
}

/** What is expected after a point: records of each code, at rates that are constant within bins. */
interface Expected {
	/** Days after the point at which the bins end. */
	readonly ends: readonly number[];
	/** Records per day. */
	readonly rates: Float64Array; // [bins, codes]
	/** Days until the next event. */
	readonly next: number;
}

type Predict = (points: readonly Point[]) => Promise<Expected[]>;

/**
 * Whole futures of event sequences against the field: T-mAP and optimal-transport distance with HoTPP's settings for
 * StackOverflow, and the error of the time to the next event.
 */
export async function sequenceTask(
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split } = options;
	const patients = [...dataset.patients(split)];
	const points: Point[] = [];
	let [gaps, days] = [0, 0];
	for (const [patient, number] of patients.entries()) {
		const history = await dataset.read(number);
		const { times, birthEvents } = history;
		const events = history.tokens.length - birthEvents;
		gaps += Math.max(0, events - 1);
		days += events > 0 ? (times.at(-1) as number) - times[birthEvents] : 0;
		for (const index of metrics.predictionPoints(events, settings.step, settings.targets))
			points.push({ patient, history, position: birthEvents + index });
	}
	if (points.length === 0)
		throw new InputError(
			`${dataset.folder}: no sequence of split ${split} has more than ${settings.step + settings.targets} events, which whole futures need; evaluate another dataset`,
		);
	// Points are predicted in order: histories of like length together have little padding.
	points.sort((a, b) => a.position - b.position);
	const sizes: Sizes = {
		unit: (unitInGaps * days) / gaps,
		codes: dataset.vocabulary.size - specialCount,
		patients: patients.length,
	};
	const { unit } = sizes;
	const baselines =
		options.baselines === false
			? []
			: await scoreRows(points, sizes, densities(sizes), {
					who: "history",
					label: "history density",
				});
	const notes = [
		`HoTPP's settings for StackOverflow: horizon ${settings.horizon}, δ ${settings.delta}, a prediction every ${settings.step} events where ${settings.targets} follow; unit ${unit.toFixed(2)} days (${unitInGaps} mean gaps)`,
		"T-mAP, %: mean over codes; its interval leaves out a tenth of the patients at a time. distance: optimal transport of the first 10 events, insertions and deletions cost 1. error: mean distance of the predicted and the observed time to the next event, in days",
		`predictions: the probability of one record of a code, of two and so on up to ${sparse.records}, in the middle of ${intervalsIn(sparse)} intervals up to 2 δ wide; history density: from the records so far, divided by the time; even: one prediction in each of ${intervalsIn(even)} intervals instead; the other placing was chosen on validation users of StackOverflow`,
	];
	return async (runtime, trained) => {
		const label = trained?.model.name ?? "";
		const model = trained && hazardModel(runtime, trained);
		const modelRows = model
			? await scoreRows(points, sizes, modelRates(model), { who: "model", label }).finally(() =>
					model.dispose(),
				)
			: [];
		return measured("futures", options, [...modelRows, ...baselines], {
			patients: patients.length,
			events: points.length,
			notes,
		});
	};
}

interface Sizes {
	/** Days. */
	readonly unit: number;
	readonly codes: number;
	readonly patients: number;
}

/** Points that are predicted at once. */
const batch = 512;

/** Scores predictions, in a row for each placing. */
async function scoreRows(
	points: readonly Point[],
	{ unit, codes, patients }: Sizes,
	predict: Predict,
	name: PatientRow["name"],
): Promise<PatientRow[]> {
	const placings = [
		{ name, placing: sparse },
		{ name: { ...name, label: `${name.label}, even` }, placing: even },
	];
	const scaled = {
		horizon: settings.horizon * unit,
		delta: settings.delta * unit,
		labels: codes,
		targets: settings.targets,
	};
	const collectors = placings.map(() => metrics.collectTmap(scaled, groups));
	const [windows, distances, errors] = [0, 0, 0].map(() => new Float64Array(patients));
	for (let first = 0; first < points.length; first += batch) {
		const batchPoints = points.slice(first, first + batch);
		for (const [i, expected] of (await predict(batchPoints)).entries()) {
			const { patient, history, position } = batchPoints[i];
			const start = history.times[position];
			const observed = {
				times: history.times.subarray(position + 1),
				labels: history.tokens.subarray(position + 1).map((token) => token - specialCount),
			};
			for (const [row, { placing }] of placings.entries()) {
				const predicted = predictionsOf(expected, placing, start, { codes, unit });
				collectors[row].add(
					metrics.matchWindow(scaled, { start, observed, predicted }),
					patient % groups,
				);
			}
			const distance = metrics.transportDistance(
				{
					times: Array.from(observed.times, (time) => (time - start) / unit),
					labels: observed.labels,
				},
				likelyEvents(expected, codes, unit),
				{ insertCost: settings.cost, deleteCost: settings.cost, events: settings.compared },
			);
			windows[patient] += 1;
			distances[patient] += distance;
			errors[patient] += Math.abs(observed.times[0] - start - expected.next);
		}
	}
	const ratios = {
		distance: { parts: distances, wholes: windows },
		"error of the next time, days": { parts: errors, wholes: windows },
	};
	return placings.map(({ name }, row) => ({
		name,
		statistics: ratioStatistics(ratios),
		alone: { tmap: tmapOf(collectors[row]) },
		// The distance and the error do not depend on the placing: differences of the model's even row say nothing new.
		isCompared: name.who !== "model" || row === 0,
	}));
}

/** T-mAP with an interval from leaving out one group of patients after the other. */
function tmapOf({ score }: ReturnType<typeof metrics.collectTmap>) {
	const percent = (leftOut?: number) => 100 * (score(leftOut) ?? 0);
	const value = percent();
	const parts = Array.from({ length: groups }, (_, group) => percent(group));
	const mean = parts.reduce((sum, part) => sum + part, 0) / groups;
	const variance =
		((groups - 1) / groups) * parts.reduce((sum, part) => sum + (part - mean) ** 2, 0);
	const margin = 1.96 * Math.sqrt(variance);
	return { value, low: value - margin, high: value + margin };
}

/** Expected records of a code by some days after a point. */
function expectedBy({ ends, rates }: Expected, codes: number, code: number, days: number): number {
	let [sum, start] = [0, 0];
	for (const [bin, end] of ends.entries()) {
		if (start >= days) break;
		sum += rates[bin * codes + code] * (Math.min(days, end) - start);
		start = end;
	}
	return sum;
}

/** Where predictions are made: in intervals of a width in units, and how many records of a code in each. */
type Placing = typeof even;

/** One prediction in each interval as wide as δ. */
const even = { width: settings.delta, records: 1 };

/** A prediction meets records up to δ before and after it, so wider intervals do; in each there may be several records. */
const sparse: Placing = { width: 2 * settings.delta, records: 12 };

const intervalsIn = ({ width }: Placing) => Math.ceil(settings.horizon / width);

/** Predictions in the middle of intervals, each with a score per code: the log of the probability of so many records. */
function predictionsOf(
	expected: Expected,
	placing: Placing,
	start: number,
	{ codes, unit }: Pick<Sizes, "codes" | "unit">,
): metrics.FutureWindow["predicted"] {
	// The last interval may be narrower.
	const bounds = Array.from({ length: intervalsIn(placing) + 1 }, (_, i) =>
		Math.min(i * placing.width, settings.horizon),
	);
	const counts = bounds.map((bound) =>
		Array.from({ length: codes }, (_, code) => expectedBy(expected, codes, code, bound * unit)),
	);
	const times: number[] = [];
	const scores: number[] = [];
	for (let i = 1; i < bounds.length; i++)
		for (let n = 1; n <= placing.records; n++) {
			times.push(start + ((bounds[i - 1] + bounds[i]) / 2) * unit);
			for (const [code, count] of counts[i].entries()) {
				const probability = probabilityOfRecords(n, count - counts[i - 1][code]);
				scores.push(Math.max(lowestScore, Math.log(probability)));
			}
		}
	return { times, scores };
}

/** The probability of at least `n` records where so many are expected, if they come independently of each other. */
function probabilityOfRecords(n: number, expected: number): number {
	let term = Math.exp(-expected);
	let fewer = 0;
	for (let k = 0; k < n; k++) {
		fewer += term;
		term *= expected / (k + 1);
	}
	// For few expected records the difference from 1 is rounding: the first term left out is nearly all.
	return fewer < 1 - 1e-9 ? 1 - fewer : term;
}

/** Events by time: the n-th record of a code is where n − ½ are expected. */
function likelyEvents(expected: Expected, codes: number, unit: number) {
	const events: { time: number; label: number }[] = [];
	for (let label = 0; label < codes; label++) {
		let [sum, start] = [0, 0];
		for (const [bin, end] of expected.ends.entries()) {
			const rate = expected.rates[bin * codes + label];
			const last = Math.min(end, settings.horizon * unit);
			for (let n = Math.ceil(sum + 0.5); start < last && n - 0.5 < sum + rate * (last - start); n++)
				events.push({ time: (start + (n - 0.5 - sum) / rate) / unit, label });
			sum += rate * Math.max(0, last - start);
			start = end;
		}
	}
	events.sort((a, b) => a.time - b.time);
	return { times: events.map(({ time }) => time), labels: events.map(({ label }) => label) };
}

/** Rates of the codes so far, and the median gap. */
const densities =
	({ codes, unit }: Sizes): Predict =>
	async (points) =>
		points.map(({ history, position }) => {
			const { tokens, times, birthEvents } = history;
			const gaps: number[] = [];
			const seen = new Float64Array(codes);
			for (let n: number = birthEvents; n <= position; n++) {
				const code = tokens[n] - specialCount;
				seen[code] = seen[code] + 1;
				if (n > birthEvents) gaps.push(times[n] - times[n - 1]);
			}
			const days = Math.max(1e-6 * unit, times[position] - times[birthEvents]);
			gaps.sort((a, b) => a - b);
			return {
				ends: [settings.horizon * unit],
				rates: seen.map((count) => count / days),
				next: gaps[Math.floor(gaps.length / 2)] ?? unit,
			};
		});

/** The hazards of each code, of first records or next ones, and the median time to the next record of any. */
const modelRates =
	(model: HazardModel): Predict =>
	async (points) => {
		const { vocab } = model;
		const hazardBins = binsOf(model.settings);
		const visitBins = visitBinsOf(model.settings);
		const { count } = outputsOf(model.settings, vocab);
		const codes = vocab - specialCount;
		// What comes later on the same day is not known: a history ends with the last event that is seen.
		const hazards = await model.at(
			points.map(({ history: { tokens, times }, position }) => ({
				tokens: tokens.subarray(0, position + 1),
				times: times.subarray(0, position + 1),
			})),
			points.map(({ history, position }) => [Math.floor(history.times[position])]),
		);
		return points.map((_, i) => {
			const logHazards = hazards.codes(i);
			const rates = new Float64Array(hazardBins.to.length * codes);
			for (let i = 0; i < rates.length; i++)
				rates[i] = Math.exp(logHazards[Math.floor(i / codes) * count + specialCount + (i % codes)]);
			return { ends: hazardBins.to, rates, next: medianOf(hazards.visits(i), visitBins) };
		});
	};

/** The time by which half have an event. */
function medianOf(logHazards: Float32Array, { from, to }: Pick<Bins, "from" | "to">): number {
	let left = Math.log(2);
	for (const [bin, start] of from.entries()) {
		const hazard = Math.exp(logHazards[bin]);
		const most = hazard * (to[bin] - start);
		if (most >= left) return start + left / hazard;
		left -= most;
	}
	return to.at(-1) as number;
}

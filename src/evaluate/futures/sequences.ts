import { InputError } from "../../base/errors.js";
import type { Dataset, History } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { hazardModel } from "../../infer/hazards.js";
import { type Bins, binsOf, outputsOf, visitBinsOf } from "../../models/hazards/settings.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";
import type { EvaluationRow, Measured, MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { measureRows, type PatientRow } from "../rows.js";
import { collectTmap, type FutureWindow, predictionPoints } from "./tmap.js";
import { collectTransportDistance } from "./transport-distance.js";

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

/** A place in a sequence where predictions are made. */
interface Point {
	/** Place among the patients. */
	readonly patient: number;
	readonly history: History;
	/** The last event that is seen. */
	readonly at: number;
}

/** What is expected after a point. */
interface Expected {
	/** Expected records of each code in each of the bins, which are δ wide. */
	readonly counts: Float64Array; // [bins, codes]
	/** Days until the next event. */
	readonly next: number;
}

/** Bins after a point: as wide as predictions may be off, up to the horizon. */
const bins = settings.horizon / settings.delta;

type Predict = (points: readonly Point[]) => Promise<Expected[]>;

/**
 * Whole futures of event sequences against the field: T-mAP and optimal-transport distance with HoTPP's settings for
 * StackOverflow, and the error of the time to the next event.
 */
export async function sequenceTask(
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws } = options;
	const patients = [...dataset.patients(split)];
	const points: Point[] = [];
	let [gaps, days] = [0, 0];
	for (const [patient, number] of patients.entries()) {
		const history = await dataset.read(number);
		const events = history.tokens.length - history.birthEvents;
		gaps += Math.max(0, events - 1);
		days += events > 0 ? lastTime(history) - (history.times[history.birthEvents] as number) : 0;
		for (const at of predictionPoints(events, settings.step, settings.targets))
			points.push({ patient, history, at: history.birthEvents + at });
	}
	if (points.length === 0)
		throw new InputError(
			`${dataset.folder}: no sequence of split ${split} has more than ${settings.step + settings.targets} events, which whole futures need; evaluate another dataset`,
		);
	const unit = (unitInGaps * days) / gaps;
	const codes = dataset.vocabulary.size - specialCount;
	const scored = (name: PatientRow["name"], predict: Predict) =>
		scoreRow(name, points, { unit, codes, patients: patients.length, predict });
	const baseline =
		options.baselines === false
			? []
			: [await scored({ who: "history", label: "history density" }, densities(codes, unit))];
	const notes = [
		`HoTPP's settings for StackOverflow: horizon ${settings.horizon}, δ ${settings.delta}, a prediction every ${settings.step} events where ${settings.targets} follow; unit ${unit.toFixed(2)} days (${unitInGaps} mean gaps)`,
		"T-mAP, %: mean over codes; its interval leaves out a tenth of the patients at a time. distance: optimal transport of the first 10 events, insertions and deletions cost 1. error: mean distance of the predicted and the observed time to the next event, in days",
		"predictions: the expected records of each code in five intervals, as wide as δ; history density: the records so far, divided by the time",
	];
	return async (runtime, trained) => {
		const own = trained
			? [
					await scored(
						{ who: "model", label: trained.model.name },
						modelRates(runtime, trained, unit),
					),
				]
			: [];
		const rows = [...own, ...baseline];
		const measured = measureRows(
			rows.map(({ row }) => row),
			patients.length,
			options,
		);
		return {
			...{ task: "futures", split, patients: patients.length, seed, draws, notes },
			events: points.length,
			...measured,
			rows: measured.rows.map(
				(one, i): EvaluationRow => ({
					...one,
					metrics: {
						tmap: rows[i]?.tmap as NonNullable<(typeof rows)[number]["tmap"]>,
						...one.metrics,
					},
				}),
			),
		} satisfies Measured;
	};
}

const lastTime = ({ times }: History) => times.at(-1) as number;

interface Scoring {
	readonly unit: number;
	readonly codes: number;
	readonly patients: number;
	readonly predict: Predict;
}

/** Points that are predicted at once. */
const batch = 512;

async function scoreRow(
	name: PatientRow["name"],
	points: readonly Point[],
	{ unit, codes, patients, predict }: Scoring,
) {
	const scaled = {
		...{ horizon: settings.horizon * unit, delta: settings.delta * unit },
		...{ labels: codes, targets: settings.targets },
	};
	const collectors = Array.from({ length: groups + 1 }, () => collectTmap(scaled));
	const room = () => new Float64Array(patients);
	const [windows, distances, errors] = [room(), room(), room()];
	const add = (field: Float64Array, patient: number, value: number) => {
		field[patient] = (field[patient] as number) + value;
	};
	for (let first = 0; first < points.length; first += batch) {
		const some = points.slice(first, first + batch);
		for (const [i, expected] of (await predict(some)).entries()) {
			const { patient, history, at } = some[i] as Point;
			const start = history.times[at] as number;
			const observed = {
				times: history.times.subarray(at + 1),
				labels: history.tokens.subarray(at + 1).map((token) => token - specialCount),
			};
			const window = {
				start,
				observed,
				predicted: predictionsOf(expected, start, codes, scaled.delta),
			};
			for (const [group, collector] of collectors.entries())
				if (group !== patient % groups) collector.add(window);
			const distance = collectTransportDistance({
				...{ insertCost: settings.cost, deleteCost: settings.cost, events: settings.compared },
			});
			const inUnits = (times: ArrayLike<number>) =>
				Array.from(times, (time) => (time - start) / unit);
			distance.add(
				{ times: inUnits(observed.times), labels: observed.labels },
				likelyEvents(window, codes, unit),
			);
			add(windows, patient, 1);
			add(distances, patient, distance.score() as number);
			add(errors, patient, Math.abs((observed.times[0] as number) - start - expected.next));
		}
	}
	const [whole, ...parts] = [collectors[groups], ...collectors.slice(0, groups)].map(
		(collector) => 100 * (collector?.score()?.tmap ?? 0),
	) as [number, ...number[]];
	const mean = parts.reduce((sum, own) => sum + own, 0) / groups;
	const variance = ((groups - 1) / groups) * parts.reduce((sum, own) => sum + (own - mean) ** 2, 0);
	const row: PatientRow = {
		name,
		byPatient: {
			ratios: {
				distance: { parts: distances, wholes: windows },
				"error of the next time, days": { parts: errors, wholes: windows },
			},
		},
	};
	const margin = 1.96 * Math.sqrt(variance);
	return { row, tmap: { value: whole, low: whole - margin, high: whole + margin } };
}

/** Bin centres, each with a score per code: the log of the probability of a record, if records come at a constant rate. */
function predictionsOf(
	{ counts }: Expected,
	start: number,
	codes: number,
	width: number,
): FutureWindow["predicted"] {
	return {
		times: Array.from({ length: bins }, (_, bin) => start + (bin + 0.5) * width),
		scores: Array.from({ length: bins * codes }, (_, at) =>
			Math.max(lowestScore, Math.log(-Math.expm1(-(counts[at] as number)))),
		),
	};
}

/** The predictions that are more likely than not, by time. */
function likelyEvents({ start, predicted }: FutureWindow, codes: number, unit: number) {
	const found: { time: number; label: number }[] = [];
	for (let at = 0; at < predicted.times.length; at++)
		for (let label = 0; label < codes; label++)
			if ((predicted.scores[at * codes + label] as number) >= Math.log(0.5))
				found.push({ time: ((predicted.times[at] as number) - start) / unit, label });
	found.sort((a, b) => a.time - b.time);
	return { times: found.map(({ time }) => time), labels: found.map(({ label }) => label) };
}

/** Rates of the codes so far, and the median gap. */
const densities =
	(codes: number, unit: number): Predict =>
	async (points) =>
		points.map(({ history, at }) => {
			const { tokens, times, birthEvents } = history;
			const gaps: number[] = [];
			const seen = new Float64Array(codes);
			for (let n: number = birthEvents; n <= at; n++) {
				const code = (tokens[n] as number) - specialCount;
				seen[code] = (seen[code] as number) + 1;
				if (n > birthEvents) gaps.push((times[n] as number) - (times[n - 1] as number));
			}
			const days = Math.max(1e-6 * unit, (times[at] as number) - (times[birthEvents] as number));
			const perBin = seen.map((count) => (count * settings.delta * unit) / days);
			const counts = new Float64Array(bins * codes);
			for (let bin = 0; bin < bins; bin++) counts.set(perBin, bin * codes);
			gaps.sort((a, b) => a - b);
			return { counts, next: gaps[Math.floor(gaps.length / 2)] ?? unit };
		});

/** The hazards of each code, of first records or next ones, and the median time to the next record of any. */
const modelRates =
	(runtime: Runtime, trained: Trained, unit: number): Predict =>
	async (points) => {
		const model = hazardModel(runtime, trained);
		const { vocab } = model;
		const hazardBins = binsOf(model.settings);
		const visitBins = visitBinsOf(model.settings);
		const { count } = outputsOf(model.settings, vocab);
		const codes = vocab - specialCount;
		const width = settings.delta * unit;
		// What comes later on the same day is not known: a history ends with the last event that is seen.
		const hazards = await model
			.at(
				points.map(({ history: { tokens, times }, at }) => ({
					tokens: tokens.subarray(0, at + 1),
					times: times.subarray(0, at + 1),
				})),
				points.map(({ history, at }) => [Math.floor(history.times[at] as number)]),
			)
			.finally(() => model.dispose());
		return points.map((_, i) => {
			const rates = hazards.codes(i).map(Math.exp);
			const counts = new Float64Array(bins * codes);
			for (let bin = 0; bin < bins; bin++)
				for (const [own, start] of hazardBins.from.entries()) {
					const end = Math.min((bin + 1) * width, hazardBins.to[own] as number);
					const days = end - Math.max(bin * width, start);
					for (let code = 0; days > 0 && code < codes; code++)
						counts[bin * codes + code] =
							(counts[bin * codes + code] as number) +
							days * (rates[own * count + specialCount + code] as number);
				}
			return { counts, next: medianOf(hazards.visits(i), visitBins) };
		});
	};

/** The time by which half have an event. */
function medianOf(logHazards: Float32Array, { from, to }: Pick<Bins, "from" | "to">): number {
	let left = Math.log(2);
	for (const [bin, start] of from.entries()) {
		const hazard = Math.exp(logHazards[bin] as number);
		const most = hazard * ((to[bin] as number) - start);
		if (most >= left) return start + left / hazard;
		left -= most;
	}
	return to.at(-1) as number;
}

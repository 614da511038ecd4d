import { alone, type Divide, inOrder, isOwn } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Dataset, History } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { Predictor } from "../../model/index.js";
import { forecastWeights, type Trained } from "../../model/train/index.js";
import { predictAutoRegressively } from "../../predict/index.js";
import * as statistics from "../bootstrap.js";
import type { EvaluateOptions, MeasureRun, Method } from "../evaluation.js";
import { novelties, rankOf, trainingFrequencies } from "../next/scores.js";
import { findSimulationTruth, type SimulationTruth } from "../simulation-truth.js";

/** Patients per batch; their predictions are held in memory. */
const chunk = 32;

/**
 * Task *forecast*: predicts every event after the look-up window at its own time, from the state after the window
 * only. The baselines are ranked once.
 */
export async function forecastTask(
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, lookup, ahead, progress } = options;
	const eventsOf = (patient: number) => dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
	const patients = dataset.patients(split).filter((patient) => eventsOf(patient) > lookup);
	const leftOut = dataset.patients(split).length - patients.length;
	if (patients.length === 0)
		throw new InputError(
			`none of the ${leftOut} patients of split ${split} has an event after the first ${lookup}; choose a shorter \`lookup\``,
			{ field: "lookup", value: lookup },
		);
	const splitOf = (patient: number) => splitHistory(dataset, patient, lookup, ahead);
	/** By patient: 1 for each later event whose code the look-up window does not have. */
	const isNew: Uint8Array[] = [];
	for (const patient of patients) {
		const { known, later } = await splitOf(patient);
		const had = new Set(known.tokens);
		isNew.push(Uint8Array.from(later.tokens, (token) => Number(!had.has(token))));
	}
	const rank = (name: statistics.RowName, ranker: Ranker, divide: Divide = alone) =>
		divide(async (job) => {
			const pieces: number[][][] = [];
			for (let first = 0; first < patients.length; first += chunk) {
				if (!isOwn(job, first / chunk)) continue;
				const chunkPatients = patients.subarray(first, first + chunk);
				const ranks = await ranker(await Promise.all(Array.from(chunkPatients, splitOf)));
				pieces.push(ranks.map((patientRanks) => Array.from(patientRanks)));
				progress?.update({
					label: `${name.label}: patient`,
					done: first + chunkPatients.length,
					total: patients.length,
				});
			}
			const ranks = inOrder(job, pieces).flat();
			return { name, events: ranks.map((one, i) => ({ ranks: one, isNew: isNew[i] })) };
		});
	const others: Awaited<ReturnType<typeof rank>>[] = [];
	const notes = [
		`${lookup} events are known and up to ${ahead} later ones are predicted, each at its own time`,
		`${leftOut} of ${patients.length + leftOut} patients have no event after the first ${lookup} and are left out`,
		"known codes: the patient had them among the events that are known; every recall is the mean over patients, and that of all codes is the mean of known and new ones, weighted by their shares",
	];
	if (options.baselines !== false) {
		others.push(
			await rank(statistics.baselines.history, countRanker(dataset, { ofWindow: true })),
			await rank(statistics.baselines.global, countRanker(dataset, { ofWindow: false })),
		);
		const truth = await findSimulationTruth(dataset, options, notes);
		if (truth) {
			others.push(await rank(statistics.baselines.oracle, oracleRanker(dataset, truth, options)));
			notes.push(
				`reference model: by ${options.futures} sampled futures per patient; more would raise it a little`,
			);
		}
	}
	const modelRows = async (runtime: Runtime, trained: Trained) => {
		const { model, config } = trained;
		const has = model.forecasting.methods;
		const methods = has.filter((method) => options.methods.includes(method));
		if (methods.length === 0)
			throw new InputError(
				`${model.name} does not forecast ${options.methods.join(" or ")}; it forecasts ${has.join(" and ")}`,
			);
		const predictor = model.predictor(runtime, config, forecastWeights(trained));
		const rows: typeof others = [];
		try {
			for (const method of methods) {
				const name = { who: "model", label: `${model.name}, ${method}`, method } as const;
				rows.push(await rank(name, modelRanker(predictor, method), runtime.divide));
			}
		} finally {
			await predictor.dispose();
		}
		return rows;
	};
	const shareOfNew = statistics.ratioOf(
		isNew.map((flags) => flags.reduce((sum, one) => sum + one, 0) / flags.length),
		isNew.map(() => 1),
	);
	return async (runtime, trained) => {
		const rows = [...(trained ? await modelRows(runtime, trained) : []), ...others];
		const recalls = rows.map(({ name, events }) => ({ name, byWindow: windowRecalls(events) }));
		return statistics.measured(
			"forecast",
			options,
			rows.map(({ name, events }) => ({
				name,
				statistics: statistics.ratioStatistics(recallRatios(events)),
			})),
			{
				patients: patients.length,
				events: rows[0]?.events.reduce((sum, { ranks }) => sum + ranks.length, 0) ?? 0,
				notes,
				newCodes: statistics.bootstrap(patients.length, { share: shareOfNew }, options).share,
				windows: windows.map(({ window }, i) => ({
					window,
					rows: recalls.map(({ name, byWindow }) => ({ ...name, ...byWindow[i] })),
				})),
			},
		);
	};
}

/** The history of a patient, split after the look-up window: the birth event, if there is one, and the first events. */
export async function splitHistory(
	dataset: Dataset,
	patient: number,
	lookup: number,
	ahead: number,
) {
	const { tokens, times, birthEvents } = await dataset.read(patient);
	const cut = birthEvents + lookup;
	const piece = (from: number, to: number) => ({
		tokens: tokens.subarray(from, to),
		times: times.subarray(from, to),
	});
	return { patient, known: piece(0, cut), later: piece(cut, cut + ahead) };
}

type SplitHistory = Awaited<ReturnType<typeof splitHistory>>;

/** For each later event of a patient: the number of more likely codes at its time. */
type Ranks = readonly number[] | Int32Array;

export type Ranker = (patients: readonly SplitHistory[]) => Promise<readonly Ranks[]>;

const autoRegressiveSteps = 60;

/** Ranks by the model's predictions at the time of each later event, from the state after the look-up window only. */
export function modelRanker(predictor: Predictor, method: Method): Ranker {
	return async (patients) => {
		// All patients need the same number of query times: shorter lists repeat their last time.
		const longest = Math.max(...patients.map(({ later }) => later.times.length));
		const times = patients.map(({ later }) =>
			Float64Array.from({ length: longest }, (_, i) => later.times[i] ?? later.times.at(-1)!),
		);
		const known = patients.map((patient) => patient.known);
		const { logProbabilities, vocab } =
			method === "auto-regressive"
				? await predictAutoRegressively(predictor, known, times, { steps: autoRegressiveSteps })
				: await predictor.score(known, times);
		return patients.map(({ later }, patient) =>
			later.tokens.map((token, event) => {
				const from = (patient * longest + event) * vocab;
				return rankOf(logProbabilities.subarray(from, from + vocab), token);
			}),
		);
	};
}

/**
 * Ranks by how often a code occurs in the look-up window, ties by frequency in training; without the window, by frequency
 * alone.
 */
export function countRanker(
	dataset: Dataset,
	{ ofWindow }: { readonly ofWindow: boolean },
): Ranker {
	const frequencies = trainingFrequencies(dataset);
	return async (patients) =>
		patients.map(({ known, later }) => {
			const counts = frequencies.slice();
			if (ofWindow) for (const token of known.tokens) if (token >= specialCount) counts[token] += 1;
			return later.tokens.map((token) => rankOf(counts, token));
		});
}

/**
 * Ranks by the true probability of each code among the records of a day, given all records up to the last event
 * of the look-up window, estimated by sampled futures. Few futures are imprecise for rare codes, so the recall is
 * a little below the optimum.
 */
export function oracleRanker(
	dataset: Dataset,
	{ oracle, patient: known, toTokens }: SimulationTruth,
	{ futures, seed }: { readonly futures: number; readonly seed: number },
): Ranker {
	const ranks = (patientHistory: History, { known: window, later }: SplitHistory): Ranks => {
		const { history, positions } = known(patientHistory);
		const cut = window.tokens.length - patientHistory.birthEvents;
		const { events } = history;
		const days = later.tokens.map((_, i) => events[positions[cut + i]].day);
		const chances = oracle.ahead(
			{ ...history, events: events.slice(0, positions[cut - 1] + 1) },
			days,
			{ samples: futures, seed },
		);
		const size = oracle.codes.length;
		return later.tokens.map((token, i) =>
			rankOf(toTokens(chances.subarray(i * size, (i + 1) * size)), token),
		);
	};
	return async (patients) =>
		Promise.all(patients.map(async (one) => ranks(await dataset.read(one.patient), one)));
}

const depths = [1, 5, 10, 15] as const;

/** Ranges of later events, counted from 1. */
const windows = [
	{ window: "1–20", from: 1, to: 20 },
	{ window: "21–50", from: 21, to: 50 },
	{ window: "51–100", from: 51, to: 100 },
] as const;

/** The K of recall@K within a window. */
const windowDepth = 10;

/** The later events of one patient: their ranks, and 1 for codes that the look-up window does not have. */
interface RankedEvents {
	readonly ranks: Ranks;
	readonly isNew: Uint8Array;
}

type Counts = (isNew: boolean) => boolean;

/** Of a patient's events in a range: the share that counts, and the share that counts and is among the most likely. */
function sharesOf(
	{ ranks, isNew }: RankedEvents,
	{ from, to }: { readonly from: number; readonly to: number },
	depth: number,
	counts: Counts,
) {
	const end = Math.min(to, ranks.length);
	let [hits, counted] = [0, 0];
	for (let i = from - 1; i < end; i++) {
		if (!counts(isNew[i] === 1)) continue;
		counted++;
		if (ranks[i] < depth) hits++;
	}
	const events = Math.max(1, end - from + 1);
	return { part: hits / events, whole: counted / events };
}

/**
 * Recall averaged over patients, for all later events and by window: of all codes, of known ones and of new ones.
 * Every patient counts once, divided between known and new codes as the patient's events are, so the recall of all
 * codes is that of known and of new ones, weighted by their shares. Windows and codes without any event are left out.
 */
export function recallRatios(patients: readonly RankedEvents[]): statistics.Ratios {
	const allEvents = { from: 1, to: Number.POSITIVE_INFINITY };
	const metrics = [
		...depths.map((depth) => ({ name: `recall@${depth}`, range: allEvents, depth })),
		...windows.map(({ window, ...range }) => ({
			name: `recall@${windowDepth} ${window}`,
			range,
			depth: windowDepth,
		})),
	];
	const ratios = novelties.flatMap(({ suffix, counts }) =>
		metrics.map(({ name, range, depth }) => {
			const shares = patients.map((patient) => sharesOf(patient, range, depth, counts));
			const parts = shares.map(({ part }) => part);
			const wholes = shares.map(({ whole }) => whole);
			return [`${name}${suffix}`, { parts, wholes }] as const;
		}),
	);
	return statistics.definedRatios(Object.fromEntries(ratios));
}

/** By window, the recall@10 of every patient with events there: of all codes, of known and of new ones. */
export const windowRecalls = (patients: readonly RankedEvents[]) =>
	windows.map((range) => {
		const [recall, recallKnown, recallNew] = novelties.map(({ counts }) =>
			patients.flatMap((patient) => {
				const { part, whole } = sharesOf(patient, range, windowDepth, counts);
				return whole > 0 ? [part / whole] : [];
			}),
		);
		return { recall, recallKnown, recallNew };
	});

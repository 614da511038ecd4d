import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Predictor } from "../../model/index.js";
import { predictAutoRegressively } from "../../predict/index.js";
import type { Method } from "../evaluation.js";
import { trainingFrequencies } from "../frequency-baselines.js";
import { rankOf } from "../scores.js";
import type { SimulationTruth } from "../simulation-truth.js";

/** A history split after its look-up window. */
export interface SplitHistory {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** The look-up window: the birth event, if there is one, and the first events. */
	readonly known: { readonly tokens: Int32Array; readonly times: Float64Array };
	readonly later: { readonly tokens: Int32Array; readonly times: Float64Array };
}

/** The number of events to predict after the look-up window; 0 if there are none. */
function laterEvents(dataset: Dataset, patient: number, lookup: number, ahead: number): number {
	const events = dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
	return Math.min(ahead, Math.max(0, events - lookup));
}

/** The patients of a split with events after the look-up window. */
export function forecastPatients(dataset: Dataset, split: Split, lookup: number): Int32Array {
	return dataset.patients(split).filter((patient) => laterEvents(dataset, patient, lookup, 1) > 0);
}

export async function splitHistory(
	dataset: Dataset,
	patient: number,
	lookup: number,
	ahead: number,
): Promise<SplitHistory> {
	const { tokens, times, birthEvents } = await dataset.read(patient);
	const cut = birthEvents + lookup;
	const piece = (from: number, to: number) => ({
		tokens: tokens.subarray(from, to),
		times: times.subarray(from, to),
	});
	return { patient, known: piece(0, cut), later: piece(cut, cut + ahead) };
}

/** 1 for each later event whose code the look-up window does not have. */
export function areNew({ known, later }: SplitHistory): Uint8Array {
	const had = new Set(known.tokens);
	return Uint8Array.from(later.tokens, (token) => Number(!had.has(token)));
}

/** For each later event of a patient: the number of more likely codes at its time. */
export type Ranks = Int32Array;

/** Ranks the later events of some patients at once. */
export type Ranker = (patients: readonly SplitHistory[]) => Promise<readonly Ranks[]>;

const autoRegressiveSteps = 60;

/** log p of every token at the time of each later event, from the state after the look-up window only. */
export async function predictLater(
	predictor: Predictor,
	method: Method,
	patients: readonly SplitHistory[],
): Promise<(patient: number, event: number) => Float32Array> {
	// All patients need the same number of query times: shorter lists repeat their last time.
	const most = Math.max(...patients.map(({ later }) => later.times.length));
	const times = patients.map(({ later }) =>
		Float64Array.from({ length: most }, (_, i) => later.times[i] ?? later.times.at(-1)!),
	);
	const known = patients.map((patient) => patient.known);
	const { logProbabilities, vocab } =
		method === "auto-regressive"
			? await predictAutoRegressively(predictor, known, times, { steps: autoRegressiveSteps })
			: await predictor.score(known, times);
	return (patient, event) => {
		const from = (patient * most + event) * vocab;
		return logProbabilities.subarray(from, from + vocab);
	};
}

/** Ranks by the model's predictions. */
export function modelRanker(predictor: Predictor, method: Method): Ranker {
	return async (patients) => {
		const at = await predictLater(predictor, method, patients);
		return patients.map(({ later }, patient) =>
			later.tokens.map((token, i) => rankOf(at(patient, i), token)),
		);
	};
}

/** Ranks by how often a code occurs in the look-up window; ties by frequency in training. */
export function historyRanker(dataset: Dataset): Ranker {
	const frequencies = trainingFrequencies(dataset);
	return async (patients) =>
		patients.map(({ known, later }) => {
			const counts = frequencies.slice();
			for (const token of known.tokens) if (token >= specialCount) counts[token]! += 1;
			return later.tokens.map((token) => rankOf(counts, token));
		});
}

export function globalRanker(dataset: Dataset): Ranker {
	const frequencies = trainingFrequencies(dataset);
	return async (patients) =>
		patients.map(({ later }) => later.tokens.map((token) => rankOf(frequencies, token)));
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
	const ranks = (own: History, { known: window, later }: SplitHistory): Ranks => {
		const { history, positions } = known(own);
		const cut = window.tokens.length - own.birthEvents;
		const { events } = history;
		const days = later.tokens.map((_, i) => events[positions[cut + i]!]!.day);
		const chances = oracle.ahead(
			{ ...history, events: events.slice(0, positions[cut - 1]! + 1) },
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

import type { Dataset, History } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { predictAutoRegressively } from "../../infer/index.js";
import type { Predictor } from "../../models/index.js";
import type { Method } from "../evaluation.js";
import { trainingFrequencies } from "../frequency-baselines.js";
import { rankOf } from "../rank.js";
import type { SimulationTruth } from "../simulation-truth.js";
import type { LookedUp } from "./look-back.js";

/** For each later event of a patient: how many codes were thought likelier at its time. */
export type Ranks = Int32Array;

/** Ranks the later events of some patients at once. */
export type Ranker = (patients: readonly LookedUp[]) => Promise<readonly Ranks[]>;

const autoRegressiveSteps = 60;

/** The model from the state after the look-up window alone. */
export function modelRanker(predictor: Predictor, method: Method): Ranker {
	return async (patients) => {
		// As many questions for everyone: a shorter list asks about its last time again.
		const most = Math.max(...patients.map(({ later }) => later.times.length));
		const times = patients.map(({ later }) =>
			Float64Array.from({ length: most }, (_, i) => later.times[i] ?? later.times.at(-1)!),
		);
		const known = patients.map((patient) => patient.known);
		const { logProbabilities, vocab } =
			method === "auto-regressive"
				? await predictAutoRegressively(predictor, known, times, { steps: autoRegressiveSteps })
				: await predictor.score(known, times);
		return patients.map(({ later }, patient) =>
			later.tokens.map((token, i) => {
				const from = (patient * most + i) * vocab;
				return rankOf(logProbabilities.subarray(from, from + vocab), token);
			}),
		);
	};
}

/** By how often a code is in the look-up window; equal counts by how frequent it is in training. */
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
 * The true chance of each code among the records of a day, from all that was recorded up to the last
 * event of the look-up window, by sampled futures. Few futures err in the rare codes, so the recall is
 * a little below the best there is.
 */
export function oracleRanker(
	dataset: Dataset,
	{ oracle, patient: known, toTokens }: SimulationTruth,
	{ futures, seed }: { readonly futures: number; readonly seed: number },
): Ranker {
	const ranks = (own: History, { known: window, later }: LookedUp): Ranks => {
		const { history, places } = known(own);
		const cut = window.tokens.length - own.birthEvents;
		const { events } = history;
		const days = later.tokens.map((_, i) => events[places[cut + i]!]!.day);
		const chances = oracle.ahead(
			{ ...history, events: events.slice(0, places[cut - 1]! + 1) },
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

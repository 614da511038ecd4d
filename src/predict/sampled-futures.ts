import { InputError } from "../base/errors.js";
import { type Random, random } from "../base/random.js";
import type { Events, Predictions, Predictor } from "../model/index.js";

export interface FutureOptions {
	/** Futures per patient. */
	readonly samples: number;
	readonly seed: number;
	/** Draw among this many most likely tokens alone; among all if left out. */
	readonly top?: number | undefined;
}

/** Patients, and futures, whose states are held at once. */
const mostPatients = 64;
const mostFutures = 128;
/** What is held of all futures: 4 bytes for each draw, so 1 GiB. */
const mostDraws = 2 ** 28;

/**
 * Continuations of each history: tokens, [patients, samples, times]. A future draws an event at
 * each time from the model's own probabilities given the history and its earlier draws; nothing is
 * left out of the draw unless `top` is given. Times follow the history and do not decrease. A
 * future depends on the seed, on its patient's place in the list and on its own number alone.
 */
export async function sampleFutures(
	predictor: Predictor,
	histories: readonly Events[],
	times: readonly ArrayLike<number>[],
	{ samples, seed, top }: FutureOptions,
): Promise<Int32Array> {
	for (const [name, value] of Object.entries({ samples, top: top ?? 1 }))
		if (!Number.isInteger(value) || value < 1)
			throw new InputError(`${name} is ${value}; expected a whole number from 1`);
	if (times.length !== histories.length)
		throw new InputError(`times of ${times.length} patients for ${histories.length} histories`);
	const length = times[0]?.length ?? 0;
	const draws = histories.length * samples * length;
	if (draws > mostDraws)
		throw new InputError(
			`${samples} samples at ${length} times for ${histories.length} histories make ${draws} draws; expected at most ${mostDraws}: lower \`samples\`, or query fewer times`,
			{ field: "samples", value: samples },
		);
	const futures = new Int32Array(draws);
	if (length === 0) return futures;
	for (let first = 0; first < histories.length; first += mostPatients) {
		const block = histories.slice(first, first + mostPatients);
		const timesOf = (patient: number) => times[first + patient];
		const { state, predictions } = await predictor.advance(
			predictor.start(block.length),
			block,
			block.map((_, patient) => [timesOf(patient)[0]]),
		);
		for (let at = 0; at < block.length * samples; at += mostFutures) {
			const count = Math.min(mostFutures, block.length * samples - at);
			const batch = Array.from({ length: count }, (_, i): Future => {
				const patient = Math.floor((at + i) / samples);
				const sample = (at + i) % samples;
				const draw = random(seed)
					.fork(first + patient)
					.fork(sample);
				const place = (first * samples + at + i) * length;
				return { patient, draw, tokens: futures.subarray(place, place + length) };
			});
			await drawFutures(predictor, batch, state, predictions, timesOf, top);
		}
	}
	return futures;
}

interface Future {
	readonly patient: number;
	readonly draw: Random;
	readonly tokens: Int32Array; // [times], filled as it is drawn
}

async function drawFutures(
	predictor: Predictor,
	futures: readonly Future[],
	past: Parameters<Predictor["select"]>[0],
	firstPredictions: Predictions,
	timesOf: (patient: number) => ArrayLike<number>,
	top: number | undefined,
): Promise<void> {
	const length = futures[0]?.tokens.length ?? 0;
	const patients = futures.map(({ patient }) => patient);
	let state = predictor.select(past, patients);
	let predictions = firstPredictions;
	for (let n = 0; n < length; n++) {
		const { vocab } = predictions;
		for (const [i, { patient, draw, tokens }] of futures.entries()) {
			const from = (n === 0 ? patient : i) * vocab;
			tokens[n] = drawn(
				predictions.logProbabilities.subarray(from, from + vocab),
				draw.uniform(),
				top,
			);
		}
		if (n === length - 1) return;
		const timeAt = (patient: number, n: number) => timesOf(patient)[n];
		const events = futures.map(({ patient, tokens }) => ({
			tokens: [tokens[n]],
			times: [timeAt(patient, n)],
		}));
		const queryTimes = patients.map((patient) => [timeAt(patient, n + 1)]);
		({ state, predictions } = await predictor.advance(state, events, queryTimes));
	}
}

/** The token at which the sum of probabilities passes a uniform number; with `top`, of the likeliest alone. */
function drawn(logProbabilities: Float32Array, uniform: number, top: number | undefined): number {
	const all = [...logProbabilities.keys()];
	const logOf = (token: number) => logProbabilities[token];
	const tokens =
		top === undefined ? all : all.sort((a, b) => logOf(b) - logOf(a) || a - b).slice(0, top);
	let left = uniform * tokens.reduce((sum, token) => sum + Math.exp(logOf(token)), 0);
	for (const token of tokens) {
		left -= Math.exp(logOf(token));
		if (left < 0) return token;
	}
	return tokens.reduce((best, token) => (logOf(token) > logOf(best) ? token : best));
}

import { InputError } from "../base/errors.js";
import { type Random, random } from "../base/random.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events, Predictions, Predictor, QueryOptions } from "../model/index.js";
import { withoutEvent } from "./histories.js";
import { beforeEnd, placesOf, trajectoryOf } from "./trajectories.js";

/** Predictions, and where their times lie: [patients][queries]. */
export type PlacedPredictions = Awaited<ReturnType<typeof predictAt>>;

/**
 * Predicts at any times, in one pass over each history. Each prediction uses the events
 * strictly before its time: from all of them after the last event, and before the first from the
 * start of the history, evolved backwards.
 */
export async function predictAt(
	predictor: Predictor,
	histories: readonly Events[],
	times: readonly ArrayLike<number>[],
) {
	const start = predictor.start(histories.length);
	const predictions = await predictor.queryWithin(start, histories, times);
	return { ...predictions, places: histories.map((history, i) => placesOf(history, times[i])) };
}

export type LikelyToken = ReturnType<typeof likeliest>[number];

/** The codes that are most likely at a patient's query, the first first; special tokens are never recorded. */
export function likeliest(
	{ queries, vocab, logProbabilities }: Predictions,
	{
		top,
		patient = 0,
		query = 0,
	}: { readonly top: number; readonly patient?: number; readonly query?: number },
) {
	const from = (patient * queries + query) * vocab;
	const row = logProbabilities.subarray(from, from + vocab);
	return Array.from(highestCodes(row, top), (token) => ({
		token,
		probability: Math.exp(row[token]),
	}));
}

/**
 * The tokens of the highest values, the highest first and of equals the first token first. Special tokens
 * are left out. Only the best so far are kept in order: sorting all takes about ten times as long.
 */
export function highestCodes(values: ArrayLike<number>, count: number): Int32Array {
	const tokens = new Int32Array(Math.max(0, Math.min(count, values.length - specialCount)));
	let kept = 0;
	for (let token = specialCount; token < values.length; token++) {
		const value = values[token];
		if (kept === tokens.length && !(value > values[tokens[kept - 1]])) continue;
		let place = kept < tokens.length ? kept++ : kept - 1;
		for (; place > 0 && value > values[tokens[place - 1]]; place--)
			tokens[place] = tokens[place - 1];
		tokens[place] = token;
	}
	return tokens;
}

/** The probability that a patient's event at each query time is one of these tokens. */
export function probabilitiesOf(
	predictions: Predictions,
	patient: number,
	codes: readonly number[],
): Float64Array {
	const { queries, vocab, logProbabilities } = predictions;
	const unknown = codes.find((token) => token >= vocab);
	if (unknown !== undefined)
		throw new InputError(`a code holds token ${unknown}; the model knows those below ${vocab}`);
	return Float64Array.from({ length: queries }, (_, query) => {
		const from = (patient * queries + query) * vocab;
		return codes.reduce((sum, token) => sum + Math.exp(logProbabilities[from + token]), 0);
	});
}

/** Rejects a set of tokens without a probability, before anything is computed. */
export function checkCodes(codes: readonly number[]): void {
	const bad = codes.find((token) => !Number.isInteger(token) || token < 0);
	if (bad !== undefined)
		throw new InputError(`a code holds token ${bad}; expected whole numbers from 0`);
	if (codes.length === 0 || new Set(codes).size < codes.length)
		throw new InputError(
			`a code is [${codes.join(", ")}]; expected one token or more, each named once`,
		);
}

/** A probability along a history. `growth` is the difference to the time before; 0 at the first. */
export type CodeTrajectory = Awaited<ReturnType<typeof codeTrajectories>>[number][number];

/** Most numbers in the predictions that are held at once: 64 MB. */
const mostNumbers = 2 ** 24;

/**
 * The probability of each code, given that something is recorded, along a patient's times, which must not decrease: [patient][code]. A code
 * is a set of tokens, whose probabilities are added. One code costs as much as all.
 */
export async function codeTrajectories(
	predictor: Predictor,
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	times: readonly ArrayLike<number>[],
) {
	checkPatients(histories, times);
	codes.forEach(checkCodes);
	times.forEach(checkOrder);
	const most = Math.max(1, Math.floor(mostNumbers / predictor.vocab));
	const count = times.reduce((longest, { length }) => Math.max(longest, length), 0);
	const perPass = Math.max(1, Math.floor(most / Math.max(1, count)));
	const trajectories = [];
	for (let first = 0; first < histories.length; first += perPass) {
		const patients = histories.slice(first, first + perPass);
		const days = times.slice(first, first + perPass).map((at) => Float64Array.from(at));
		const probabilities = patients.map(() => codes.map(() => new Float64Array(count)));
		for (let from = 0; from < count; from += most) {
			const part = days.map((at) => at.subarray(from, from + most));
			const predictions = await predictAt(predictor, patients, part);
			for (const [patient, ofCodes] of probabilities.entries())
				for (const [code, values] of ofCodes.entries())
					values.set(probabilitiesOf(predictions, patient, codes[code]), from);
		}
		for (const [patient, history] of patients.entries())
			trajectories.push(
				probabilities[patient].map((probability) => ({
					probability,
					...trajectoryOf(history, days[patient], probability, beforeEnd),
				})),
			);
	}
	return trajectories;
}

function checkPatients(histories: readonly Events[], times: readonly ArrayLike<number>[]): void {
	if (times.length !== histories.length)
		throw new InputError(`times of ${times.length} patients for ${histories.length} histories`);
}

function checkOrder(times: ArrayLike<number>, patient: number): void {
	for (let i = 1; i < times.length; i++)
		if (times[i] < times[i - 1])
			throw new InputError(
				`times of a trajectory must not decrease: patient ${patient} goes ${times[i - 1]} → ${times[i]} at time ${i}; sort them`,
			);
}

export interface AttributionQuery {
	readonly codes: readonly number[];
	readonly times: ArrayLike<number>;
}

/** Histories that are read at once, each without one event. */
const historiesPerPass = 32;

/**
 * The effect of each event on the probability of a code at a visit: that probability minus the one without
 * that event, above 0 where the event raises it. Birth is never left out, because it gives the age: its effect is 0.
 */
export async function attributeCodeProbability(
	predictor: Predictor,
	history: Events,
	{ codes, times }: AttributionQuery,
) {
	checkCodes(codes);
	const days = Array.from(times);
	const read = async (histories: readonly Events[]) => {
		const queries = histories.map(() => days);
		const predictions = await predictAt(predictor, histories, queries);
		return histories.map((_, patient) => probabilitiesOf(predictions, patient, codes));
	};
	const [base] = await read([history]);
	const without = Float64Array.from(
		{ length: history.times.length * days.length },
		(_, i) => base[i % days.length],
	); // [events, times]
	// An event changes nothing up to its own time, but leaving out the first moves the start.
	const changes = (event: number, day: number) => event === 0 || history.times[event] < day;
	const events = Array.from(history.times, (_, event) => event).filter(
		(event) => history.tokens[event] >= specialCount && days.some((day) => changes(event, day)),
	);
	for (let from = 0; from < events.length; from += historiesPerPass) {
		const leftOut = events.slice(from, from + historiesPerPass);
		const probabilities = await read(leftOut.map((event) => withoutEvent(history, event)));
		for (const [row, event] of leftOut.entries())
			for (const [query, day] of days.entries())
				if (changes(event, day)) without[event * days.length + query] = probabilities[row][query];
	}
	const effect = without.map((value, i) => base[i % days.length] - value);
	return { base, without, effect };
}

/** The probability at each time, [times], and without each event, [events, times]; and the difference. */
export type Attribution = Awaited<ReturnType<typeof attributeCodeProbability>>;

/** Event by event, each query is the next event. */
const asNextEvent: QueryOptions = { asNextEvent: true };

/** Patients whose states are held at once. */
const mostPatients = 64;

export interface AutoRegressiveOptions {
	/** From the last event of a history to its last query time. */
	readonly steps?: number;
}

/**
 * Predicts after the history step by step: equal steps from the last event to the last query
 * time, where each step feeds back the most likely event. A query time reads
 * the predictions of the step nearest to it, of two the earlier. A history without events starts at
 * its first query time.
 */
export async function predictAutoRegressively(
	predictor: Predictor,
	histories: readonly Events[],
	times: readonly ArrayLike<number>[],
	{ steps = 60 }: AutoRegressiveOptions = {},
): Promise<Predictions> {
	if (!Number.isInteger(steps) || steps < 1)
		throw new InputError(`${steps} steps; expected a whole number from 1`);
	checkPatients(histories, times);
	const queries = times[0]?.length ?? 0;
	if (times.some((queryDays) => queryDays.length !== queries))
		throw new InputError("expected the same number of query times for every patient");
	const walks = histories.map((history, patient) =>
		walkOf(history, Array.from(times[patient]), steps, patient),
	);
	const { vocab } = predictor;
	const logProbabilities = new Float32Array(histories.length * queries * vocab);
	for (let first = 0; first < histories.length && queries > 0; first += mostPatients) {
		const block = walks.slice(first, first + mostPatients);
		let state = await predictor.observe(
			predictor.start(block.length),
			histories.slice(first, first + mostPatients),
		);
		let fed: Events[] | undefined;
		for (let step = 1; step <= steps; step++) {
			const queryTimes = block.map(({ timeOf }) => [timeOf(step)]);
			let predictions: Predictions;
			if (fed)
				({ state, predictions } = await predictor.advance(state, fed, queryTimes, asNextEvent));
			else predictions = await predictor.query(state, queryTimes, asNextEvent);
			fed = block.map(({ nearest }, row) => {
				const values = predictions.logProbabilities.subarray(row * vocab, (row + 1) * vocab);
				for (const [query, at] of nearest.entries())
					if (at === step) logProbabilities.set(values, ((first + row) * queries + query) * vocab);
				return { tokens: [highestCodes(values, 1)[0]], times: queryTimes[row] };
			});
		}
	}
	return { patients: histories.length, queries, vocab, logProbabilities };
}

/** The time of each step and, for each query time, the step that it reads: 1 … steps. */
function walkOf(history: Events, queryTimes: readonly number[], steps: number, patient: number) {
	const end = queryTimes.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
	const start = history.times[history.times.length - 1] ?? Math.min(...queryTimes);
	const early = queryTimes.find((time) => !(time >= start && Number.isFinite(time)));
	if (early !== undefined)
		throw new InputError(
			`auto-regressive predictions lie after the history: patient ${patient} ends at ${start}, and a query time is ${early}`,
		);
	const size = (end - start) / steps;
	return {
		timeOf: (step: number) => (step === steps ? end : start + step * size),
		nearest: queryTimes.map((time) => {
			const step = size > 0 ? Math.ceil((time - start) / size - 0.5) : 1;
			return Math.min(steps, Math.max(1, step));
		}),
	};
}

export interface FutureOptions {
	readonly samples: number;
	readonly seed: number;
	/** Draw among this many most likely tokens alone; among all if left out. */
	readonly top?: number | undefined;
}

/** Futures whose states are held at once. */
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
	checkPatients(histories, times);
	const length = times[0]?.length ?? 0;
	const draws = histories.length * samples * length;
	if (draws > mostDraws)
		throw new InputError(
			`${samples} samples at ${length} times for ${histories.length} histories make ${draws} draws; expected at most ${mostDraws}: lower \`samples\`, or query fewer times`,
			{ field: "samples", value: samples },
		);
	const tokens = new Int32Array(draws);
	if (length === 0) return tokens;
	for (let first = 0; first < histories.length; first += mostPatients) {
		const block = histories.slice(first, first + mostPatients);
		const blockTimes = times.slice(first, first + mostPatients);
		const start = await predictor.advance(
			predictor.start(block.length),
			block,
			blockTimes.map((queryTimes) => [queryTimes[0]]),
			asNextEvent,
		);
		for (let at = 0; at < block.length * samples; at += mostFutures) {
			const count = Math.min(mostFutures, block.length * samples - at);
			const futures = Array.from({ length: count }, (_, i): SampledFuture => {
				const patient = Math.floor((at + i) / samples);
				const from = (first * samples + at + i) * length;
				return {
					patient,
					times: blockTimes[patient],
					draw: random(seed)
						.fork(first + patient)
						.fork((at + i) % samples),
					tokens: tokens.subarray(from, from + length),
				};
			});
			await drawTokens(predictor, futures, start, top);
		}
	}
	return tokens;
}

interface SampledFuture {
	/** The place of its patient in the block. */
	readonly patient: number;
	readonly times: ArrayLike<number>;
	readonly draw: Random;
	readonly tokens: Int32Array; // [times], filled as it is drawn
}

async function drawTokens(
	predictor: Predictor,
	futures: readonly SampledFuture[],
	start: Awaited<ReturnType<Predictor["advance"]>>,
	top: number | undefined,
): Promise<void> {
	const [{ times }] = futures;
	let state = predictor.select(
		start.state,
		futures.map(({ patient }) => patient),
	);
	let { predictions } = start;
	for (let n = 0; n < times.length; n++) {
		const { vocab, logProbabilities } = predictions;
		for (const [i, { patient, draw, tokens }] of futures.entries()) {
			const from = (n === 0 ? patient : i) * vocab;
			tokens[n] = drawnToken(logProbabilities.subarray(from, from + vocab), draw.uniform(), top);
		}
		if (n === times.length - 1) return;
		({ state, predictions } = await predictor.advance(
			state,
			futures.map(({ tokens, times }) => ({ tokens: [tokens[n]], times: [times[n]] })),
			futures.map(({ times }) => [times[n + 1]]),
			asNextEvent,
		));
	}
}

/** The token at which the sum of probabilities passes a uniform number; with `top`, of the likeliest alone. */
function drawnToken(logs: Float32Array, uniform: number, top: number | undefined): number {
	const all = [...logs.keys()];
	const tokens =
		top === undefined ? all : all.sort((a, b) => logs[b] - logs[a] || a - b).slice(0, top);
	let left = uniform * tokens.reduce((sum, token) => sum + Math.exp(logs[token]), 0);
	for (const token of tokens) {
		left -= Math.exp(logs[token]);
		if (left < 0) return token;
	}
	return tokens.reduce((best, token) => (logs[token] > logs[best] ? token : best));
}

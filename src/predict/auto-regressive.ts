import { InputError } from "../base/errors.js";
import type { Events, Predictions, Predictor } from "../model/index.js";
import { highestCodes } from "./code-probabilities.js";

export interface AutoRegressiveOptions {
	/** From the last event of a history to its last query time. */
	readonly steps?: number;
}

/** Patients whose states are held at once. */
const mostPatients = 64;

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
	if (times.length !== histories.length)
		throw new InputError(`times of ${times.length} patients for ${histories.length} histories`);
	const queries = times[0]?.length ?? 0;
	if (times.some((queryDays) => queryDays.length !== queries))
		throw new InputError("expected the same number of query times for every patient");
	const walks = histories.map((history, patient) =>
		walkOf(history, times[patient] ?? [], steps, patient),
	);
	let vocab = 0;
	let logProbabilities = new Float32Array(0);
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
			if (fed) ({ state, predictions } = await predictor.advance(state, fed, queryTimes));
			else predictions = await predictor.query(state, queryTimes);
			if (vocab === 0) {
				vocab = predictions.vocab;
				logProbabilities = new Float32Array(histories.length * queries * vocab);
			}
			const rows = block.map((_, row) =>
				predictions.logProbabilities.subarray(row * vocab, (row + 1) * vocab),
			);
			for (const [row, { nearest }] of block.entries())
				for (const [query, at] of nearest.entries())
					if (at === step)
						logProbabilities.set(rows[row], ((first + row) * queries + query) * vocab);
			fed = rows.map((row, i) => ({
				tokens: [highestCodes(row, 1)[0]],
				times: queryTimes[i],
			}));
		}
	}
	return { patients: histories.length, queries, vocab, logProbabilities };
}

interface Walk {
	timeOf(step: number): number;
	/** For each query time, the step it reads: 1 … steps. */
	readonly nearest: readonly number[];
}

function walkOf(history: Events, times: ArrayLike<number>, steps: number, patient: number): Walk {
	const queryTimes = Array.from(times);
	const end = queryTimes.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
	const start = history.times[history.times.length - 1] ?? Math.min(...queryTimes);
	const early = queryTimes.find((time) => !(time >= start && Number.isFinite(time)));
	if (early !== undefined)
		throw new InputError(
			`auto-regressive predictions lie after the history: patient ${patient} ends at ${start}, and a query time is ${early}`,
		);
	const size = (end - start) / steps;
	const nearestTo = (time: number) => {
		const step = size > 0 ? Math.ceil((time - start) / size - 0.5) : 1;
		return Math.min(steps, Math.max(1, step));
	};
	return {
		timeOf: (step) => (step === steps ? end : start + step * size),
		nearest: queryTimes.map(nearestTo),
	};
}

import { InputError } from "../base/errors.js";
import type { Events, Predictor } from "../model/index.js";
import { checkCodes, probabilitiesOf } from "./code-probabilities.js";
import { type Place, predictAt } from "./predict-at.js";
import { type Surge, surgesOf } from "./surges.js";

export interface CodeTrajectory {
	readonly times: Float64Array;
	readonly probability: Float64Array;
	/** Difference to the probability at the time before; 0 at the first. */
	readonly growth: Float64Array;
	readonly places: readonly Place[];
	readonly surges: readonly Surge[];
}

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
): Promise<readonly (readonly CodeTrajectory[])[]> {
	if (times.length !== histories.length)
		throw new InputError(`times of ${times.length} patients for ${histories.length} histories`);
	codes.forEach(checkCodes);
	times.forEach(checkOrder);
	const trajectories: CodeTrajectory[][] = [];
	const most = Math.max(1, Math.floor(mostNumbers / predictor.vocab));
	const block = Math.max(1, Math.floor(most / Math.max(1, times[0]?.length ?? 0)));
	for (let first = 0; first < histories.length; first += block) {
		const patients = histories.slice(first, first + block);
		const queryTimes = times.slice(first, first + block).map((at) => Float64Array.from(at));
		const read = await probabilitiesAt(predictor, patients, codes, queryTimes, most);
		for (const [patient, history] of patients.entries()) {
			const { probabilities, places } = read[patient];
			const at = queryTimes[patient] as Float64Array;
			trajectories.push(
				probabilities.map((probability) => {
					const growth = probability.map((value, i) => (i === 0 ? 0 : value - probability[i - 1]));
					const surges = surgesOf(history, at, probability, growth);
					return { times: at, probability, growth, places, surges };
				}),
			);
		}
	}
	return trajectories;
}

interface Probabilities {
	readonly probabilities: readonly Float64Array[]; // [codes][times]
	readonly places: Place[];
}

/** The probabilities of each patient, at most `most` times per pass. */
async function probabilitiesAt(
	predictor: Predictor,
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	times: readonly Float64Array[],
	most: number,
): Promise<readonly Probabilities[]> {
	const count = times.reduce((longest, { length }) => Math.max(longest, length), 0);
	const answers = histories.map(
		(): Probabilities => ({ probabilities: codes.map(() => new Float64Array(count)), places: [] }),
	);
	for (let from = 0; from < count; from += most) {
		const turn = times.map((days) => days.subarray(from, from + most));
		const predictions = await predictAt(predictor, histories, turn);
		for (const [patient, { probabilities, places }] of answers.entries()) {
			for (const place of predictions.places[patient] ?? []) places.push(place);
			for (const [at, code] of codes.entries())
				probabilities[at]?.set(probabilitiesOf(predictions, patient, code), from);
		}
	}
	return answers;
}

function checkOrder(times: ArrayLike<number>, patient: number): void {
	for (let i = 1; i < times.length; i++)
		if (times[i] < times[i - 1])
			throw new InputError(
				`times of a trajectory must not decrease: patient ${patient} goes ${times[i - 1]} → ${times[i]} at time ${i}; sort them`,
			);
}

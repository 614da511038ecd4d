import { InputError } from "../base/errors.js";
import type { Events, Predictor } from "../models/index.js";
import { answersAt, type Place } from "./answers-at.js";
import { checkCodes, riskOf } from "./risk.js";
import { type Surge, surgesOf } from "./surges.js";

export interface RiskTrajectory {
	readonly times: Float64Array;
	readonly risk: Float64Array;
	/** Difference to the risk at the time before; 0 at the first. */
	readonly growth: Float64Array;
	readonly places: readonly Place[];
	readonly surges: readonly Surge[];
}

/** Answers over the whole vocabulary that are held at once. */
const mostAnswers = 2 ** 15;

/**
 * The risk of each code along a patient's times, which must not decrease: [patient][code]. A code
 * is a set of tokens, whose probabilities add. What is asked costs the same for one code as for all.
 */
export async function riskTrajectories(
	predictor: Predictor,
	histories: readonly Events[],
	codes: readonly (readonly number[])[],
	times: readonly ArrayLike<number>[],
): Promise<readonly (readonly RiskTrajectory[])[]> {
	if (times.length !== histories.length)
		throw new InputError(`times of ${times.length} patients for ${histories.length} histories`);
	codes.forEach(checkCodes);
	times.forEach(checkOrder);
	const trajectories: RiskTrajectory[][] = [];
	const block = Math.max(1, Math.floor(mostAnswers / Math.max(1, times[0]?.length ?? 0)));
	for (let first = 0; first < histories.length; first += block) {
		const own = histories.slice(first, first + block);
		const asked = times.slice(first, first + block);
		const answers = await answersAt(predictor, own, asked);
		for (const [patient, history] of own.entries())
			trajectories.push(
				codes.map((code) => {
					const at = Float64Array.from(asked[patient] ?? []);
					const risk = riskOf(answers, patient, code);
					const growth = risk.map((value, i) => (i === 0 ? 0 : value - (risk[i - 1] as number)));
					const surges = surgesOf(history, at, risk, growth);
					return { times: at, risk, growth, places: answers.places[patient] ?? [], surges };
				}),
			);
	}
	return trajectories;
}

function checkOrder(times: ArrayLike<number>, patient: number): void {
	for (let i = 1; i < times.length; i++)
		if ((times[i] as number) < (times[i - 1] as number))
			throw new InputError(
				`times of a trajectory must not decrease: patient ${patient} goes ${times[i - 1]} → ${times[i]} at time ${i}; sort them`,
			);
}

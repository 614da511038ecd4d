import { InputError } from "../base/errors.js";
import type { Predictions } from "../model/index.js";

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

import { codeKey, specialCount, type Vocabulary } from "../data/cohort/vocabulary.js";

/**
 * The codes of a vocabulary, to which tokens of ranges of values belong: predictions are scored by code, the ranges
 * summed, so that numbers with and without values compare. Without ranges, codes are tokens.
 */
export interface CodesOfTokens {
	/** The code of each token, numbered as tokens are: its first token. */
	of(token: number): number;
	/** Whether some code has several tokens. */
	readonly hasRanges: boolean;
	/** The probabilities of codes: those of their tokens, summed into the first; 0 for the others. */
	sum(probabilities: ArrayLike<number>): ArrayLike<number>;
	/** The same of log p. */
	sumLogs(logProbabilities: Float32Array): Float32Array;
	/** A history with codes for tokens. */
	coded(tokens: Int32Array): Int32Array;
	/** Whether a token number is that of a code. */
	isCode(token: number): boolean;
}

export function codesOfTokens({ tokens }: Vocabulary): CodesOfTokens {
	const first = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token, at) => {
		if (at < specialCount) return at;
		const key = codeKey(token);
		if (!first.has(key)) first.set(key, at);
		return first.get(key) as number;
	});
	const hasRanges = codes.some((code, token) => code !== token);
	const of = (token: number) => codes[token] as number;
	return {
		...{ of, hasRanges },
		isCode: (token) => of(token) === token,
		coded: (history) => (hasRanges ? history.map(of) : history),
		sum(probabilities) {
			if (!hasRanges) return probabilities;
			const summed = new Float64Array(probabilities.length);
			for (const [token, code] of codes.entries())
				summed[code] = (summed[code] as number) + (probabilities[token] as number);
			return summed;
		},
		sumLogs(logProbabilities) {
			if (!hasRanges) return logProbabilities;
			const summed = new Float64Array(logProbabilities.length);
			for (const [token, code] of codes.entries())
				summed[code] = (summed[code] as number) + Math.exp(logProbabilities[token] as number);
			return Float32Array.from(summed, Math.log);
		},
	};
}

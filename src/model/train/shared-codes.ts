import { codeKey, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { add, constant, gather, scatterAdd, type Tensor } from "../../engine/tensor/index.js";
import type { ParameterValues } from "../index.js";

/*
 * Tokens of one code, the ranges of its values, share what they learn. Otherwise ten ranges of a code would each have
 * to learn what the code means from a tenth of its records.
 */

/** Weights with a row per token. */
const ofTokens: readonly string[] = ["embedding", "head"];

/** How far the rows of one code lie apart at the start, as a part of the distance of two codes. */
const apart = 0.3;

/** The number of each token's code, from 0; undefined if every code has one token. */
export function codeNumbers({ tokens }: Vocabulary): Int32Array | undefined {
	const numbers = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token) => {
		const key = codeKey(token);
		if (!numbers.has(key)) numbers.set(key, numbers.size);
		return numbers.get(key) as number;
	});
	return numbers.size < tokens.length ? codes : undefined;
}

/** Weights in which the rows of a code's tokens begin near to that of the first. */
export function startTogether(weights: ParameterValues, codes: Int32Array): ParameterValues {
	return new Map(
		Array.from(weights, ([name, value]) => {
			if (!ofTokens.includes(name)) return [name, value];
			const width = value.shape[1] as number;
			const first = new Map<number, number>();
			const data = value.data.map((own, at) => {
				const token = Math.floor(at / width);
				const code = codes[token] as number;
				if (!first.has(code)) first.set(code, token);
				const of = first.get(code) as number;
				return of === token ? own : (value.data[of * width + (at % width)] as number) + apart * own;
			});
			return [name, { ...value, data }];
		}),
	);
}

/**
 * Adds to the gradient of a token's row those of all tokens of its code. A token's row then moves as if it were the
 * sum of a row of its code and one of its own.
 */
export function learnTogether(name: string, gradient: Tensor, codes: Int32Array): Tensor {
	if (!ofTokens.includes(name)) return gradient;
	const numbers = constant(codes, [codes.length], "int32");
	const count = codes.reduce((most, code) => Math.max(most, code), 0) + 1;
	return add(gradient, gather(scatterAdd(gradient, numbers, count), numbers));
}

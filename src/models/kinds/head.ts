import {
	input,
	logSoftmax,
	matmul,
	mul,
	neg,
	pick,
	reshape,
	sum,
	type Tensor,
} from "../../graph/index.js";
import { normal, type WeightSpecs, type Weights } from "../../nn/weights.js";
import type { LossTerm } from "../model.js";

export interface HeadConfig {
	readonly vocab: number;
	readonly dim: number;
}

/** Vectors of the tokens, and those a view is compared with unless they are the same. */
export const tokenWeights = (
	{ vocab, dim }: HeadConfig,
	tied: { readonly deviation: number } | undefined,
): WeightSpecs => ({
	embedding: normal([vocab, dim], tied?.deviation ?? 1),
	...(!tied && { head: normal([vocab, dim], 1 / Math.sqrt(dim)) }),
});

/** What a view says of every token, [rows, places, vocab]. */
export const logitsOf = (p: Weights, hidden: Tensor, tied: boolean): Tensor =>
	matmul(hidden, p(tied ? "embedding" : "head"), { transposeB: true });

/** Σ −log p(target) over the targets that count, which are fed. */
export function lossTerm(name: string, logits: Tensor): LossTerm {
	const [rows, places] = logits.shape as [number, number, number];
	const targets = input(`${name}.targets`, [rows, places], "int32");
	const weights = input(`${name}.weights`, [rows, places], logits.dtype);
	const chosen = pick(logSoftmax(logits), reshape(targets, [rows, places, 1]), 2);
	return { name, total: neg(sum(mul(reshape(chosen, [rows, places]), weights))) };
}

/** What `lossTerm` is fed, and how many targets count. */
export interface Targets {
	readonly feeds: Readonly<Record<string, Int32Array | Float32Array>>;
	/** Names the target of a cell; one that is not named does not count. */
	expect(cell: number, token: number): void;
	count(): number;
}

export function emptyTargets(name: string, cells: number): Targets {
	const targets = new Int32Array(cells);
	const weights = new Float32Array(cells);
	let count = 0;
	return {
		feeds: { [`${name}.targets`]: targets, [`${name}.weights`]: weights },
		expect(cell, token) {
			targets[cell] = token;
			weights[cell] = 1;
			count++;
		},
		count: () => count,
	};
}

import { matmul, mul } from "../../engine/tensor/index.js";
import type { HazardSettings } from "../hazards/settings.js";
import type { Head } from "../model.js";
import { normal } from "../nn/weights.js";

export interface CodeConfig {
	readonly vocab: number;
	readonly dim: number;
	readonly hazards?: HazardSettings | null;
}

/** Where the head reads the tokens' own vectors: their deviation at the start, and what logits are scaled by. */
export interface Tied {
	readonly deviation: number;
	readonly scale?: number;
}

/** Logits of every token: a hidden state is compared with the tokens' own vectors, or with others. */
export const codeHead = (tied?: Tied): Head<CodeConfig> => ({
	weights: ({ vocab, dim }) => ({
		embedding: normal([vocab, dim], tied?.deviation ?? 1),
		...(!tied && { head: normal([vocab, dim], 1 / Math.sqrt(dim)) }),
	}),
	outputs(p, hidden) {
		const logits = matmul(hidden, p(tied ? "embedding" : "head"), { transposeB: true });
		return tied?.scale ? mul(logits, tied.scale) : logits;
	},
});

import type { Tensor } from "../../../engine/tensor/index.js";

/**
 * Selective recurrent attention, one head at a time:
 *   S_n = γ_n S_{n-1} + k_nᵀ v_n,   o_n = q_n S_n,   γ_n = exp(logDecay_n).
 */
export interface SraInputs {
	readonly q: Tensor; // [batch, heads, length, key]
	readonly k: Tensor; // [batch, heads, length, key]
	readonly v: Tensor; // [batch, heads, length, value]
	readonly logDecay: Tensor; // [batch, heads, length], at most 0
	readonly initialState?: Tensor | undefined; // [batch, heads, key, value]; zeros if left out
	/** A second set of queries, which read the state before each slot: q'_n S_{n-1}. */
	readonly before?: Tensor | undefined; // [batch, heads, length, key]
}

export interface SraOutputs {
	readonly output: Tensor; // [batch, heads, length, value]
	readonly finalState: Tensor; // [batch, heads, key, value]
	/** What the second queries read; there when they were given. */
	readonly before?: Tensor | undefined; // [batch, heads, length, value]
}

export type SraForm = (inputs: SraInputs) => SraOutputs;

import {
	add,
	concat,
	type Dim,
	exp,
	matmul,
	mul,
	reshape,
	slice,
	sum,
	type Tensor,
} from "../../engine/tensor/index.js";
import { readAtPositions, type SraForm, sra } from "../nn/sra.js";

/**
 * The state a query reads: before the slot of the same index in its row, after the last slot, or
 * after the given number of slots.
 */
export type Reading = "before" | "after" | { readonly positions: Tensor }; // [batch, queries], int32

export interface AttentionInputs {
	/** Of slots, then of queries; or of queries alone, where outputs of slots are not needed. */
	readonly q: Tensor; // [batch, heads, slots + queries or queries, size]
	readonly k: Tensor; // [batch, heads, slots + queries, size], as v
	readonly v: Tensor;
	readonly logDecay: Tensor; // [batch, heads, slots + queries]
	readonly slots: Dim;
	/** Left out where there are no queries. */
	readonly read: Reading | undefined;
	/** 1 at events, 0 at padding. */
	readonly mask: Tensor | undefined; // [batch, slots]
	readonly state: Tensor | undefined; // [batch, heads, key, value]
	/** The fastest for the length, unless given. */
	readonly form?: SraForm | undefined;
}

/**
 * Slots advance the state; each query reads a state as a slot would, without changing it.
 * The output is as long as q.
 */
export function attention(x: AttentionInputs): { readonly output: Tensor; readonly state: Tensor } {
	const slotPart = (t: Tensor) => slice(t, 2, 0, x.slots);
	const queryPart = (t: Tensor) => slice(t, 2, x.slots);
	const masked = (t: Tensor) => {
		if (!x.mask) return t;
		const [batch, slots] = x.mask.shape as [Dim, Dim];
		return mul(t, reshape(x.mask, [batch, 1, slots, ...t.shape.slice(3).map(() => 1)]));
	};
	const past = x.slots !== 0 && {
		k: masked(slotPart(x.k)),
		v: slotPart(x.v),
		logDecay: masked(slotPart(x.logDecay)),
		initialState: x.state,
	};
	const queriesOnly = x.q.shape[2] !== x.k.shape[2];
	const attentionQueries = () => (queriesOnly ? x.q : queryPart(x.q));
	const before = x.read === "before" ? attentionQueries() : undefined;
	// Outputs that are not used are not computed, so any attention queries of slots will do.
	const form = x.form ?? sra;
	const main = past
		? form({ ...past, q: queriesOnly ? past.k : slotPart(x.q), before })
		: undefined;
	const state = main?.finalState ?? x.state;
	if (!state) throw new Error("queries without slots need a state to read");
	if (!x.read) return { output: main?.output as Tensor, state };

	// o' = γ' q' S + (q' · k') v'
	const queries = attentionQueries();
	const read =
		past && typeof x.read === "object"
			? readAtPositions({ ...past, queries, positions: x.read.positions })
			: (main?.before ?? matmul(queries, state));
	const decay = exp(queryPart(x.logDecay));
	const own = sum(mul(queries, queryPart(x.k)), -1, true);
	const answers = add(mul(read, reshape(decay, [...decay.shape, 1])), mul(own, queryPart(x.v)));
	return { output: main && !queriesOnly ? concat([main.output, answers], 2) : answers, state };
}

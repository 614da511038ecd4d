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
} from "../../graph/index.js";
import { readAtPlaces } from "../../nn/sra/at-places.js";
import { sra } from "../../nn/sra/index.js";
import type { SraForm } from "../../nn/sra/sra.js";

/**
 * The state a question reads: before the slot of the same place in its row, after the last slot, or
 * after as many slots as it says.
 */
export type Reading = "before" | "after" | { readonly places: Tensor }; // [batch, questions], int32

export interface AttentionInputs {
	/** Of slots, then of questions; or of questions alone, where no one asks what slots read. */
	readonly q: Tensor; // [batch, heads, slots + questions or questions, size]
	readonly k: Tensor; // [batch, heads, slots + questions, size], as v
	readonly v: Tensor;
	readonly logDecay: Tensor; // [batch, heads, slots + questions]
	readonly slots: Dim;
	/** Left out where there are no questions. */
	readonly read: Reading | undefined;
	/** 1 where a slot is real. */
	readonly real: Tensor | undefined; // [batch, slots]
	readonly state: Tensor | undefined; // [batch, heads, key, value]
	/** The fastest for the length, unless given. */
	readonly form?: SraForm | undefined;
}

/**
 * Slots advance the state; each question is a slot of its own on a state that it does not change.
 * The output is as long as q.
 */
export function attention(x: AttentionInputs): { readonly output: Tensor; readonly state: Tensor } {
	const slot = (t: Tensor) => slice(t, 2, 0, x.slots);
	const question = (t: Tensor) => slice(t, 2, x.slots);
	const masked = (t: Tensor) => {
		if (!x.real) return t;
		const [batch, slots] = x.real.shape as [Dim, Dim];
		return mul(t, reshape(x.real, [batch, 1, slots, ...t.shape.slice(3).map(() => 1)]));
	};
	const past = x.slots !== 0 && {
		k: masked(slot(x.k)),
		v: slot(x.v),
		logDecay: masked(slot(x.logDecay)),
		initialState: x.state,
	};
	const asksOnly = x.q.shape[2] !== x.k.shape[2];
	const asked = () => (asksOnly ? x.q : question(x.q));
	const before = x.read === "before" ? asked() : undefined;
	// What is never looked at is never computed: any queries of slots will do.
	const form = x.form ?? sra;
	const main = past ? form({ ...past, q: asksOnly ? past.k : slot(x.q), before }) : undefined;
	const state = main?.finalState ?? x.state;
	if (!state) throw new Error("questions without slots need a state to read");
	if (!x.read) return { output: main?.output as Tensor, state };

	// o' = γ' q' S + (q' · k') v'
	const queries = asked();
	const read =
		past && typeof x.read === "object"
			? readAtPlaces({ ...past, queries, places: x.read.places })
			: (main?.before ?? matmul(queries, state));
	const decay = exp(question(x.logDecay));
	const own = sum(mul(queries, question(x.k)), -1, true);
	const answers = add(mul(read, reshape(decay, [...decay.shape, 1])), mul(own, question(x.v)));
	return { output: main && !asksOnly ? concat([main.output, answers], 2) : answers, state };
}

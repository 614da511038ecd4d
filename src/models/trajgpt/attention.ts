import {
	add,
	concat,
	exp,
	matmul,
	mul,
	reshape,
	slice,
	sum,
	type Tensor,
} from "../../graph/index.js";
import { sra } from "../../nn/sra/index.js";

export interface AttentionInputs {
	/** Slots first, then questions: [batch, heads, slots + questions, size]. */
	readonly q: Tensor;
	readonly k: Tensor;
	readonly v: Tensor;
	readonly logDecay: Tensor; // [batch, heads, slots + questions]
	readonly slots: number;
	/** Whether questions read the state before the slot of the same place, or after the last slot. */
	readonly read: "before" | "after" | undefined;
	/** 1 where a slot is real. */
	readonly real: Tensor | undefined; // [batch, slots]
	readonly state: Tensor | undefined; // [batch, heads, key, value]
}

/** Slots advance the state; each question is a slot of its own on a state that it does not change. */
export function attention(x: AttentionInputs): { readonly output: Tensor; readonly state: Tensor } {
	const slot = (t: Tensor) => slice(t, 2, 0, x.slots);
	const question = (t: Tensor) => slice(t, 2, x.slots);
	const masked = (t: Tensor) => {
		if (!x.real) return t;
		const [batch, slots] = x.real.shape as [number, number];
		return mul(t, reshape(x.real, [batch, 1, slots, ...t.shape.slice(3).map(() => 1)]));
	};
	const main =
		x.slots === 0
			? undefined
			: sra({
					q: slot(x.q),
					k: masked(slot(x.k)),
					v: slot(x.v),
					logDecay: masked(slot(x.logDecay)),
					initialState: x.state,
					before: x.read === "before" ? question(x.q) : undefined,
				});
	const state = main?.finalState ?? x.state;
	if (!state) throw new Error("questions without slots need a state to read");
	if (!x.read) return { output: main?.output as Tensor, state };

	// o' = γ' q' S + (q' · k') v'
	const read = main?.before ?? matmul(question(x.q), state);
	const decay = exp(question(x.logDecay));
	const own = sum(mul(question(x.q), question(x.k)), -1, true);
	const answers = add(mul(read, reshape(decay, [...decay.shape, 1])), mul(own, question(x.v)));
	return { output: main ? concat([main.output, answers], 2) : answers, state };
}

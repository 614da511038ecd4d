import {
	add,
	concat,
	exp,
	filled,
	matmul,
	mul,
	reshape,
	split,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { SraForm } from "./sra.js";

/** One slot: S = γ S + kᵀ v, o = q S, the paper's Eq. 2. */
function step(
	state: Tensor, // [batch, heads, key, value]
	q: Tensor, // [batch, heads, 1, key]
	k: Tensor, // [batch, heads, 1, key]
	v: Tensor, // [batch, heads, 1, value]
	logDecay: Tensor, // [batch, heads, 1]
): { readonly state: Tensor; readonly output: Tensor } {
	const decay = exp(reshape(logDecay, [...logDecay.shape, 1]));
	const after = add(mul(state, decay), matmul(k, v, { transposeA: true }));
	return { state: after, output: matmul(q, after) };
}

/** One slot after another. */
export const recurrent: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	const [batch, heads, length, key] = q.shape as [number, number, number, number];
	let state = initialState ?? filled(0, [batch, heads, key, v.shape[3] as number], q.dtype);
	const slots = (x: Tensor) => split(x, 2, new Array<number>(length).fill(1));
	const parts = [q, k, v, logDecay].map(slots);
	const queries = before && slots(before);
	const outputs: Tensor[] = [];
	const reads: Tensor[] = [];
	for (let n = 0; n < length; n++) {
		if (queries) reads.push(matmul(queries[n] as Tensor, state));
		const [qn, kn, vn, decay] = parts.map((x) => x[n]) as [Tensor, Tensor, Tensor, Tensor];
		const slot = step(state, qn, kn, vn, decay);
		state = slot.state;
		outputs.push(slot.output);
	}
	return {
		output: concat(outputs, 2),
		finalState: state,
		before: before && concat(reads, 2),
	};
};

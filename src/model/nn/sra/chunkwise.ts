import {
	add,
	concat,
	exp,
	filled,
	matmul,
	mul,
	pad,
	reshape,
	slice,
	sum,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { parallel } from "./parallel.js";
import { column, decayFromStart, decayToEnd, decayWeights } from "./segments.js";
import type { SraForm } from "./sra.js";

/**
 * Parallel inside chunks, a state between them: O(N) in time and memory. The states between
 * chunks obey the same recurrence as the slots, S_c = Γ_c S_{c-1} + U_c, and are found the
 * same way, in groups of chunks, groups of groups …
 */
export const chunkwise =
	(chunk: number): SraForm =>
	({ q, k, v, logDecay, initialState, before }) => {
		const [batch, heads, length, key] = q.shape as [number, number, number, number];
		const value = v.shape[3] as number;
		if (length <= chunk) return parallel({ q, k, v, logDecay, initialState, before });
		const count = Math.ceil(length / chunk);
		const last = count - 1;
		// A padded slot adds nothing (k = 0) and decays nothing (log 1 = 0).
		const fill = count * chunk - length;
		const chunks = (x: Tensor, size: number) =>
			reshape(pad(x, 2, 0, fill), [batch, heads, count, chunk, size]);
		const steps = reshape(pad(logDecay, 2, 0, fill), [batch, heads, count, chunk]);
		const kc = chunks(k, key);
		const vc = chunks(v, value);

		/** What chunks [start, end) add to the state: Σ γ…γ kᵀ v. */
		const added = (start: number, end: number) => {
			const part = (x: Tensor) => slice(x, 2, start, end);
			const decayed = mul(part(kc), column(decayToEnd(part(steps))));
			return reshape(matmul(decayed, part(vc), { transposeA: true }), [
				batch,
				heads,
				end - start,
				key * value,
			]);
		};
		const totals = sum(steps, -1); // [batch, heads, count]
		const first = initialState && reshape(initialState, [batch, heads, 1, key * value]);
		// Of two or three chunks that start from nothing, the first has no state to read and the last
		// none to hand on: leaving them out saves more than the copies of the others cost.
		const skip = !first && count <= 3;
		const from = skip ? 1 : 0;
		const upTo = skip ? last : count;
		const after = statesAfter(slice(totals, 2, 0, upTo), added(0, upTo), first);
		const zeros = () => filled(0, [batch, heads, 1, key * value], q.dtype);
		const starts = skip ? after : concat([first ?? zeros(), slice(after, 2, 0, last)], 2);
		const states = reshape(starts, [batch, heads, -1, key, value]);

		const read = (queries: Tensor, shift: 0 | -1) => {
			const qc = chunks(queries, key);
			const scores = matmul(qc, kc, { transposeB: true }); // [batch, heads, count, chunk, chunk]
			const inside = matmul(mul(scores, decayWeights(steps, shift)), vc);
			const decay = column(decayFromStart(slice(steps, 2, from), shift));
			const carried = matmul(mul(slice(qc, 2, from), decay), states);
			const all = add(inside, pad(carried, 2, from, 0));
			return slice(reshape(all, [batch, heads, count * chunk, value]), 2, 0, length);
		};
		const final = () => {
			if (!skip) return slice(after, 2, last);
			const carried = mul(slice(after, 2, last - 1), column(exp(slice(totals, 2, last))));
			return add(carried, added(last, count));
		};
		return {
			output: read(q, 0),
			finalState: reshape(final(), [batch, heads, key, value]),
			before: before && read(before, -1),
		};
	};

/** Chunks that are joined by one matrix of weights. */
const group = 16;

/**
 * The state after each chunk, from each chunk's total log-decay [batch, heads, count], what it
 * adds [batch, heads, count, size] and the state before the first [batch, heads, 1, size].
 */
function statesAfter(logDecay: Tensor, added: Tensor, initial: Tensor | undefined): Tensor {
	const [batch, heads, count, size] = added.shape as [number, number, number, number];
	const carried = (states: Tensor) =>
		initial ? add(states, mul(column(decayFromStart(logDecay, 0)), initial)) : states;
	if (count === 1) return carried(added);
	if (count <= group) return carried(matmul(decayWeights(logDecay, 0), added));
	const groups = Math.ceil(count / group);
	const fill = groups * group - count;
	const steps = reshape(pad(logDecay, 2, 0, fill), [batch, heads, groups, group]);
	const parts = reshape(pad(added, 2, 0, fill), [batch, heads, groups, group, size]);
	const ends = matmul(reshape(decayToEnd(steps), [batch, heads, groups, 1, group]), parts);
	const between = statesAfter(sum(steps, -1), reshape(ends, [batch, heads, groups, size]), initial);
	// Each group starts where the one before it ended.
	const previous = slice(between, 2, 0, groups - 1);
	const starts = initial ? concat([initial, previous], 2) : pad(previous, 2, 1, 0);
	const states = add(
		matmul(decayWeights(steps, 0), parts),
		mul(column(decayFromStart(steps, 0)), reshape(starts, [batch, heads, groups, 1, size])),
	);
	return slice(reshape(states, [batch, heads, groups * group, size]), 2, 0, count);
}

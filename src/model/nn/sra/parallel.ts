import { add, exp, matmul, mul, sum, type Tensor } from "../../../engine/tensor/index.js";
import { column, decayFromStart, decayToEnd, decayWeights } from "./segments.js";
import type { SraForm } from "./sra.js";

/** All slots at once: O = (Q Kᵀ ⊙ D) V, the paper's Eq. 6. Quadratic in length; best for short ones. */
export const parallel: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	const read = (queries: Tensor, shift: 0 | -1) => {
		const scores = matmul(queries, k, { transposeB: true }); // [batch, heads, n, n]
		const inside = matmul(mul(scores, decayWeights(logDecay, shift)), v);
		if (!initialState) return inside;
		const carried = mul(queries, column(decayFromStart(logDecay, shift)));
		return add(inside, matmul(carried, initialState));
	};
	const added = matmul(mul(k, column(decayToEnd(logDecay))), v, { transposeA: true });
	const total = column(exp(sum(logDecay, -1, true))); // [batch, heads, 1, 1]
	return {
		output: read(q, 0),
		finalState: initialState ? add(added, mul(initialState, total)) : added,
		before: before && read(before, -1),
	};
};

import {
	add,
	chunked,
	constant,
	cumulativeSum,
	type Dim,
	exp,
	isOpen,
	less,
	matmul,
	mul,
	multiplyDims,
	placesAlong,
	reshape,
	slice,
	sum,
	type Tensor,
	where,
} from "../../../engine/tensor/index.js";
import { column, decayFromStart, decayToEnd, decayWeights } from "./segments.js";
import type { SraForm } from "./sra.js";

const chunk = 32;
/** Added to an exponent, this makes a weight of exactly 0. */
const never = -1e30;

/**
 * The chunkwise form for a length that is known only when it runs, and so is the number of chunks. Inside a
 * chunk all is as in `nn/sra`; the chunks themselves are joined by one matrix of decays, whose masks are made
 * when their number is known.
 */
export const anyLength: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	if (before) throw new Error("this form reads after each slot alone");
	const [batch, heads, length, key] = q.shape as [Dim, number, Dim, number];
	const value = v.shape[3] as number;
	const chunks = isOpen(length) ? "chunks" : Math.ceil(length / chunk);
	const cut = (x: Tensor) => chunked(x, chunk, chunks);
	const [qc, kc, vc, steps] = [q, k, v, logDecay].map(cut) as [Tensor, Tensor, Tensor, Tensor];

	const decayed = mul(kc, column(decayToEnd(steps)));
	const flat = [batch, heads, chunks, key * value];
	const added = reshape(matmul(decayed, vc, { transposeA: true }), flat);
	const totals = sum(steps, -1); // [batch, heads, chunks]
	const first = initialState && reshape(initialState, [batch, heads, 1, key * value]);
	/** With what is left of the state before the first chunk. */
	const after = (own: Tensor, decay: () => Tensor) =>
		first ? add(own, mul(column(exp(decay())), first)) : own;
	const starts = after(matmul(decayBetween(totals), added), () =>
		cumulativeSum(totals, -1, { exclusive: true }),
	);
	const states = reshape(starts, [batch, heads, chunks, key, value]);
	const toEnd = exp(cumulativeSum(totals, -1, { exclusive: true, reverse: true }));
	const last = after(matmul(reshape(toEnd, [batch, heads, 1, chunks]), added), () =>
		sum(totals, -1, true),
	);

	const scores = mul(matmul(qc, kc, { transposeB: true }), decayWeights(steps, 0));
	const carried = matmul(mul(qc, column(decayFromStart(steps, 0))), states);
	const all = reshape(add(matmul(scores, vc), carried), [
		batch,
		heads,
		multiplyDims(chunks, chunk),
		value,
	]);
	return {
		output: slice(all, 2, 0, length),
		finalState: reshape(last, [batch, heads, key, value]),
	};
};

/** Weight (i, j) of what chunk j added in the state before chunk i: exp Σ totals_t over j < t < i, and 0 where j ≥ i. */
function decayBetween(totals: Tensor): Tensor {
	const count = totals.shape[2] as Dim;
	const places = placesAlong(totals, 2);
	const [down, across] = [reshape(places, [count, 1]), reshape(places, [1, count])];
	const zero = constant([0], [1, 1]);
	// Row t of column j holds total_t if j < t; running sums down the rows end before i.
	const below = where(less(across, down), column(totals), zero);
	const sums = cumulativeSum(below, -2, { exclusive: true });
	return exp(add(sums, where(less(across, down), zero, constant([never], [1, 1]))));
}

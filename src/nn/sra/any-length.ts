import {
	add,
	constant,
	cumulativeSum,
	exp,
	less,
	matmul,
	mul,
	reshape,
	slice,
	sum,
	type Tensor,
	where,
} from "../../graph/index.js";
import { apply, type Operation } from "../../graph/tensor.js";
import { placesAlong } from "./places-along.js";
import { column, decayFromStart, decayToEnd, decayWeights } from "./segments.js";
import type { SraForm } from "./sra.js";

const chunk = 32;
/** Added to an exponent, this makes a weight of exactly 0. */
const never = -1e30;

/** Cuts the third axis into chunks, the last one filled up with zeros: [batch, heads, chunks, chunk, …]. */
const chunksOperation: Operation<{ readonly chunks: number }> = {
	name: "chunks",
	types: ([x], { chunks }) => {
		const { shape, dtype } = x as Tensor;
		return [{ shape: [...shape.slice(0, 2), chunks, chunk, ...shape.slice(3)], dtype }];
	},
	onnx: ({ inputs }, write) => {
		const x = inputs[0] as Tensor;
		const [name, rank] = [write.name(x), x.shape.length];
		const length = write.integers([x.shape[2] as number]);
		const size = write.integers([chunk]);
		const upTo = write.node("Add", [length, write.integers([chunk - 1])]);
		const count = write.node("Div", [upTo, size]);
		const fill = write.node("Sub", [write.node("Mul", [count, size]), length]);
		const none = (axes: number) => (axes > 0 ? [write.integers(Array(axes).fill(0))] : []);
		const pads = write.node("Concat", [...none(rank + 2), fill, ...none(rank - 3)], { axis: 0 });
		const padded = write.node("Pad", [name, pads, write.scalar(0, x.dtype)]);
		// A size of 0 is that of the input.
		const after = write.integers([chunk, ...x.shape.slice(3)]);
		const shape = write.node("Concat", [write.integers([0, 0]), count, after], { axis: 0 });
		return [write.node("Reshape", [padded, shape])];
	},
};

/**
 * The chunkwise form for a length that is known only when it runs. `chunks` is the
 * number that stands for how many there are. Inside a chunk all is as in `nn/sra`; the chunks
 * themselves are joined by one matrix of decays, whose masks are made when their number is known.
 */
export const anyLength =
	(chunks: number): SraForm =>
	({ q, k, v, logDecay, initialState, before }) => {
		if (before) throw new Error("this form reads after each slot alone");
		const [batch, heads, length, key] = q.shape as [number, number, number, number];
		const value = v.shape[3] as number;
		const cut = (x: Tensor) => apply(chunksOperation, [x], { chunks });
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
		const all = reshape(add(matmul(scores, vc), carried), [batch, heads, chunks * chunk, value]);
		return {
			output: slice(all, 2, 0, length),
			finalState: reshape(last, [batch, heads, key, value]),
		};
	};

/** Weight (i, j) of what chunk j added in the state before chunk i: exp Σ totals_t over j < t < i, and 0 where j ≥ i. */
function decayBetween(totals: Tensor): Tensor {
	const count = totals.shape[2] as number;
	const places = placesAlong(totals, 2);
	const [down, across] = [reshape(places, [count, 1]), reshape(places, [1, count])];
	const zero = constant([0], [1, 1]);
	// Row t of column j holds total_t if j < t; running sums down the rows end before i.
	const below = where(less(across, down), column(totals), zero);
	const sums = cumulativeSum(below, -2, { exclusive: true });
	return exp(add(sums, where(less(across, down), zero, constant([never], [1, 1]))));
}

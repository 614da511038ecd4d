import {
	add,
	constant,
	matmul,
	mul,
	reshape,
	softmax,
	sum,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { attentionWeights, paddingMask } from "../../nn/attention.js";
import { linear } from "../../nn/linear.js";
import { nested, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { inside, pieces } from "./spline.js";
import type { Fineness, Times } from "./times.js";
import { flowWeights, trajectories } from "./trajectories.js";

export interface Sizes extends Fineness {
	readonly dim: number;
	readonly heads: number;
	/** Width inside the networks that drive keys and values. */
	readonly flow: number;
}

export const continuousWeights = ({ dim, flow }: Sizes): WeightSpecs => ({
	...attentionWeights(dim),
	...nested("keyFlow", flowWeights(dim, flow)),
	...nested("valueFlow", flowWeights(dim, flow)),
});

/** What places are, as functions of time. */
export interface Curves {
	/** What the spline goes through, and its second derivatives there. */
	readonly queries: Tensor; // [rows, places, dim]
	readonly bends: Tensor; // [rows, places, dim]
	/** Where the keys start. */
	readonly starts: Tensor; // [rows, places, dim]
	readonly keys: Tensor; // [rows, places, grid, dim]
	readonly values: Tensor; // [rows, places, grid, dim]
}

export function curvesOf(p: Weights, { steps }: Fineness, x: Tensor, times: Times): Curves {
	const [queries, starts, value] = ["query", "key", "value"].map((name) =>
		linear(within(p, name), x),
	) as [Tensor, Tensor, Tensor];
	return {
		...{ queries, bends: matmul(times.bending.ofValues, queries), starts },
		keys: trajectories(within(p, "keyFlow"), starts, times.clock, steps),
		values: trajectories(within(p, "valueFlow"), value, times.clock, steps),
	};
}

/** A spline between the places, at the points where integrands are read: [rows, 1, nodes, width]. */
export function atNodes(values: Tensor, bends: Tensor, { knots, rule }: Times): Tensor {
	const [rows, , width] = values.shape as [number, number, number];
	return reshape(inside(pieces(values, bends, knots), rule.points), [rows, 1, -1, width]);
}

/** [dim, heads]: 1 where a number is the head's. */
export const ownership = ({ dim, heads }: Sizes, dtype: Tensor["dtype"]): Tensor =>
	constant(
		Array.from({ length: dim * heads }, (_, at) =>
			Number(Math.floor((Math.floor(at / heads) * heads) / dim) === at % heads),
		),
		[dim, heads],
		dtype,
	);

/** Means over the time from each place to the time of each query. */
export interface Means {
	/** Of q · k. */
	readonly products: Tensor; // [rows, places, heads, queries]
	/** Of v. */
	readonly values: Tensor; // [rows, places, queries, dim]
}

/** Softmax of the mean products over the places, and the mean values weighted so: [rows, queries, dim]. */
export function attend(
	p: Weights,
	sizes: Sizes,
	{ products, values }: Means,
	shown: Tensor,
): Tensor {
	const [rows, places] = shown.shape as [number, number];
	const mask = reshape(paddingMask(shown), [rows, places, 1, 1]);
	const share = softmax(add(mul(products, Math.sqrt(sizes.heads / sizes.dim)), mask), 1);
	const own = ownership(sizes, share.dtype);
	const wide = matmul(share, own, { transposeA: true, transposeB: true }); // [rows, places, queries, dim]
	return linear(within(p, "out"), sum(mul(wide, values), 1));
}

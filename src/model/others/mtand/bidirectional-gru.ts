import {
	concat,
	filled,
	flip,
	reshape,
	scan,
	slice,
	stack,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { gruInput, gruStep, gruWeights } from "../../nn/gru.js";
import { nested, type WeightSpecs, type Weights } from "../../nn/weights.js";

const ways = ["onward", "back"] as const;

export const bidirectionalGruWeights = (inside: number, width: number): WeightSpecs =>
	Object.assign({}, ...ways.map((way) => nested(way, gruWeights(inside, width))));

/** Two GRUs over the places, one from each end: their states at each place, [rows, places, 2 width]. */
export function bidirectionalGru(p: Weights, x: Tensor, width: number): Tensor {
	const [rows, places, inside] = x.shape as [number, number, number];
	// Side by side in one recurrence: half as many operations, each twice as large.
	const made = new Map<string, Tensor>();
	const both: Weights = (name) => {
		const own = made.get(name) ?? sideBySide(ways.map((way) => p(`${way}.${name}`)));
		made.set(name, own);
		return own;
	};
	const inputs = reshape(stack([x, flip(x, 1)], 0), [2, rows * places, inside]);
	const { outputs } = scan(
		(state: Tensor, [fromInput]) => {
			const next = gruStep(both, state, fromInput as Tensor);
			return [next, next];
		},
		filled(0, [2, rows, width], x.dtype),
		[reshape(gruInput(both, inputs), [2, rows, places, -1])],
		{ axis: 2 },
	); // [2, rows, places, width]
	const way = (i: number) => reshape(slice(outputs, 0, i, i + 1), [rows, places, width]);
	return concat([way(0), flip(way(1), 1)], -1);
}

/** Matrices [2, …, …]; vectors [2, 1, …], as they are added to rows. */
function sideBySide(weights: readonly Tensor[]): Tensor {
	const both = stack(weights, 0);
	return both.shape.length === 2 ? reshape(both, [2, 1, -1]) : both;
}

import { codeHead } from "../heads/codes.js";
import {
	filledWith,
	listed,
	normal,
	numbered,
	type WeightSpec,
	type WeightSpecs,
} from "../nn/weights.js";
import { decayIsFixed, type TrajgptConfig } from "./config.js";
import { countingWeights } from "./counting-heads.js";
import { initialDecay } from "./decay.js";
import { gapFeatureCount } from "./gap.js";

/** The embedding has entries of size 1: as a head it is scaled as a fresh head would be. */
export const headOf = ({ head, dim }: TrajgptConfig) =>
	codeHead(head === "tied" ? { deviation: 1, scale: 1 / Math.sqrt(dim) } : undefined);

const matrix = (outside: number, inside: number, size = 1): WeightSpec =>
	normal([outside, inside], size / Math.sqrt(inside));

/** Every learned tensor. Matrices are [out, in]. */
export function trajgptWeights(c: TrajgptConfig): WeightSpecs {
	// Residual branches start small, so that depth does not grow the stream.
	const residual = 1 / Math.sqrt(2 * c.layers);
	const layer = {
		query: matrix(c.key, c.dim),
		key: matrix(c.key, c.dim),
		value: matrix(c.value, c.dim),
		gate: matrix(c.value, c.dim),
		...(!decayIsFixed(c) && {
			decay: filledWith(0, [c.heads, c.dim]),
			decayBias: listed([c.heads], initialDecay(c.heads)),
		}),
		out: matrix(c.dim, c.value, residual),
		up: matrix(c.ff, c.dim),
		down: matrix(c.dim, c.ff, residual),
	};
	return {
		embedding: normal([c.vocab, c.dim], 1),
		// As GPT-2's.
		...(c.position === "absolute" && { positions: normal([c.positions, c.dim], 0.02) }),
		...(c.gap === "embedded" && { gap: matrix(c.dim, gapFeatureCount) }),
		...numbered("layers", c.layers, layer),
		...countingWeights(c),
		...headOf(c).weights(c),
	};
}

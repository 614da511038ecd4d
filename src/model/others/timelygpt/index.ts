import { z } from "zod";
import { add, gather, type Tensor } from "../../../engine/tensor/index.js";
import { causalModel } from "../../kinds/causal.js";
import { fields } from "../../kinds/fields.js";
import { pairsInHeads, retentionFields } from "../../kinds/retention-fields.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import {
	queryRetention,
	type Retained,
	readingOf,
	retention,
	retentionQueries,
	retentionWeights,
} from "../../nn/retention.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import {
	type Convolved,
	convolution,
	convolutionInstead,
	convolutionWeights,
} from "./convolution.js";

const config = z
	.strictObject({
		vocab: fields.vocab,
		hazards: fields.hazards,
		layers: fields.layers(4),
		heads: fields.heads(4),
		dim: fields.dim(96),
		ff: fields.ff(192),
		...retentionFields,
		kernel: z.int().min(1).max(1024).default(31).describe("places that the convolution spans"),
	})
	.refine(pairsInHeads.check, pairsInHeads.say);

type TimelyGptConfig = z.infer<typeof config>;

function weights({ layers, dim, ff, kernel }: TimelyGptConfig): WeightSpecs {
	const layer = {
		...nested("retention", retentionWeights(dim)),
		...nested("retentionNorm", normWeights(dim)),
		...nested("convolution", convolutionWeights(dim, kernel)),
		...nested("convolutionNorm", normWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForwardNorm", normWeights(dim)),
	};
	return {
		...numbered("layers", layers, layer),
		...nested("norm", normWeights(dim)),
	};
}

/** What queries read of the history. */
interface Known {
	readonly vectors: Tensor; // [rows, places, dim]
	readonly layers: readonly { readonly retained: Retained; readonly convolved: Convolved }[];
}

/** Retention that forgets at fixed rates of time, and a convolution for what is near, in each layer. */
export const timelygpt = causalModel<TimelyGptConfig, Known>({
	id: "timelygpt",
	name: "TimelyGPT",
	cite: "Song, Lu, Xu, Zhu, Buckeridge, Li: TimelyGPT: Extrapolatable Transformer Pre-training for Long-term Time-Series Forecasting in Healthcare, ACM BCB 2024",
	config,
	learningRate: 1e-2,
	presets: {
		tiny: { layers: 2, dim: 64, ff: 128 },
		default: {},
		paper: { layers: 8, dim: 200, ff: 400 },
	},
	pretraining: "next",
	weights,
	observe(settings, p, { tokens, days, gaps, mask }) {
		const reading = readingOf({ days, gaps, mask }, settings);
		const vectors = gather(p("embedding"), tokens);
		let x: Tensor = vectors;
		const layers = Array.from({ length: settings.layers }, (_, i) => {
			const { part, normed } = layerOf(p, i);
			const { output: seen, retained } = retention(
				part("retention"),
				normed("retention", x),
				reading,
			);
			x = add(x, seen);
			const { output: near, convolved } = convolution(
				part("convolution"),
				normed("convolution", x),
			);
			x = add(x, near);
			x = add(x, feedForward(part("feedForward"), normed("feedForward", x)));
			return { retained, convolved };
		});
		return { vectors, layers };
	},
	// The last position is read again at the query time, with an attention query rotated to that time.
	query(settings, p, { vectors, layers }, queries, from) {
		const retentionAt = retentionQueries(queries, settings, from);
		let x = from.at(vectors);
		for (const [i, { retained, convolved }] of layers.entries()) {
			const { part, normed } = layerOf(p, i);
			const here = { gated: from.at(convolved.gated), local: from.at(convolved.local) };
			x = add(x, queryRetention(part("retention"), normed("retention", x), retained, retentionAt));
			x = add(x, convolutionInstead(part("convolution"), normed("convolution", x), here));
			x = add(x, feedForward(part("feedForward"), normed("feedForward", x)));
		}
		return norm(within(p, "norm"), x);
	},
});

/** The parts of a layer by name, and what they are given. */
const layerOf = (p: Weights, i: number) => {
	const part = (name: string) => within(p, `layers.${i}.${name}`);
	return { part, normed: (name: string, x: Tensor) => norm(part(`${name}Norm`), x) };
};

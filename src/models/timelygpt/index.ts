import { z } from "zod";
import { add, gather, type Tensor } from "../../graph/index.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { readingOf, retention, retentionWeights } from "../../nn/retention.js";
import { nested, type WeightSpecs, within } from "../../nn/weights.js";
import { causalModel } from "../kinds/causal.js";
import { fields } from "../kinds/fields.js";
import { convolution, convolutionWeights } from "./convolution.js";
import { pairsInHeads, retentionFields } from "./retention-fields.js";

const config = z
	.strictObject({
		...{ vocab: fields.vocab, unitDays: fields.unitDays },
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
		...Object.assign({}, ...Array.from({ length: layers }, (_, i) => nested(`layers.${i}`, layer))),
		...nested("norm", normWeights(dim)),
	};
}

/** Retention that forgets at fixed rates of time, and a convolution for what is near, in each layer. */
export const timelygpt = causalModel<TimelyGptConfig>({
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
	observe(settings, p, { tokens, days, gaps }) {
		const reading = readingOf({ days, gaps }, settings);
		let x: Tensor = gather(p("embedding"), tokens); // [rows, places, dim]
		for (let i = 0; i < settings.layers; i++) {
			const q = within(p, `layers.${i}`);
			const normed = (name: string) => norm(within(q, `${name}Norm`), x);
			x = add(x, retention(within(q, "retention"), normed("retention"), reading));
			x = add(x, convolution(within(q, "convolution"), normed("convolution")));
			x = add(x, feedForward(within(q, "feedForward"), normed("feedForward")));
		}
		return norm(within(p, "norm"), x);
	},
});

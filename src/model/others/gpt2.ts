/*
 * GPT-2 (Radford et al., 2019), after nanoGPT, with codes in place of words:
 *
 *     x_n  = e(c_n) + pos_n
 *     x   ← x + W_o [head_1 ; … ; head_H](LN x)              x ← x + W_2 gelu(W_1 LN x)         L times
 *     head(x)_n = Σ_{m ≤ n} softmax_m(q_n · k_m / √size) v_m
 *     log p(c_{n+1}) = log softmax(E LN x_n)                  E is the embedding itself (tied)
 */

import type { z } from "zod";
import { gather, type Tensor } from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import {
	headsDivide,
	integer,
	layeredFields,
	layeredPresets,
	modelSettings,
} from "../kinds/fields.js";
import * as nn from "../nn/index.js";

const config = modelSettings({
	...layeredFields(384),
	positions: integer(2, 65536, 256, "places with a vector of their own: no row may be longer"),
}).refine(headsDivide.check, headsDivide.say);

type Gpt2Config = z.infer<typeof config>;

/** Of the vectors at the start, and, made smaller by depth, of what branches add to the stream. */
const deviation = 0.02;

/** A decoder-only Transformer with learned absolute positions: it knows the order of events, not their times. */
export const gpt2 = causalModel<Gpt2Config>({
	id: "gpt2",
	name: "GPT-2",
	cite: "Radford, Wu, Child, Luan, Amodei, Sutskever: Language Models are Unsupervised Multitask Learners, 2019",
	config,
	presets: layeredPresets(256),
	pretraining: "next",
	lengthSetting: "positions",
	tied: { deviation },
	weights({ layers, dim, ff, positions }) {
		// Residual branches start small, so that depth does not grow the stream.
		const out = { deviation: deviation / Math.sqrt(2 * layers) };
		const layer = {
			...nn.normed("attention", nn.attentionWeights(dim, out), dim),
			...nn.normed("feedForward", nn.feedForwardWeights(dim, ff, out), dim),
		};
		return {
			positions: nn.normal([positions, dim], deviation),
			...nn.numbered("layers", layers, layer),
			...nn.nested("norm", nn.normWeights(dim)),
		};
	},
	observe({ layers, heads }, p, { tokens }) {
		const places = tokens.shape[1] as number;
		const mask = nn.causalMask(places);
		let x: Tensor = gather(p("embedding"), tokens).add(p("positions").slice(0, 0, places)); // [rows, places, dim]
		for (const q of nn.withinEach(p, "layers", layers)) {
			const seen = nn.norm(q, "attentionNorm", x);
			x = x.add(nn.attention(q, "attention", seen, { heads, mask }));
			x = x.add(nn.feedForward(q, "feedForward", nn.norm(q, "feedForwardNorm", x)));
		}
		return nn.norm(p, "norm", x);
	},
});

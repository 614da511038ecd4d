/*
 * PatchTST (Nie et al., ICLR 2023). The window is cut into W / P patches of P = 12 positions:
 *
 *     z_m  = W_p [e(x_{mP+1}) ; … ; e(x_{mP+P})] + b + pos_m           pos learned
 *     z   ← BN(z + MultiHead(z))      z ← BN(z + W_2 gelu(W_1 z))       L times
 *     pre-training: 40 % of the patches are zero; a linear layer, d → P × d, gives a hidden state per position
 *     forecasting:  [h_1 ; … ; h_T] = W_f [z_1 ; … ; z_{W/P}] + b
 */

import type { z } from "zod";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { sub, type Tensor } from "../../engine/tensor/index.js";
import {
	fields,
	headsDivide,
	integer,
	layeredFields,
	layeredPresets,
	modelSettings,
} from "../kinds/fields.js";
import { embedded, type Window, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

const config = modelSettings({
	...layeredFields(384),
	window: fields.window.unwrap().default(60).describe("positions it reads, in whole patches"),
	windows: fields.windows(4),
	ahead: fields.ahead,
	patch: integer(1, 4096, 12, "neighbouring places that are read, and masked, as one"),
})
	.refine(headsDivide.check, headsDivide.say)
	.refine(({ window, patch }) => window % patch === 0, {
		path: ["window"],
		error: "a multiple of patch",
	});

type PatchTstConfig = z.infer<typeof config>;

const patchesIn = ({ window, patch }: PatchTstConfig) => window / patch;

/** 1 for each patch in which some place is marked. [rows, patches] */
function anyIn(marked: Tensor, config: PatchTstConfig): Tensor {
	const rows = marked.shape[0] as number;
	return marked.reshape([rows, patchesIn(config), config.patch]).max(2);
}

/** Places that hold an event; rows to spare begin, and end, with [SOS]. */
const hasEvent = ({ tokens, mask }: Window): Tensor =>
	mask.mul(sub(1, tokens.equal(specialTokens.sos).cast(mask.dtype)));

/** One view a patch, from the views of its places, which are alike. [rows, patches, dim] */
function patchViews(encoded: Tensor, config: PatchTstConfig): Tensor {
	const [rows, , dim] = encoded.shape as [number, number, number];
	const places = encoded.reshape([rows, patchesIn(config), config.patch, dim]);
	return places.slice(2, 0, 1).reshape([rows, patchesIn(config), dim]);
}

/** A Transformer over patches of neighbouring events: it knows their order, not their times. */
export const patchTst = windowModel<PatchTstConfig>({
	id: "patchtst",
	name: "PatchTST",
	cite: "Nie, Nguyen, Sinthong, Kalagnanam: A Time Series is Worth 64 Words: Long-term Forecasting with Transformers, ICLR 2023",
	config,
	learningRate: 1e-3,
	presets: layeredPresets(256),
	pretraining: "masked",
	maskBy: ({ patch }) => patch,
	forecasts: "after fine-tuning",
	usesQueryTime: false,
	weights(config) {
		const { layers, dim, ff, patch, ahead } = config;
		const layer = {
			...nn.nested("attention", nn.attentionWeights(dim)),
			...nn.nested("attentionNorm", nn.batchNormWeights(dim)),
			...nn.nested("feedForward", nn.feedForwardWeights(dim, ff)),
			...nn.nested("feedForwardNorm", nn.batchNormWeights(dim)),
		};
		return {
			...nn.nested("patch", nn.linearWeights(patch * dim, dim)),
			positions: nn.uniform([patchesIn(config), dim], 0.02),
			...nn.numbered("layers", layers, layer),
			...nn.nested("restore", nn.linearWeights(dim, patch * dim)),
			...nn.nested("ahead", nn.linearWeights(patchesIn(config) * dim, ahead * dim)),
		};
	},
	encode(config, p, window, side) {
		const { layers, heads, dim, patch } = config;
		const [rows, patches] = [window.tokens.shape[0] as number, patchesIn(config)];
		const mask = anyIn(window.mask, config);
		const hidden = nn.paddingMask(mask);
		const statistics = { counts: anyIn(hasEvent(window), config), moving: side?.moving };
		const read = embedded(p, window).reshape([rows, patches, patch * dim]);
		let x: Tensor = nn.linear(p, "patch", read).add(p("positions")); // [rows, patches, dim]
		for (let i = 0; i < layers; i++) {
			const q = nn.within(p, `layers.${i}`);
			x = x.add(nn.attention(q, "attention", x, { heads, mask: hidden }));
			x = nn.batchNorm(p, `layers.${i}.attentionNorm`, x, statistics);
			x = x.add(nn.feedForward(q, "feedForward", x));
			x = nn.batchNorm(p, `layers.${i}.feedForwardNorm`, x, statistics);
		}
		const seen = x.mul(mask.reshape([rows, patches, 1]));
		const each = seen.reshape([rows, patches, 1, dim]).expand([rows, patches, patch, dim]);
		return each.reshape([rows, patches * patch, dim]);
	},
	restore(config, p, encoded) {
		const views = nn.linear(p, "restore", patchViews(encoded, config)); // [rows, patches, patch · dim]
		return views.reshape(encoded.shape);
	},
	query(config, p, encoded) {
		const { ahead, dim } = config;
		const rows = encoded.shape[0] as number;
		const flat = patchViews(encoded, config).reshape([rows, -1]);
		return nn.linear(p, "ahead", flat).reshape([rows, ahead, dim]);
	},
});

import {
	add,
	concat,
	expand,
	filled,
	mul,
	pad,
	slice,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { Queries } from "../../kinds/observed.js";
import { embedded, type Window } from "../../kinds/window.js";
import { attentionWeights } from "../../nn/attention.js";
import { decompose, paddedAverages } from "../../nn/decomposition.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { column, meanOverEvents, seasonalNorm } from "../../nn/seasonal-norm.js";
import { marks, marksAfter, marksBefore } from "../../nn/time-marks.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { autoCorrelation } from "./auto-correlation.js";
import type { AutoformerConfig } from "./config.js";

export function weights({ layers, decoderLayers, dim, ff }: AutoformerConfig): WeightSpecs {
	const layer = {
		...nested("self", attentionWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
	};
	const further = {
		...nested("cross", attentionWeights(dim)),
		...nested("trend", linearWeights(3 * dim, dim, { bias: false })),
	};
	return {
		...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("encoder.layers", layers, layer),
		...nested("encoder.norm", normWeights(dim)),
		...nested("views.norm", normWeights(dim)),
		...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("decoder.layers", decoderLayers, { ...layer, ...further }),
		...nested("decoder.norm", normWeights(dim)),
		...nested("decoder.out", linearWeights(dim, dim)),
	};
}

/** A decomposed series and its mask. */
export interface Series {
	readonly seasonal: Tensor; // [rows, places, dim]
	readonly trend: Tensor; // [rows, places, dim]
	readonly mask: Tensor; // [rows, places]
}

/** Auto-correlation of queries from x with keys and values from a memory of as many places. */
function correlated(
	{ heads, factor }: AutoformerConfig,
	p: Weights,
	own: { readonly x: Tensor; readonly mask: Tensor },
	memory = own,
): Tensor {
	const part = (name: string, { x, mask }: typeof own) =>
		mul(linear(within(p, name), x), column(mask));
	const y = autoCorrelation(part("query", own), part("key", memory), part("value", memory), {
		...{ heads, factor },
	});
	return linear(within(p, "out"), y);
}

/** After each sub-layer the trend is taken off and laid by; what is seasonal goes on. */
export function encoder(config: AutoformerConfig, p: Weights, window: Window): Series {
	const own = within(p, "encoder");
	const { mask } = window;
	const average = paddedAverages(mask, config.average);
	let seasonal = add(embedded(p, window), project(within(own, "times"), marksBefore(window)));
	const trends: Tensor[] = [];
	const part = (sublayer: Tensor) => {
		const parts = decompose(add(seasonal, sublayer), average);
		seasonal = parts.seasonal;
		trends.push(parts.trend);
	};
	for (let i = 0; i < config.layers; i++) {
		const q = within(own, `layers.${i}`);
		part(correlated(config, within(q, "self"), { x: seasonal, mask }));
		part(feedForward(within(q, "feedForward"), seasonal));
	}
	return { seasonal, trend: trends.reduce(add), mask };
}

/** The last places of a memory, or zeros after it: as many as asked for. */
function resized(x: Tensor, places: number): Tensor {
	const known = x.shape[1] as number;
	return known > places ? slice(x, 1, known - places) : pad(x, 1, 0, places - known);
}

/** The hidden state of each query: the seasonal part of what follows the window, and its trend, which grows from layer to layer. */
export function decoder(
	config: AutoformerConfig,
	p: Weights,
	encoded: Series,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const start = Math.min(config.start, places);
	const decoderInput = (t: Tensor, rest: Tensor) => concat([slice(t, 1, places - start), rest], 1);

	const codes = embedded(p, window);
	const first = decompose(codes, paddedAverages(window.mask, config.average));
	const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
	const level = expand(meanOverEvents(codes, window.mask), [rows, ahead, dim]);
	let trend = decoderInput(first.trend, level);
	let seasonal = add(
		decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)),
		project(within(own, "times"), decoderInput(marksBefore(window), marksAfter(queries))),
	);

	const memory = {
		x: resized(
			seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, encoded.mask),
			start + ahead,
		),
		mask: resized(encoded.mask, start + ahead),
	};
	const average = paddedAverages(mask, config.average);
	for (let i = 0; i < config.decoderLayers; i++) {
		const q = within(own, `layers.${i}`);
		const trends: Tensor[] = [];
		const part = (sublayer: Tensor) => {
			const parts = decompose(add(seasonal, sublayer), average);
			seasonal = parts.seasonal;
			trends.push(parts.trend);
		};
		part(correlated(config, within(q, "self"), { x: seasonal, mask }));
		part(correlated(config, within(q, "cross"), { x: seasonal, mask }, memory));
		part(feedForward(within(q, "feedForward"), seasonal));
		trend = add(trend, project(within(q, "trend"), concat(trends, -1)));
	}
	const out = linear(within(own, "out"), seasonalNorm(within(own, "norm"), seasonal, mask));
	return slice(add(out, trend), 1, -ahead);
}

import { add, concat, expand, filled, mul, pad, slice, type Tensor } from "../../graph/index.js";
import { attentionWeights } from "../../nn/attention.js";
import { decompose, paddedAverages } from "../../nn/decomposition.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { column, meanOfReal, seasonalNorm } from "../../nn/seasonal-norm.js";
import { marks, marksAfter, marksBefore } from "../../nn/time-marks.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import type { Queries } from "../kinds/observed.js";
import { embedded, type Window } from "../kinds/window.js";
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

/** A series that was taken apart; its places, and which of them are real. */
export interface Series {
	readonly seasonal: Tensor; // [rows, places, dim]
	readonly trend: Tensor; // [rows, places, dim]
	readonly real: Tensor; // [rows, places]
}

/** Auto-correlation of queries from x with keys and values from a memory of as many places. */
function correlated(
	{ heads, factor }: AutoformerConfig,
	p: Weights,
	own: { readonly x: Tensor; readonly real: Tensor },
	memory = own,
): Tensor {
	const part = (name: string, { x, real }: typeof own) =>
		mul(linear(within(p, name), x), column(real));
	const y = autoCorrelation(part("query", own), part("key", memory), part("value", memory), {
		...{ heads, factor },
	});
	return linear(within(p, "out"), y);
}

/** After each sub-layer the trend is taken off and laid by; what is seasonal goes on. */
export function encoder(config: AutoformerConfig, p: Weights, window: Window): Series {
	const own = within(p, "encoder");
	const { real } = window;
	const average = paddedAverages(real, config.average);
	let seasonal = add(embedded(p, window), project(within(own, "times"), marksBefore(window)));
	const trends: Tensor[] = [];
	const part = (sublayer: Tensor) => {
		const parts = decompose(add(seasonal, sublayer), average);
		seasonal = parts.seasonal;
		trends.push(parts.trend);
	};
	for (let i = 0; i < config.layers; i++) {
		const q = within(own, `layers.${i}`);
		part(correlated(config, within(q, "self"), { x: seasonal, real }));
		part(feedForward(within(q, "feedForward"), seasonal));
	}
	return { seasonal, trend: trends.reduce(add), real };
}

/** The last places of a memory, or zeros after it: as many as asked for. */
function resized(x: Tensor, places: number): Tensor {
	const known = x.shape[1] as number;
	return known > places ? slice(x, 1, known - places) : pad(x, 1, 0, places - known);
}

/** What the head reads for each question: the seasonal part of what follows the window, and its trend, which grows from layer to layer. */
export function decoder(
	config: AutoformerConfig,
	p: Weights,
	encoded: Series,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim } = config;
	const rows = window.real.shape[0] as number;
	const { dtype } = window.real;
	const start = Math.min(config.start, places);
	const begun = (t: Tensor, rest: Tensor) => concat([slice(t, 1, places - start), rest], 1);

	const codes = embedded(p, window);
	const first = decompose(codes, paddedAverages(window.real, config.average));
	const real = begun(window.real, filled(1, [rows, ahead], dtype));
	const level = expand(meanOfReal(codes, window.real), [rows, ahead, dim]);
	let trend = begun(first.trend, level);
	let seasonal = add(
		begun(first.seasonal, filled(0, [rows, ahead, dim], dtype)),
		project(within(own, "times"), begun(marksBefore(window), marksAfter(queries))),
	);

	const memory = {
		x: resized(
			seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, encoded.real),
			start + ahead,
		),
		real: resized(encoded.real, start + ahead),
	};
	const average = paddedAverages(real, config.average);
	for (let i = 0; i < config.decoderLayers; i++) {
		const q = within(own, `layers.${i}`);
		const trends: Tensor[] = [];
		const part = (sublayer: Tensor) => {
			const parts = decompose(add(seasonal, sublayer), average);
			seasonal = parts.seasonal;
			trends.push(parts.trend);
		};
		part(correlated(config, within(q, "self"), { x: seasonal, real }));
		part(correlated(config, within(q, "cross"), { x: seasonal, real }, memory));
		part(feedForward(within(q, "feedForward"), seasonal));
		trend = add(trend, project(within(q, "trend"), concat(trends, -1)));
	}
	const out = linear(within(own, "out"), seasonalNorm(within(own, "norm"), seasonal, real));
	return slice(add(out, trend), 1, -ahead);
}

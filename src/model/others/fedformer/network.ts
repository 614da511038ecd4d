import {
	add,
	concat,
	expand,
	filled,
	mul,
	slice,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { Queries } from "../../kinds/observed.js";
import { embedded, type Window } from "../../kinds/window.js";
import { attentionWeights } from "../../nn/attention.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { column, meanOverEvents, seasonalNorm } from "../../nn/seasonal-norm.js";
import { marks, marksAfter, marksBefore } from "../../nn/time-marks.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import type { FedformerConfig } from "./config.js";
import { fourierAttention } from "./fourier-attention.js";
import { fourierBlock, fourierBlockWeights } from "./fourier-block.js";
import { decomposeMixed, mixedAverages, mixtureWeights } from "./mixture.js";
import { drawnModes } from "./modes.js";

/** The window's last places, with which the decoder begins. */
const startOf = ({ start, window }: FedformerConfig) => Math.min(start, window);

/** The modes that are kept of the window, and of what the decoder reads. */
const windowModes = ({ window, modes, draw }: FedformerConfig) => drawnModes(window, modes, draw);
const decoderModes = (config: FedformerConfig) =>
	drawnModes(startOf(config) + config.ahead, config.modes, config.draw);

export function weights(config: FedformerConfig): WeightSpecs {
	const { layers, decoderLayers, heads, dim, ff } = config;
	const mixture = mixtureWeights(dim, config.averages.length);
	const layer = (modes: readonly number[]) => ({
		...nested("self.query", linearWeights(dim, dim)),
		...nested("self.modes", fourierBlockWeights(modes.length, heads, dim)),
		...nested("self.out", linearWeights(dim, dim)),
		...nested("self.mixture", mixture),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForward.mixture", mixture),
	});
	const further = {
		...nested("cross", attentionWeights(dim)),
		...nested("cross.mixture", mixture),
		...nested("trend", linearWeights(3 * dim, dim, { bias: false })),
	};
	return {
		...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("encoder.layers", layers, layer(windowModes(config))),
		...nested("encoder.norm", normWeights(dim)),
		...nested("views.norm", normWeights(dim)),
		...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
		...nested("decoder.mixture", mixture),
		...numbered("decoder.layers", decoderLayers, { ...layer(decoderModes(config)), ...further }),
		...nested("decoder.norm", normWeights(dim)),
		...nested("decoder.out", linearWeights(dim, dim)),
	};
}

/** A sequence and its mask. */
interface Places {
	readonly x: Tensor; // [rows, places, dim]
	readonly mask: Tensor; // [rows, places]
}

/** x W + b, and 0 at padding. */
const part = (p: Weights, { x, mask }: Places): Tensor => mul(linear(p, x), column(mask));

function enhanced(p: Weights, own: Places, modes: readonly number[]): Tensor {
	const y = fourierBlock(within(p, "modes"), part(within(p, "query"), own), modes);
	return linear(within(p, "out"), y);
}

/** A series that was taken apart. */
export interface Series {
	readonly seasonal: Tensor; // [rows, places, dim]
	readonly trend: Tensor; // [rows, places, dim]
}

/** What is seasonal goes from sub-layer to sub-layer; the trends that are taken off are laid by. */
function progress(seasonal: Tensor, averages: Tensor) {
	const trends: Tensor[] = [];
	let now = seasonal;
	return {
		trends,
		seasonal: () => now,
		after(p: Weights, sublayer: Tensor) {
			const parts = decomposeMixed(within(p, "mixture"), add(now, sublayer), averages);
			now = parts.seasonal;
			trends.push(parts.trend);
		},
	};
}

export function encoder(config: FedformerConfig, p: Weights, window: Window): Series {
	const own = within(p, "encoder");
	const { mask } = window;
	const modes = windowModes(config);
	const first = add(embedded(p, window), project(within(own, "times"), marksBefore(window)));
	const series = progress(first, mixedAverages(mask, config.averages));
	for (let i = 0; i < config.layers; i++) {
		const [self, forward] = ["self", "feedForward"].map((name) =>
			within(own, `layers.${i}.${name}`),
		) as [Weights, Weights];
		series.after(self, enhanced(self, { x: series.seasonal(), mask }, modes));
		series.after(forward, feedForward(forward, series.seasonal()));
	}
	return { seasonal: series.seasonal(), trend: series.trends.reduce(add) };
}

/**
 * The hidden state of each query: the seasonal part of what follows the window, and its trend,
 * which grows from layer to layer.
 */
export function decoder(
	config: FedformerConfig,
	p: Weights,
	encoded: Series,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim, heads } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const decoderInput = (t: Tensor, rest: Tensor) =>
		concat([slice(t, 1, places - startOf(config)), rest], 1);

	const codes = embedded(p, window);
	const first = decomposeMixed(
		...([within(own, "mixture"), codes, mixedAverages(window.mask, config.averages)] as const),
	);
	const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
	let trend = decoderInput(
		first.trend,
		expand(meanOverEvents(codes, window.mask), [rows, ahead, dim]),
	);
	let seasonal = add(
		decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)),
		project(within(own, "times"), decoderInput(marksBefore(window), marksAfter(queries))),
	);

	const memory: Places = {
		x: seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, window.mask),
		mask: window.mask,
	};
	const [modes, memoryModes] = [decoderModes(config), windowModes(config)];
	const averages = mixedAverages(mask, config.averages);
	for (let i = 0; i < config.decoderLayers; i++) {
		const q = within(own, `layers.${i}`);
		const [self, cross, forward] = ["self", "cross", "feedForward"].map((name) =>
			within(q, name),
		) as [Weights, Weights, Weights];
		const series = progress(seasonal, averages);
		series.after(self, enhanced(self, { x: seasonal, mask }, modes));
		const looked = fourierAttention(
			part(within(cross, "query"), { x: series.seasonal(), mask }),
			part(within(cross, "key"), memory),
			part(within(cross, "value"), memory),
			{ heads, modes, memoryModes },
		);
		series.after(cross, linear(within(cross, "out"), looked));
		series.after(forward, feedForward(forward, series.seasonal()));
		seasonal = series.seasonal();
		trend = add(trend, project(within(q, "trend"), concat(series.trends, -1)));
	}
	const out = linear(within(own, "out"), seasonalNorm(within(own, "norm"), seasonal, mask));
	return slice(add(out, trend), 1, -ahead);
}

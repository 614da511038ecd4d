import { add, concat, filled, type Tensor } from "../../engine/tensor/index.js";
import {
	feedForward,
	feedForwardWeights,
	linear,
	linearWeights,
	norm,
	normWeights,
	project,
} from "../nn/layers.js";
import { marks, marksAfter, marksBefore } from "../nn/positions.js";
import { type Decomposed, meanOverEvents, seasonalNorm } from "../nn/series.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../nn/weights.js";
import type { Queries } from "./observed.js";
import { type EncoderDecoderConfig, embedded, type Window } from "./window.js";

/** A sequence and its mask. */
export interface Places {
	readonly x: Tensor; // [rows, places, dim]
	readonly mask: Tensor; // [rows, places]
}

/** The last positions of the window that the decoder begins with. */
export const startOf = ({ start, window }: EncoderDecoderConfig): number => Math.min(start, window);

/**
 * An encoder and a decoder that take the trend off after each sub-layer, as Autoformer's. The weights are those of the
 * sub-layers: `self`, `cross` and `feedForward`.
 */
interface Decomposition<C extends EncoderDecoderConfig> {
	/** Of `self`, in a sequence of so many places. */
	selfWeights(config: C, places: number): WeightSpecs;
	crossWeights(config: C): WeightSpecs;
	/** Of the decomposition after a sub-layer. */
	mixtureWeights(config: C): WeightSpecs;
	self(config: C, p: Weights, x: Places): Tensor;
	/** What `cross` looks at, for a decoder of so many places. */
	memory(encoded: Places, places: number): Places;
	cross(config: C, p: Weights, x: Places, memory: Places): Tensor;
	/** Takes series with this mask apart, with the weights of a sub-layer. */
	decomposition(config: C, mask: Tensor): (p: Weights, x: Tensor) => Decomposed;
}

/** A series that is worked on: what is seasonal goes from sub-layer to sub-layer, the trends that are taken off are kept. */
function progress(start: Tensor, decompose: (p: Weights, x: Tensor) => Decomposed) {
	const trends: Tensor[] = [];
	const series = {
		seasonal: start,
		trends,
		add(p: Weights, sublayer: Tensor) {
			const { seasonal, trend } = decompose(p, series.seasonal.add(sublayer));
			series.seasonal = seasonal;
			trends.push(trend);
		},
	};
	return series;
}

export function decomposed<C extends EncoderDecoderConfig>(network: Decomposition<C>) {
	function weights(config: C): WeightSpecs {
		const { layers, decoderLayers, dim, ff, window, ahead } = config;
		const mixture = network.mixtureWeights(config);
		const layer = (places: number) => ({
			...nested("self", network.selfWeights(config, places)),
			...nested("self.mixture", mixture),
			...nested("feedForward", feedForwardWeights(dim, ff)),
			...nested("feedForward.mixture", mixture),
		});
		const further = {
			...nested("cross", network.crossWeights(config)),
			...nested("cross.mixture", mixture),
			...nested("trend", linearWeights(3 * dim, dim, { bias: false })),
		};
		const decoderLayer = { ...layer(startOf(config) + ahead), ...further };
		return {
			...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
			...numbered("encoder.layers", layers, layer(window)),
			...nested("encoder.norm", normWeights(dim)),
			...nested("views.norm", normWeights(dim)),
			...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
			...nested("decoder.mixture", mixture),
			...numbered("decoder.layers", decoderLayers, decoderLayer),
			...nested("decoder.norm", normWeights(dim)),
			...nested("decoder.out", linearWeights(dim, dim)),
		};
	}

	function encoder(config: C, p: Weights, window: Window): Decomposed {
		const { mask } = window;
		const times = project(within(p, "encoder.times"), marksBefore(window));
		const series = progress(embedded(p, window).add(times), network.decomposition(config, mask));
		for (let i = 0; i < config.layers; i++) {
			const self = within(p, `encoder.layers.${i}.self`);
			const forward = within(p, `encoder.layers.${i}.feedForward`);
			series.add(self, network.self(config, self, { x: series.seasonal, mask }));
			series.add(forward, feedForward(forward, series.seasonal));
		}
		return { seasonal: series.seasonal, trend: series.trends.reduce(add) };
	}

	const views = (p: Weights, { seasonal, trend }: Decomposed): Tensor =>
		norm(within(p, "views.norm"), seasonal.add(trend));

	/**
	 * The hidden state of each query: the seasonal part of what follows the window, and its trend, which grows from layer
	 * to layer. Of the encoded window it looks at what is seasonal alone.
	 */
	function decoder(
		config: C,
		p: Weights,
		encoded: Decomposed,
		window: Window,
		queries: Queries,
	): Tensor {
		const decoderWeights = within(p, "decoder");
		const { window: places, ahead, dim } = config;
		const rows = window.mask.shape[0] as number;
		const { dtype } = window.mask;
		/** The last positions of the window, and what stands for those that follow. */
		const decoderInput = (before: Tensor, following: Tensor) =>
			concat([before.slice(1, places - startOf(config)), following], 1);

		const codes = embedded(p, window);
		const first = network.decomposition(config, window.mask)(decoderWeights, codes);
		const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
		const level = meanOverEvents(codes, window.mask).expand([rows, ahead, dim]);
		let trend = decoderInput(first.trend, level);
		const times = decoderInput(marksBefore(window), marksAfter(queries));
		let seasonal = decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)).add(
			project(within(decoderWeights, "times"), times),
		);

		const known = seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, window.mask);
		const memory = network.memory({ x: known, mask: window.mask }, startOf(config) + ahead);
		const decompose = network.decomposition(config, mask);
		for (let i = 0; i < config.decoderLayers; i++) {
			const q = within(decoderWeights, `layers.${i}`);
			const [self, cross, forward] = ["self", "cross", "feedForward"].map((name) =>
				within(q, name),
			) as [Weights, Weights, Weights];
			const series = progress(seasonal, decompose);
			series.add(self, network.self(config, self, { x: series.seasonal, mask }));
			series.add(cross, network.cross(config, cross, { x: series.seasonal, mask }, memory));
			series.add(forward, feedForward(forward, series.seasonal));
			seasonal = series.seasonal;
			trend = trend.add(project(within(q, "trend"), concat(series.trends, -1)));
		}
		const out = linear(
			within(decoderWeights, "out"),
			seasonalNorm(within(decoderWeights, "norm"), seasonal, mask),
		);
		return out.add(trend).slice(1, -ahead);
	}

	return { weights, encoder, views, decoder };
}

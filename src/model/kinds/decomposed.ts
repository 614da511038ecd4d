import { add, concat, filled, type Tensor } from "../../engine/tensor/index.js";
import * as nn from "../nn/index.js";
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
	selfWeights(config: C, places: number): nn.WeightSpecs;
	crossWeights(config: C): nn.WeightSpecs;
	/** Of the decomposition after a sub-layer. */
	mixtureWeights(config: C): nn.WeightSpecs;
	self(config: C, p: nn.Weights, x: Places): Tensor;
	/** What `cross` looks at, for a decoder of so many places. */
	memory(encoded: Places, places: number): Places;
	cross(config: C, p: nn.Weights, x: Places, memory: Places): Tensor;
	/** Takes series with this mask apart, with the weights of a sub-layer. */
	decomposition(config: C, mask: Tensor): (p: nn.Weights, x: Tensor) => nn.Decomposed;
}

/** A series that is worked on: what is seasonal goes from sub-layer to sub-layer, the trends that are taken off are kept. */
function progress(start: Tensor, decompose: (p: nn.Weights, x: Tensor) => nn.Decomposed) {
	const trends: Tensor[] = [];
	const series = {
		seasonal: start,
		trends,
		add(p: nn.Weights, sublayer: Tensor) {
			const { seasonal, trend } = decompose(p, series.seasonal.add(sublayer));
			series.seasonal = seasonal;
			trends.push(trend);
		},
	};
	return series;
}

export function decomposed<C extends EncoderDecoderConfig>(network: Decomposition<C>) {
	function weights(config: C): nn.WeightSpecs {
		const { layers, decoderLayers, dim, ff, window, ahead } = config;
		const mixture = network.mixtureWeights(config);
		const layer = (places: number) => ({
			...nn.nested("self", network.selfWeights(config, places)),
			...nn.nested("self.mixture", mixture),
			...nn.nested("feedForward", nn.feedForwardWeights(dim, ff)),
			...nn.nested("feedForward.mixture", mixture),
		});
		const further = {
			...nn.nested("cross", network.crossWeights(config)),
			...nn.nested("cross.mixture", mixture),
			...nn.nested("trend", nn.linearWeights(3 * dim, dim, { bias: false })),
		};
		const decoderLayer = { ...layer(startOf(config) + ahead), ...further };
		return {
			...nn.nested("encoder.times", nn.linearWeights(nn.marks, dim, { bias: false })),
			...nn.numbered("encoder.layers", layers, layer(window)),
			...nn.nested("encoder.norm", nn.normWeights(dim)),
			...nn.nested("views.norm", nn.normWeights(dim)),
			...nn.nested("decoder.times", nn.linearWeights(nn.marks, dim, { bias: false })),
			...nn.nested("decoder.mixture", mixture),
			...nn.numbered("decoder.layers", decoderLayers, decoderLayer),
			...nn.nested("decoder.norm", nn.normWeights(dim)),
			...nn.nested("decoder.out", nn.linearWeights(dim, dim)),
		};
	}

	function encoder(config: C, p: nn.Weights, window: Window): nn.Decomposed {
		const { mask } = window;
		const times = nn.project(p, "encoder.times", nn.marksBefore(window));
		const series = progress(embedded(p, window).add(times), network.decomposition(config, mask));
		for (const q of nn.withinEach(p, "encoder.layers", config.layers)) {
			const self = nn.within(q, "self");
			series.add(self, network.self(config, self, { x: series.seasonal, mask }));
			series.add(nn.within(q, "feedForward"), nn.feedForward(q, "feedForward", series.seasonal));
		}
		return { seasonal: series.seasonal, trend: series.trends.reduce(add) };
	}

	const views = (p: nn.Weights, { seasonal, trend }: nn.Decomposed): Tensor =>
		nn.norm(p, "views.norm", seasonal.add(trend));

	/**
	 * The hidden state of each query: the seasonal part of what follows the window, and its trend, which grows from layer
	 * to layer. Of the encoded window it looks at what is seasonal alone.
	 */
	function decoder(
		config: C,
		p: nn.Weights,
		encoded: nn.Decomposed,
		window: Window,
		queries: Queries,
	): Tensor {
		const decoderWeights = nn.within(p, "decoder");
		const { window: places, ahead, dim } = config;
		const rows = window.mask.shape[0] as number;
		const { dtype } = window.mask;
		/** The last positions of the window, and what stands for those that follow. */
		const decoderInput = (before: Tensor, following: Tensor) =>
			concat([before.slice(1, places - startOf(config)), following], 1);

		const codes = embedded(p, window);
		const first = network.decomposition(config, window.mask)(decoderWeights, codes);
		const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
		const level = nn.meanOverEvents(codes, window.mask).expand([rows, ahead, dim]);
		let trend = decoderInput(first.trend, level);
		const times = decoderInput(nn.marksBefore(window), nn.marksAfter(queries));
		let seasonal = decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)).add(
			nn.project(decoderWeights, "times", times),
		);

		const known = nn.seasonalNorm(p, "encoder.norm", encoded.seasonal, window.mask);
		const memory = network.memory({ x: known, mask: window.mask }, startOf(config) + ahead);
		const decompose = network.decomposition(config, mask);
		for (const q of nn.withinEach(decoderWeights, "layers", config.decoderLayers)) {
			const [self, cross] = [nn.within(q, "self"), nn.within(q, "cross")];
			const series = progress(seasonal, decompose);
			series.add(self, network.self(config, self, { x: series.seasonal, mask }));
			series.add(cross, network.cross(config, cross, { x: series.seasonal, mask }, memory));
			series.add(nn.within(q, "feedForward"), nn.feedForward(q, "feedForward", series.seasonal));
			seasonal = series.seasonal;
			trend = trend.add(nn.project(q, "trend", concat(series.trends, -1)));
		}
		const out = nn.linear(
			decoderWeights,
			"out",
			nn.seasonalNorm(decoderWeights, "norm", seasonal, mask),
		);
		return out.add(trend).slice(1, -ahead);
	}

	return { weights, encoder, views, decoder };
}

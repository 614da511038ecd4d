import { z } from "zod";
import type { Tensor } from "../../engine/tensor/index.js";
import type { Model } from "../model.js";
import type { WeightSpecs, Weights } from "../nn/weights.js";
import { fields } from "./fields.js";
import type { Queries } from "./observed.js";
import { type Window, type WindowConfig, type WindowNetwork, windowModel } from "./window.js";

/** Settings of models whose decoder predicts all queries at once. */
export const encoderDecoderFields = {
	vocab: fields.vocab,
	hazards: fields.hazards,
	...{ window: fields.window, ahead: fields.ahead },
	layers: fields.layers(2).describe("layers of the encoder"),
	decoderLayers: fields.layers(2).describe("layers of the decoder"),
	heads: fields.heads(4),
	dim: fields.dim(96),
	ff: fields.ff(384),
	start: z
		.int()
		.min(1)
		.max(4096)
		.default(26)
		.describe("last places of the window that the decoder begins with; at most the window"),
};

const presets = {
	tiny: { layers: 2, decoderLayers: 1, dim: 64, ff: 256 },
	default: {},
	paper: { layers: 4, decoderLayers: 4, dim: 200, ff: 400 },
};

/** A network whose decoder predicts all queries at once from the encoded window. */
export interface EncoderDecoder<C extends WindowConfig, E>
	extends Pick<WindowNetwork<C>, "id" | "name" | "cite" | "config" | "learningRates"> {
	weights(config: C): WeightSpecs;
	encoder(config: C, p: Weights, window: Window): E;
	/** Of each place. */
	views(p: Weights, encoded: E): Tensor; // [rows, window, dim]
	/** The hidden state of each query. */
	decoder(config: C, p: Weights, encoded: E, window: Window, queries: Queries): Tensor; // [rows, ahead, dim]
}

export const encoderDecoderModel = <C extends WindowConfig, E>({
	encoder,
	views,
	decoder,
	...described
}: EncoderDecoder<C, E>): Model<C> =>
	windowModel<C>({
		...described,
		presets,
		pretraining: "masked",
		forecasts: "after pretraining",
		// Query times are inputs, but each query is about the event after that of the query before.
		usesQueryTime: false,
		// Delays, modes and the queries that attend are chosen by all places.
		queriesInteract: true,
		encode: (config, p, window) => views(p, encoder(config, p, window)),
		// Views of places are not what the decoder looks at.
		query: (config, p, _, window, queries) =>
			decoder(config, p, encoder(config, p, window), window, queries),
	});

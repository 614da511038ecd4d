import { add } from "../../graph/index.js";
import { norm } from "../../nn/layer-norm.js";
import { within } from "../../nn/weights.js";
import { encoderDecoderPresets } from "../kinds/encoder-decoder.js";
import { windowModel } from "../kinds/window.js";
import { config, type FedformerConfig } from "./config.js";
import { decoder, encoder, weights } from "./network.js";

/** Trend and season apart in every layer; what is seasonal is worked on in a few modes of its Fourier transform. */
export const fedformer = windowModel<FedformerConfig>({
	id: "fedformer",
	name: "FEDformer",
	cite: "Zhou, Ma, Wen, Wang, Sun, Jin: FEDformer: Frequency Enhanced Decomposed Transformer for Long-term Series Forecasting, ICML 2022",
	config,
	presets: encoderDecoderPresets,
	pretraining: "masked",
	forecasts: "after pretraining",
	// The times asked about are read, but each question is about the event after the one before.
	knowsTimes: false,
	weights,
	encode(config, p, window) {
		const { seasonal, trend } = encoder(config, p, window);
		return norm(within(p, "views.norm"), add(seasonal, trend));
	},
	// The views hold the trend too; the decoder looks at what is seasonal alone.
	ask: (config, p, _, window, asked) =>
		decoder(config, p, encoder(config, p, window), window, asked),
});

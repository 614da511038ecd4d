import { add } from "../../../engine/tensor/index.js";
import { encoderDecoderModel } from "../../kinds/encoder-decoder.js";
import { norm } from "../../nn/layer-norm.js";
import { within } from "../../nn/weights.js";
import { config } from "./config.js";
import { decoder, encoder, weights } from "./network.js";

/** Trend and season apart in every layer; what is seasonal is worked on in a few modes of its Fourier transform. */
export const fedformer = encoderDecoderModel({
	id: "fedformer",
	name: "FEDformer",
	cite: "Zhou, Ma, Wen, Wang, Sun, Jin: FEDformer: Frequency Enhanced Decomposed Transformer for Long-term Series Forecasting, ICML 2022",
	config,
	weights,
	encoder,
	views: (p, { seasonal, trend }) => norm(within(p, "views.norm"), add(seasonal, trend)),
	// It looks at what is seasonal alone.
	decoder,
});

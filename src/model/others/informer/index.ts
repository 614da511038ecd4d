import { encoderDecoderModel } from "../../kinds/encoder-decoder.js";
import { config } from "./config.js";
import type { Places } from "./distilling.js";
import { decoder, encoder, views, weights } from "./network.js";

/** An encoder that lets only the most pointed queries look and halves its places from layer to layer; a decoder that answers at once. */
export const informer = encoderDecoderModel({
	id: "informer",
	name: "Informer",
	cite: "Zhou, Zhang, Peng, Zhang, Li, Xiong, Zhang: Informer: Beyond Efficient Transformer for Long Sequence Time-Series Forecasting, AAAI 2021",
	config,
	learningRates: { paper: 1e-3 },
	weights,
	encoder,
	views,
	// It looks at the encoder's last places, which are distilled.
	decoder: (config, p, stages, window, queries) =>
		decoder(config, p, stages.at(-1) as Places, window, queries),
});

import { encoderDecoderPresets } from "../kinds/encoder-decoder.js";
import { windowModel } from "../kinds/window.js";
import { config, type InformerConfig } from "./config.js";
import type { Places } from "./distilling.js";
import { decoder, encoder, views, weights } from "./network.js";

/** An encoder that lets only the most pointed queries look and halves its places from layer to layer; a decoder that answers at once. */
export const informer = windowModel<InformerConfig>({
	id: "informer",
	name: "Informer",
	cite: "Zhou, Zhang, Peng, Zhang, Li, Xiong, Zhang: Informer: Beyond Efficient Transformer for Long Sequence Time-Series Forecasting, AAAI 2021",
	config,
	presets: encoderDecoderPresets,
	pretraining: "masked",
	forecasts: "after pretraining",
	// The times asked about are read, but each question is about the event after the one before.
	knowsTimes: false,
	weights,
	encode: (config, p, window) => views(p, encoder(config, p, window)),
	// The views were made whole again; the decoder looks at the encoder's last, distilled places.
	ask: (config, p, _, window, asked) =>
		decoder(config, p, encoder(config, p, window).at(-1) as Places, window, asked),
});

import { add } from "../../../engine/tensor/index.js";
import { encoderDecoderModel } from "../../kinds/encoder-decoder.js";
import { norm } from "../../nn/layer-norm.js";
import { within } from "../../nn/weights.js";
import { config } from "./config.js";
import { decoder, encoder, weights } from "./network.js";

/** Trend and season apart in every layer; delays at which the series fits itself in place of attention. */
export const autoformer = encoderDecoderModel({
	id: "autoformer",
	name: "Autoformer",
	cite: "Wu, Xu, Wang, Long: Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series Forecasting, NeurIPS 2021",
	config,
	weights,
	encoder,
	views: (p, { seasonal, trend }) => norm(within(p, "views.norm"), add(seasonal, trend)),
	// It looks at what is seasonal alone.
	decoder,
});

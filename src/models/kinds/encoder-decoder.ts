import { z } from "zod";
import { fields } from "./fields.js";

/** Settings of models whose decoder answers all questions at once. */
export const encoderDecoderFields = {
	...{ vocab: fields.vocab, unitDays: fields.unitDays },
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

export const encoderDecoderPresets = {
	tiny: { layers: 2, decoderLayers: 1, dim: 64, ff: 256 },
	default: {},
	paper: { layers: 4, decoderLayers: 4, dim: 200, ff: 400 },
};

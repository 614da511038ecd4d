import { z } from "zod";
import { fields, headsDivide } from "../kinds/fields.js";

export const config = z
	.strictObject({
		...{ vocab: fields.vocab, unitDays: fields.unitDays },
		...{ window: fields.window, ahead: fields.ahead },
		layers: fields.layers(2).describe("layers of the encoder"),
		decoderLayers: fields.layers(2).describe("layers of the decoder"),
		heads: fields.heads(4),
		dim: fields.dim(96),
		ff: fields.ff(384),
		modes: z
			.int()
			.min(1)
			.max(4096)
			.default(32)
			.describe("Fourier modes that are kept, drawn once; at most half of the places"),
		draw: z.int().min(0).default(1).describe("seed of the draw of modes"),
		averages: z
			.array(z.int().min(1).max(4096))
			.min(1)
			.max(16)
			.default([7, 13, 25])
			.describe("places of the moving averages that are mixed into the trend"),
		start: z
			.int()
			.min(1)
			.max(4096)
			.default(26)
			.describe("last places of the window that the decoder begins with; at most the window"),
	})
	.refine(headsDivide.check, headsDivide.say);

export type FedformerConfig = z.infer<typeof config>;

import { z } from "zod";
import { fields, headsDivide } from "../kinds/fields.js";

export const config = z
	.strictObject({
		...{ vocab: fields.vocab, unitDays: fields.unitDays },
		...{ window: fields.window, ahead: fields.ahead },
		layers: fields.layers(2).describe("layers of the encoder; between two the places are halved"),
		decoderLayers: fields.layers(2).describe("layers of the decoder"),
		heads: fields.heads(4),
		dim: fields.dim(96),
		ff: fields.ff(384),
		factor: z
			.number()
			.positive()
			.max(1000)
			.default(5)
			.describe("c: of n places, c ln n keys are sampled and c ln n queries look for themselves"),
		start: z
			.int()
			.min(1)
			.max(4096)
			.default(26)
			.describe("last places of the window that the decoder begins with; at most the window"),
	})
	.refine(headsDivide.check, headsDivide.say);

export type InformerConfig = z.infer<typeof config>;

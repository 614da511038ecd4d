import { z } from "zod";
import { encoderDecoderFields } from "../../kinds/encoder-decoder.js";
import { fields, headsDivide } from "../../kinds/fields.js";

export const config = z
	.strictObject({
		...encoderDecoderFields,
		layers: fields.layers(2).describe("layers of the encoder; between two the places are halved"),
		factor: z
			.number()
			.positive()
			.max(1000)
			.default(5)
			.describe("c: of n places, c ln n keys are sampled and c ln n queries look for themselves"),
	})
	.refine(headsDivide.check, headsDivide.say);

export type InformerConfig = z.infer<typeof config>;

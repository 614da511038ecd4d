import { z } from "zod";
import { encoderDecoderFields } from "../../kinds/encoder-decoder.js";
import { headsDivide } from "../../kinds/fields.js";

export const config = z
	.strictObject({
		...encoderDecoderFields,
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
	})
	.refine(headsDivide.check, headsDivide.say);

export type FedformerConfig = z.infer<typeof config>;

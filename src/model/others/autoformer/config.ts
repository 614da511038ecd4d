import { z } from "zod";
import { encoderDecoderFields } from "../../kinds/encoder-decoder.js";
import { headsDivide } from "../../kinds/fields.js";

export const config = z
	.strictObject({
		...encoderDecoderFields,
		factor: z
			.number()
			.positive()
			.max(1000)
			.default(3)
			.describe("c: of n places, c ln n delays are added up"),
		average: z
			.int()
			.min(1)
			.max(4096)
			.default(25)
			.describe("places of the moving average that is taken for the trend"),
	})
	.refine(headsDivide.check, headsDivide.say);

export type AutoformerConfig = z.infer<typeof config>;

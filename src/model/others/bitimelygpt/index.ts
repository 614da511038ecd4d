import { z } from "zod";
import { fields } from "../../kinds/fields.js";
import { pairsInHeads, retentionFields } from "../../kinds/retention-fields.js";
import { embedded, windowModel } from "../../kinds/window.js";
import { alternating, alternatingWeights } from "./alternating.js";
import { forecast, forecastWeights } from "./forecast.js";

const config = z
	.strictObject({
		vocab: fields.vocab,
		hazards: fields.hazards,
		layers: fields.layers(4),
		heads: fields.heads(4),
		dim: fields.dim(96),
		ff: fields.ff(192),
		...retentionFields,
		window: fields.window,
		windows: fields.windows(3),
		ahead: fields.ahead,
	})
	.refine(pairsInHeads.check, pairsInHeads.say)
	.refine(({ layers }) => layers % 2 === 0, {
		path: ["layers"],
		error: "an even number: the last layer reads backwards, the one before it forwards",
	});

type BiTimelyGptConfig = z.infer<typeof config>;

/** Retention layers that read forwards and backwards in turn. */
export const bitimelygpt = windowModel<BiTimelyGptConfig>({
	id: "bitimelygpt",
	name: "BiTimelyGPT",
	cite: "Song, Lu, Zhu, Buckeridge, Li: Bidirectional Generative Pre-training for Improving Healthcare Time-series Representation Learning, MLHC 2024",
	config,
	learningRate: 1e-2,
	presets: {
		tiny: { layers: 2, dim: 64, ff: 128 },
		default: {},
		paper: { layers: 8, dim: 200, ff: 400 },
	},
	pretraining: {
		predicts: { next: "next", previous: "previous" },
		views(settings, p, window) {
			const { forwards, backwards } = alternating(settings, p, embedded(p, window), window);
			return { next: forwards, previous: backwards };
		},
	},
	forecasts: "after fine-tuning",
	usesQueryTime: false,
	weights: (settings) => ({ ...alternatingWeights(settings), ...forecastWeights(settings) }),
	encode: (settings, p, window) => alternating(settings, p, embedded(p, window), window).backwards,
	query: (_, p, encoded, { mask }) => forecast(p, encoded, mask),
});

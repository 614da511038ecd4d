import { z } from "zod";
import { yearDays } from "../../../base/time.js";
import {
	constant,
	gather,
	mul,
	relu,
	slice,
	sub,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { fields } from "../../kinds/fields.js";
import { embedded, type Window, windowModel } from "../../kinds/window.js";
import { paddingMask } from "../../nn/attention.js";
import { linear, linearWeights } from "../../nn/linear.js";
import { nested, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { bidirectionalGru, bidirectionalGruWeights } from "./bidirectional-gru.js";
import {
	timeAttention,
	timeAttentionWeights,
	timeVectors,
	timeVectorWeights,
} from "./time-attention.js";

const config = z
	.strictObject({
		vocab: fields.vocab,
		hazards: fields.hazards,
		heads: fields.heads(4),
		dim: fields.dim(96).describe("width of what a place holds, and of each GRU"),
		ff: fields.ff(192).describe("width inside the layers after each pair of GRUs"),
		latent: z
			.int()
			.min(1)
			.max(4096)
			.default(64)
			.describe("width of what is known at a reference point"),
		time: z
			.int()
			.min(2)
			.max(4096)
			.default(64)
			.describe("width of a time's vector: one number grows with it, the others are sines of it"),
		references: z
			.int()
			.min(2)
			.max(1024)
			.default(32)
			.describe("reference points: the times of places chosen evenly"),
		window: fields.window,
		windows: fields.windows(2),
		ahead: fields.ahead.unwrap().default(32),
	})
	.refine(({ time, heads }) => time % heads === 0, {
		path: ["time"],
		error: "a multiple of heads",
	});

type MtandConfig = z.infer<typeof config>;

function weights({ heads, dim, ff, latent, time }: MtandConfig): WeightSpecs {
	const readout = (outside: number) => ({
		...nested("hidden", linearWeights(2 * dim, ff)),
		...nested("out", linearWeights(ff, outside)),
	});
	const encoder = {
		...nested("time", timeVectorWeights(time)),
		...nested("attention", timeAttentionWeights({ heads, time, width: dim, outside: dim })),
		...nested("gru", bidirectionalGruWeights(dim, dim)),
		...nested("readout", readout(latent)),
	};
	const decoder = {
		...nested("time", timeVectorWeights(time)),
		...nested("gru", bidirectionalGruWeights(latent, dim)),
		...nested("attention", timeAttentionWeights({ heads, time, width: 2 * dim, outside: 2 * dim })),
		...nested("readout", readout(dim)),
	};
	return { ...nested("encoder", encoder), ...nested("decoder", decoder) };
}

const readout = (p: Weights, x: Tensor): Tensor =>
	linear(within(p, "out"), relu(linear(within(p, "hidden"), x)));

/** Years from the last place on, below 0 before it. */
const yearsOf = ({ days }: Window): Tensor => mul(sub(days, slice(days, 1, -1)), 1 / yearDays);

/**
 * The times of evenly chosen places, in years as theirs, [rows, references]: where there are records, and
 * not in the decades between a birth and the first of them.
 */
function referenceYears({ references, window: places }: MtandConfig, window: Window): Tensor {
	const chosen = Array.from({ length: references }, (_, k) =>
		Math.round((k * (places - 1)) / (references - 1)),
	);
	return gather(yearsOf(window), constant(chosen, [references], "int32"), 1);
}

/** z at the reference points: what the observations are there, and then from point to point. */
function atReferences(config: MtandConfig, p: Weights, window: Window): Tensor {
	const q = within(p, "encoder");
	const vectors = (years: Tensor) => timeVectors(within(q, "time"), years);
	const seen = timeAttention(
		within(q, "attention"),
		vectors(referenceYears(config, window)),
		{
			times: vectors(yearsOf(window)),
			values: embedded(p, window),
			mask: paddingMask(window.shown),
		},
		config.heads,
	); // [rows, references, dim]
	return readout(within(q, "readout"), bidirectionalGru(within(q, "gru"), seen, config.dim)); // [rows, references, latent]
}

/** What is known at any times, in years from the last place: from the reference points, [rows, times, dim]. */
function viewAt(config: MtandConfig, p: Weights, window: Window, years: Tensor): Tensor {
	const q = within(p, "decoder");
	const vectors = (t: Tensor) => timeVectors(within(q, "time"), t);
	const points = {
		times: vectors(referenceYears(config, window)),
		values: bidirectionalGru(within(q, "gru"), atReferences(config, p, window), config.dim),
	};
	const seen = timeAttention(within(q, "attention"), vectors(years), points, config.heads);
	return readout(within(q, "readout"), seen);
}

/** Observations are carried to reference points and from there to any time by attention between times. */
export const mtand = windowModel<MtandConfig>({
	id: "mtand",
	name: "mTAND",
	cite: "Shukla, Marlin: Multi-Time Attention Networks for Irregularly Sampled Time Series, 2021",
	config,
	learningRate: 1e-3,
	presets: {
		tiny: { dim: 64, ff: 128, latent: 32 },
		default: {},
		paper: { dim: 200, ff: 400, latent: 200, time: 200 },
	},
	pretraining: "none",
	forecasts: "after pretraining",
	usesQueryTime: true,
	weights,
	encode: (config, p, window) => viewAt(config, p, window, yearsOf(window)),
	query: (config, p, _encoded, window, { gaps }) =>
		viewAt(config, p, window, mul(gaps, 1 / yearDays)),
});

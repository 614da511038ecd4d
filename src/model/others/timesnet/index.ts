import { z } from "zod";
import {
	add,
	concat,
	filled,
	matmul,
	mul,
	reshape,
	slice,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { fields } from "../../kinds/fields.js";
import { embedded, type Window, windowModel } from "../../kinds/window.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights } from "../../nn/linear.js";
import { sinusoids } from "../../nn/sinusoids.js";
import { marks, marksBefore } from "../../nn/time-marks.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { timesBlock, timesBlockWeights } from "./times-block.js";

const config = z.strictObject({
	vocab: fields.vocab,
	hazards: fields.hazards,
	...{ window: fields.window, ahead: fields.ahead },
	layers: fields.layers(2),
	dim: fields.dim(96),
	ff: fields.ff(8).describe("width between the two Inception blocks"),
	periods: z
		.int()
		.min(1)
		.max(64)
		.default(5)
		.describe("strongest periods by which a series is folded (the paper's k)"),
	kernels: z
		.int()
		.min(1)
		.max(16)
		.default(6)
		.describe("kernels of an Inception block: 1 × 1, 3 × 3, 5 × 5 …"),
});

type TimesNetConfig = z.infer<typeof config>;

function weights(config: TimesNetConfig): WeightSpecs {
	const { layers, dim, window, ahead } = config;
	const block = timesBlockWeights(config);
	return {
		...nested("times", linearWeights(marks, dim)),
		...numbered("layers", layers, block),
		...nested("norm", normWeights(dim)),
		...nested("extend", linearWeights(window, window + ahead)),
	};
}

/** [rows, places, 1] of [rows, places]. */
const column = (x: Tensor): Tensor => reshape(x, [...x.shape, 1]);

/** Embedded token, position and time; 0 at padding. */
function read({ dim }: TimesNetConfig, p: Weights, window: Window): Tensor {
	const places = window.mask.shape[1] as number;
	const where = add(
		linear(within(p, "times"), marksBefore(window)),
		sinusoids(places, dim, window.mask.dtype),
	);
	return add(embedded(p, window), mul(where, column(window.mask)));
}

/** One norm for all layers, and zeros where nothing is: they weigh on the next layer's periods. */
function blocks(config: TimesNetConfig, p: Weights, x: Tensor, mask: Tensor): Tensor {
	let y = mul(x, column(mask));
	for (let i = 0; i < config.layers; i++) {
		const after = timesBlock(config, within(p, `layers.${i}`), y);
		y = mul(norm(within(p, "norm"), after), column(mask));
	}
	return y;
}

/** A series folded by its own strongest periods, and read as a picture: within a period, and from one to the next. */
export const timesnet = windowModel<TimesNetConfig>({
	id: "timesnet",
	name: "TimesNet",
	cite: "Wu, Hu, Liu, Zhou, Wang, Long: TimesNet: Temporal 2D-Variation Modeling for General Time Series Analysis, ICLR 2023",
	config,
	learningRate: 1e-3,
	presets: {
		tiny: { dim: 64 },
		default: {},
		paper: { layers: 8, dim: 200 },
	},
	pretraining: "masked",
	forecasts: "after pretraining",
	usesQueryTime: false,
	weights,
	encode: (config, p, window) => blocks(config, p, read(config, p, window), window.mask),
	/** The window is first made longer, linearly and place by place; then it is read as a whole. */
	query(config, p, _, window) {
		const { ahead } = config;
		const rows = window.mask.shape[0] as number;
		const longer = add(
			matmul(p("extend.weight"), read(config, p, window)), // [rows, window + ahead, dim]
			column(p("extend.bias")),
		);
		const mask = concat([window.mask, filled(1, [rows, ahead], window.mask.dtype)], 1);
		return slice(blocks(config, p, longer, mask), 1, -ahead);
	},
});

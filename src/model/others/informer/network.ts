import {
	add,
	concat,
	constant,
	expand,
	filled,
	mul,
	reshape,
	slice,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { Queries } from "../../kinds/observed.js";
import { embedded, type Window } from "../../kinds/window.js";
import {
	attention,
	attentionWeights,
	joinHeads,
	paddingMask,
	splitHeads,
} from "../../nn/attention.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { sinusoids } from "../../nn/sinusoids.js";
import { marks, marksAfter, marksBefore } from "../../nn/time-marks.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import type { InformerConfig } from "./config.js";
import { distil, distilWeights, type Places } from "./distilling.js";
import { probSparseAttention } from "./prob-sparse.js";

export function weights({ layers, decoderLayers, dim, ff }: InformerConfig): WeightSpecs {
	const layer = {
		...nested("self", attentionWeights(dim)),
		...nested("selfNorm", normWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForwardNorm", normWeights(dim)),
	};
	const cross = {
		...nested("cross", attentionWeights(dim)),
		...nested("crossNorm", normWeights(dim)),
	};
	return {
		...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("encoder.layers", layers, layer),
		...numbered("encoder.distil", layers - 1, distilWeights(dim)),
		...nested("encoder.norm", normWeights(dim)),
		...nested("views.norm", normWeights(dim)),
		...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("decoder.layers", decoderLayers, { ...layer, ...cross }),
		...nested("decoder.norm", normWeights(dim)),
	};
}

/** 1 where one event may see another, none of them later if it is causal: [rows, 1, places, places]. */
function visibleTo(mask: Tensor, causal: boolean): Tensor {
	const [rows, places] = mask.shape as [number, number];
	const pairs = mul(reshape(mask, [rows, 1, places, 1]), reshape(mask, [rows, 1, 1, places]));
	if (!causal) return pairs;
	const earlier = Array.from({ length: places * places }, (_, at) =>
		Number(at % places <= Math.floor(at / places)),
	);
	return mul(pairs, constant(earlier, [places, places], mask.dtype));
}

/** x + attention of its own places, then of those of the encoder if there are any, then the feed-forward layer; each normed. */
function layer(
	{ heads, factor }: InformerConfig,
	p: Weights,
	{ x, mask }: Places,
	memory?: Places,
): Tensor {
	const part = (name: string) => splitHeads(linear(within(p, `self.${name}`), x), heads);
	const causal = memory !== undefined;
	const own = joinHeads(
		probSparseAttention(part("query"), part("key"), part("value"), {
			...{ factor, causal, visible: visibleTo(mask, causal) },
		}),
	);
	let y = norm(within(p, "selfNorm"), add(x, linear(within(p, "self.out"), own)));
	if (memory) {
		const hidden = paddingMask(memory.mask);
		const seen = attention(within(p, "cross"), y, { heads, mask: hidden, memory: memory.x });
		y = norm(within(p, "crossNorm"), add(y, seen));
	}
	return norm(within(p, "feedForwardNorm"), add(y, feedForward(within(p, "feedForward"), y)));
}

/** Code, place and time. */
const read = (p: Weights, codes: Tensor, times: Tensor): Tensor =>
	add(
		add(codes, project(within(p, "times"), times)),
		sinusoids(codes.shape[1] as number, codes.shape[2] as number, codes.dtype),
	);

/** The places after each layer of the encoder, each time half as many. */
export function encoder(config: InformerConfig, p: Weights, window: Window): readonly Places[] {
	const own = within(p, "encoder");
	let places: Places = {
		x: read(own, embedded(p, window), marksBefore(window)),
		mask: window.mask,
	};
	return Array.from({ length: config.layers }, (_, i) => {
		if (i > 0) places = distil(within(own, `distil.${i - 1}`), places);
		places = { ...places, x: layer(config, within(own, `layers.${i}`), places) };
		return places;
	});
}

/** A view of each place: the sum of what each layer of the encoder holds of it, halved as it may be. */
export function views(p: Weights, stages: readonly Places[]): Tensor {
	const [first] = stages as [Places];
	const [rows, places, dim] = first.x.shape as [number, number, number];
	const whole = stages.map(({ x }, i) => {
		const count = x.shape[1] as number;
		const repeated = expand(reshape(x, [rows, count, 1, dim]), [rows, count, 2 ** i, dim]);
		return slice(reshape(repeated, [rows, count * 2 ** i, dim]), 1, 0, places);
	});
	return norm(within(p, "views.norm"), whole.reduce(add));
}

/** The hidden state of each query; all are predicted at once, after the window's last positions. */
export function decoder(
	config: InformerConfig,
	p: Weights,
	{ x, mask }: Places,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim, decoderLayers } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const from = places - Math.min(config.start, places);
	const decoderInput = (t: Tensor, rest: Tensor) => concat([slice(t, 1, from), rest], 1);
	const codes = decoderInput(embedded(p, window), filled(0, [rows, ahead, dim], dtype));
	const times = decoderInput(marksBefore(window), marksAfter(queries));
	const known = decoderInput(window.mask, filled(1, [rows, ahead], dtype));

	const memory = { x: norm(within(p, "encoder.norm"), x), mask };
	let y = read(own, codes, times);
	for (let i = 0; i < decoderLayers; i++)
		y = layer(config, within(own, `layers.${i}`), { x: y, mask: known }, memory);
	return norm(within(own, "norm"), slice(y, 1, -ahead));
}

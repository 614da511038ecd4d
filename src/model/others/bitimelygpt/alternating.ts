import {
	add,
	concat,
	expand,
	filled,
	flip,
	reshape,
	slice,
	sub,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import {
	type ElapsedTimes,
	type Reading,
	type RetentionSettings,
	readingOf,
	retention,
	retentionWeights,
} from "../../nn/retention.js";
import {
	nested,
	normal,
	numbered,
	type WeightSpecs,
	type Weights,
	within,
} from "../../nn/weights.js";

export interface AlternatingSettings extends RetentionSettings {
	/** Even. */
	readonly layers: number;
	readonly ff: number;
}

export function alternatingWeights({ layers, dim, ff }: AlternatingSettings): WeightSpecs {
	const layer = {
		...nested("retention", retentionWeights(dim)),
		...nested("retentionNorm", normWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForwardNorm", normWeights(dim)),
	};
	return {
		end: normal([dim], 1), // [EOS]
		...numbered("layers", layers, layer),
		...nested("norm", normWeights(dim)),
	};
}

/** With a place for [EOS], at the time of the last. */
function withEnd({ days, gaps, mask }: Required<ElapsedTimes>): Required<ElapsedTimes> {
	const constantly = (value: number) => filled(value, [gaps.shape[0] as number, 1], gaps.dtype);
	return {
		days: concat([days, slice(days, 1, -1)], 1),
		gaps: concat([gaps, constantly(0)], 1),
		mask: concat([mask, constantly(1)], 1),
	};
}

/** The places in reverse order, time counted from the last back. */
function flipped({ days, gaps, mask }: Required<ElapsedTimes>): Required<ElapsedTimes> {
	const none = filled(0, [gaps.shape[0] as number, 1], gaps.dtype);
	return {
		days: flip(sub(slice(days, 1, -1), days), 1),
		// The gap before a place is now before the one that it came after.
		gaps: concat([none, flip(slice(gaps, 1, 1), 1)], 1),
		mask: flip(mask, 1),
	};
}

/**
 * Odd layers read the places in their order, even ones in reverse: between layers the sequence is
 * flipped. Gives the views of the last two, both in the places' order.
 */
export function alternating(
	settings: AlternatingSettings,
	p: Weights,
	vectors: Tensor, // [rows, places, dim]
	places: Required<ElapsedTimes>,
): { readonly forwards: Tensor; readonly backwards: Tensor } {
	const [rows, count, dim] = vectors.shape as [number, number, number];
	const ended = withEnd(places);
	const readings = [ended, flipped(ended)].map((order) => readingOf(order, settings));
	const end = expand(reshape(p("end"), [1, 1, dim]), [rows, 1, dim]);
	const view = (x: Tensor) => norm(within(p, "norm"), slice(x, 1, 0, count));

	let x = concat([vectors, end], 1);
	let forwards = x;
	for (let i = 0; i < settings.layers; i++) {
		const q = within(p, `layers.${i}`);
		if (i > 0) x = flip(x, 1);
		const reading = readings[i % 2] as Reading;
		const normed = norm(within(q, "retentionNorm"), x);
		x = add(x, retention(within(q, "retention"), normed, reading).output);
		x = add(x, feedForward(within(q, "feedForward"), norm(within(q, "feedForwardNorm"), x)));
		if (i === settings.layers - 2) forwards = x;
	}
	return { forwards: view(forwards), backwards: view(flip(x, 1)) };
}

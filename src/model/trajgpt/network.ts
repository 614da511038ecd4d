import type { Dim, FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { codeHead } from "../heads.js";
import type { Parameters } from "../model.js";
import * as nn from "../nn/index.js";
import { decayIsFixed, type TrajgptConfig } from "./config.js";
import { initialDecay, logDecayOf, overGaps } from "./decay.js";
import * as attention from "./layer.js";

const waves = 8;
export const gapFeatureCount = 2 + 2 * waves;

/**
 * Features of the days since the event before: the logarithm, sines and cosines of it, and whether
 * there are any. Negative gaps count as 0.
 */
export function gapFeatures(days: Tensor): Tensor {
	const since = days.maximum(0);
	const level = nn.timeLevel(days); // 0 … 1
	const turns = Array.from({ length: waves }, (_, i) => Math.PI * (i + 1));
	const angles = level
		.reshape([...days.shape, 1])
		.mul(graph.constant(turns, [waves], days.dtype as FloatType)); // [batch, n, waves]
	const pairs = graph.stack([angles.sin(), angles.cos()], 3).reshape([...days.shape, 2 * waves]);
	return graph.concat([graph.stack([level, since.neg().exp()], 2), pairs], 2); // [batch, n, gapFeatures]
}

interface SlotStream {
	readonly batch: number;
	readonly slots: number;
	readonly mask: Tensor | undefined; // [batch, slots]
	/** How many slots came before; none if left out. */
	readonly seen: Tensor | undefined; // [batch, 1]
	readonly queries: { readonly tokens: Tensor; readonly read: attention.Reading } | undefined;
	readonly dtype: FloatType;
}

/**
 * The position of each slot in its history, from 0; a query has that of a slot at the state
 * it reads. Padding is not counted.
 */
export function positionsOf({ batch, slots, mask, seen, queries, dtype }: SlotStream): {
	readonly positions: Tensor; // [batch, slots + queries], as floats
	/** How many slots have come after these. */
	readonly seen: Tensor; // [batch, 1]
} {
	const from = seen ?? graph.filled(0, [batch, 1], dtype);
	const ends = mask ? mask.sum(1, true) : graph.filled(slots, [batch, 1], dtype); // [batch, 1]
	const order = graph.constant([...Array(slots).keys()], [1, slots], dtype);
	const ofSlots = mask ? mask.cumulativeSum(1, { exclusive: true }) : order.expand([batch, slots]);
	const streams = slots > 0 ? [ofSlots] : [];
	if (queries) {
		const { tokens, read } = queries;
		if (read === "before") streams.push(ofSlots);
		else if (read === "after") streams.push(ends.expand(tokens.shape));
		else streams.push(read.positions.cast(dtype).minimum(ends)); // past a row's end is its end
	}
	return { positions: graph.concat(streams, 1).add(from), seen: from.add(ends) };
}

/** The embedding has entries of size 1: as a head it is scaled as a fresh head would be. */
const headOf = ({ head, dim }: TrajgptConfig) =>
	codeHead(head === "tied" ? { deviation: 1, scale: 1 / Math.sqrt(dim) } : undefined);

const matrix = (outside: number, inside: number, size = 1): nn.WeightSpec =>
	nn.normal([outside, inside], size / Math.sqrt(inside));

/** Every learned tensor. Matrices are [out, in]. */
export function trajgptWeights(c: TrajgptConfig): nn.WeightSpecs {
	// Residual branches start small, so that depth does not grow the stream.
	const residual = 1 / Math.sqrt(2 * c.layers);
	const layer = {
		query: matrix(c.key, c.dim),
		key: matrix(c.key, c.dim),
		value: matrix(c.value, c.dim),
		gate: matrix(c.value, c.dim),
		...(!decayIsFixed(c) && {
			decay: nn.filledWith(0, [c.heads, c.dim]),
			decayBias: nn.listed([c.heads], initialDecay(c.heads)),
		}),
		out: matrix(c.dim, c.value, residual),
		up: matrix(c.ff, c.dim),
		down: matrix(c.dim, c.ff, residual),
	};
	return {
		embedding: nn.normal([c.vocab, c.dim], 1),
		// As GPT-2's.
		...(c.position === "absolute" && { positions: nn.normal([c.positions, c.dim], 0.02) }),
		...(c.gap === "embedded" && { gap: matrix(c.dim, gapFeatureCount) }),
		...nn.numbered("layers", c.layers, layer),
		...attention.countingWeights(c),
		...headOf(c).weights(c),
	};
}

/** A run of slots: the token before, the slot's time, and the time since the slot before. */
export interface Slots {
	readonly tokens: Tensor; // [batch, length], int32
	readonly times: Tensor; // [batch, length], float64, or their angles [batch, length, half]
	readonly gaps: Tensor; // [batch, length]
}

export interface NetworkInputs {
	/** If left out, queries read the states as they are. */
	readonly slots?: Slots | undefined;
	/** 1 at events, 0 at padding. If left out, there is no padding, or the outputs after the end of a row are ignored. */
	readonly mask?: Tensor | undefined; // [batch, length]
	readonly states?: readonly Tensor[] | undefined; // [layers] of [batch, heads, key / heads, value / heads]
	/** Of the counting heads, if there are any. */
	readonly counts?: Tensor | undefined; // [batch, copies, 1, vocab]
	/**
	 * Queries, which do not change the states. Those of the horizon objective read `before`
	 * the slot of the same index, those of inference `after` the last or at given positions.
	 */
	readonly queries?: (Slots & { readonly read: attention.Reading }) | undefined;
	/** How many of the queries, from the first, have logits; all if left out. */
	readonly predicting?: number | undefined;
	/** Whether some gap of a query is negative: its time is before that of the state. */
	readonly backwards?: boolean | undefined;
	/** Whether a query decays the state by one event, as a slot does, where the model decays by event. */
	readonly asNextEvent?: boolean | undefined;
	/** Whether only queries have outputs: in the last layer, slots then need keys and values alone. */
	readonly queriesOnly?: boolean | undefined;
	/** Selects outputs among slots and queries. */
	readonly selected?: SelectedOutputs | undefined;
	/** How many slots came before, where positions are not times; none if left out. */
	readonly seen?: Tensor | undefined; // [batch, 1]
	/** Of the attention: the fastest for the length, unless given. */
	readonly form?: nn.SraForm | undefined;
}

interface SelectedOutputs {
	/** Inputs of the last layer: all slots, then the selected cells, as indices into the slots and queries of all rows. */
	readonly stream: Tensor; // [batch, length + answers], int32
	/** The states that the selected cells read. */
	readonly positions: Tensor; // [batch, answers], int32
}

/** The pairs of a head that turn with time, and their periods. */
export const rotaryOf = ({ key, heads, ...config }: TrajgptConfig) => ({
	half: Math.floor(key / heads / 2),
	range: {
		shortestPeriod: config.shortestPeriodDays,
		longestPeriod: config.longestPeriodDays,
	},
});

export function network(
	config: TrajgptConfig,
	parameters: Parameters,
	{
		slots,
		mask,
		states,
		counts,
		queries,
		predicting,
		backwards = false,
		asNextEvent = false,
		queriesOnly = false,
		selected,
		seen,
		form,
	}: NetworkInputs,
) {
	const p = nn.weightsOf(parameters);
	const dtype = p("embedding").dtype as FloatType;
	const norm = attention.normOf(config);
	// Slots and queries share the matrix products, so that weights are read once.
	const streams = [slots, queries].filter((s) => s !== undefined);
	const joined = (part: (s: Slots) => Tensor) => graph.concat(streams.map(part), 1);
	let tokens = joined((s) => s.tokens); // [batch, n]
	let gaps = joined((s) => s.gaps);
	const [batch, n] = tokens.shape as [Dim, Dim];
	const length = slots?.tokens.shape[1] ?? 0;
	const { position } = config;
	const { half, range } = rotaryOf(config);

	let x = graph.gather(p("embedding"), tokens); // [batch, n, dim]
	const numbered =
		position === "time"
			? undefined
			: positionsOf({
					// Not left open: see `predictor`.
					batch: batch as number,
					slots: length as number,
					mask,
					seen,
					queries,
					dtype,
				});
	const times = joined((s) => s.times);
	// Angles of indices may be float32: there are no centuries of events.
	const turning = numbered ? numbered.positions.cast(times.dtype) : times;
	let angles = position === "absolute" ? undefined : nn.timeAngles(turning, half, range, dtype);
	if (numbered && position === "absolute") {
		const known = numbered.positions.minimum(config.positions - 1); // beyond, all stand at the last
		x = x.add(graph.gather(p("positions"), known.cast("int32")));
	}
	if (config.gap === "embedded") x = x.add(nn.product(gapFeatures(gaps), p("gap")));
	let embedded = norm(x);
	let read = queries?.read;
	const finalStates: Tensor[] = [];
	const decayRates: Tensor[] = [];
	const updates: attention.StateUpdate[] = [];
	for (let i = 0; i < config.layers; i++) {
		const isLast = i === config.layers - 1;
		if (selected && isLast) {
			const take = (t: Tensor) =>
				graph.gather(
					t.reshape([graph.multiplyDims(batch, n), ...t.shape.slice(2)]),
					selected.stream,
				);
			[x, embedded, tokens, gaps] = [take(x), take(embedded), take(tokens), take(gaps)];
			angles = angles && { cosine: take(angles.cosine), sine: take(angles.sine) };
			read = { positions: selected.positions };
		}
		const out = attention.layer(config, nn.within(p, `layers.${i}`), {
			x,
			angles,
			logDecayOf: (rate) =>
				logDecayOf(config, rate, { gaps, slots: length, backwards, asNextEvent }),
			slots: length,
			read,
			mask,
			state: states?.[i],
			form,
			// Outputs of slots that are not selected are not used.
			...(queriesOnly && isLast && { wanted: (t: Tensor) => t.slice(1, length) }),
		});
		x = out.x;
		finalStates.push(out.state);
		decayRates.push(out.decayRate);
		updates.push(out.update);
	}
	const hidden = norm(x);
	/** Of slots and queries, those with logits. */
	const coded = (t: Tensor) =>
		predicting === undefined ? t : t.slice(1, 0, graph.addDims(length, predicting));
	const codeLogits = headOf(config).outputs(p, coded(hidden));
	const readOf = (queries: number): attention.Reading | undefined => {
		if (queries === 0) return undefined;
		return typeof read === "object" ? { positions: read.positions.slice(1, 0, queries) } : read;
	};
	const copied =
		config.copies > 0
			? attention.countingLogits(config, p, {
					tokens: coded(tokens),
					embedded: coded(embedded),
					hidden: coded(hidden),
					overGaps: (rate) => overGaps(rate, { gaps: coded(gaps), backwards }),
					slots: length,
					read: predicting === undefined ? read : readOf(predicting),
					mask,
					state: counts,
					form,
				})
			: undefined;
	const logits = copied ? codeLogits.add(copied.logits) : codeLogits;
	return {
		states: finalStates, // as the inputs, and so are:
		counts: copied?.state,
		seen: numbered?.seen,
		/** log γ of one unit of time, or of one event where the model decays by event. */
		decayRates, // [layers] of [batch, heads, length + queries]
		/** What slots and queries would add to the states of the layers, and then to the counts. */
		updates: copied ? [...updates, copied.update] : updates,
		...(slots &&
			!queriesOnly && {
				logits: logits.slice(1, 0, length), // [batch, length, vocab]
				hidden: hidden.slice(1, 0, length), // [batch, length, dim]
			}),
		...((queries ?? selected) && {
			...(predicting !== 0 && { queryLogits: queriesOnly ? logits : logits.slice(1, length) }),
			queryHidden: queriesOnly ? hidden : hidden.slice(1, length),
		}),
	};
}

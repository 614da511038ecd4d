import type { FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { joinHeads, linearWeights, project, splitHeads } from "./layers.js";
import { type Angles, rotate, timeAngles } from "./positions.js";
import { readAtPositions, sra } from "./sra.js";
import { nested, type WeightSpecs, type Weights } from "./weights.js";

/** Time in which pair i of a query fades to ζ_i. */
const scaleBase = 512;

/**
 * Where a scale stops. A key grows as much as a query fades, so e⁴⁰ is also the largest product of
 * a key and an earlier query, which the mask of time takes away: it must be finite for that.
 */
const mostFaded = 40;

/** −log ζ_i, with ζ_i = (2i + 0.4 size) / (1.4 size). */
const fadings = (size: number) =>
	Array.from({ length: size / 2 }, (_, i) => -Math.log((2 * i + 0.4 * size) / (1.4 * size)));

/**
 * Extrapolatable positions (Sun et al. 2023), at times that count from the row's first place: pair i
 * of a query is turned by θ_i t and scaled by ζ_i^(t / 512), of a key by θ_i t and ζ_i^(−t / 512),
 * with θ_i = 10000^(−2i / size). So q_n · k_m depends on t_n − t_m alone, and fades with it. [rows, places, size / 2]
 */
export function xpos(
	times: Tensor, // [rows, places], at least 0
	/** Of a head's queries; even. */
	size: number,
	/** What queries are multiplied by, beside. */
	factor = 1,
) {
	const half = size / 2;
	const dtype = times.dtype as FloatType;
	const { cosine, sine } = timeAngles(
		times.cast("float64"),
		half,
		{
			shortestPeriod: 2 * Math.PI,
			longestPeriod: 2 * Math.PI * 10000 ** ((half - 1) / half),
		},
		dtype,
	);
	const rates = graph.constant(
		fadings(size).map((rate) => rate / scaleBase),
		[half],
		dtype,
	);
	const faded = times
		.reshape([...times.shape, 1])
		.mul(rates)
		.minimum(mostFaded);
	const scaled = (scale: Tensor): Angles => ({
		cosine: cosine.mul(scale),
		sine: sine.mul(scale),
	});
	return { queries: scaled(faded.neg().exp().mul(factor)), keys: scaled(faded.exp()) };
}

/** γ_h of one unit of time: 1 − exp(linspace(log 1/64, log 1/512)). */
export const headDecays = (heads: number): number[] =>
	Array.from({ length: heads }, (_, h) => 1 - 8 ** (-h / Math.max(1, heads - 1)) / 64);

export interface ElapsedTimes {
	/** Elapsed since the place that is read first. */
	readonly days: Tensor; // [rows, places]
	/** Elapsed since the place that is read before. */
	readonly gaps: Tensor; // [rows, places]
	/** 1 at events, 0 at padding; if left out, padding comes after all events. */
	readonly mask?: Tensor; // [rows, places]
}

export interface RetentionSettings {
	readonly heads: number;
	readonly dim: number;
	/** Days in the unit of time of decays and positions. */
	readonly decayUnitDays: number;
}

/** Decays and positions of places: the same for all layers that read them in this order. */
export function readingOf(
	{ days, gaps, mask }: ElapsedTimes,
	{ heads, dim, decayUnitDays }: RetentionSettings,
) {
	const [rows, places] = gaps.shape as [number, number];
	const size = dim / heads;
	const rates = headDecays(heads).map((decay) => Math.log(decay) / decayUnitDays);
	const elapsed = (mask ? gaps.mul(mask) : gaps).reshape([rows, 1, places]);
	return {
		positions: xpos(days.mul(1 / decayUnitDays), size, 1 / Math.sqrt(size)),
		logDecay: elapsed.mul(graph.constant(rates, [heads, 1], gaps.dtype)), // [rows, heads, places]
		mask,
	};
}

/** What retention needs to know of the places, in the order in which they are read. */
type Reading = ReturnType<typeof readingOf>;

/** What a layer holds of the places that it has read. */
export interface Retained {
	readonly k: Tensor; // [rows, heads, places, size], as v
	readonly v: Tensor;
	readonly logDecay: Tensor; // [rows, heads, places]
	/** After a row's last place. */
	readonly state: Tensor; // [rows, heads, size, size]
}

const parts = ["query", "key", "value", "gate", "out"] as const;

export const retentionWeights = (width: number): WeightSpecs =>
	Object.assign(
		{},
		...parts.map((part) => nested(part, linearWeights(width, width, { bias: false }))),
	);

/** y = W_o (silu(W_g x) ⊙ norm(o)). */
const gatedOut = (p: Weights, x: Tensor, read: Tensor): Tensor =>
	project(p, "out", graph.silu(project(p, "gate", x)).mul(joinHeads(graph.layerNorm(read))));

/**
 * Multi-scale retention (Sun et al. 2023) over elapsed time, head by head:
 *   o_n = Σ_{m ≤ n} γ_h^(t_n − t_m) (q_n · k_m / √size) v_m,   y = W_o (silu(W_g x) ⊙ norm(o)).
 */
export function retention(
	p: Weights,
	x: Tensor,
	{ positions, logDecay, mask }: Reading,
): { readonly output: Tensor; readonly retained: Retained } {
	const [rows, heads, places] = logDecay.shape as [number, number, number];
	const split = (name: (typeof parts)[number]) => splitHeads(project(p, name, x), heads); // [rows, heads, places, size]
	const turned = rotate(split("key"), positions.keys);
	const k = mask ? turned.mul(mask.reshape([rows, 1, places, 1])) : turned;
	const v = split("value");
	const q = rotate(split("query"), positions.queries);
	const { output, finalState: state } = sra({ q, k, v, logDecay });
	return { output: gatedOut(p, x, output), retained: { k, v, logDecay, state } };
}

/** Query n of a row reads the state after place n, or after as many places as it names; otherwise all read the last. */
interface QueriedState {
	readonly each: boolean;
	readonly positions?: Tensor; // [rows, queries], int32
}

/** Queries, which read the retained state without changing it: `days` counts from the first event, `gaps` from the last one observed. */
export function retentionQueries(
	{ days, gaps }: ElapsedTimes,
	settings: RetentionSettings,
	from: QueriedState,
) {
	// Before the first event nothing is held that could be any fresher.
	const { positions, logDecay } = readingOf({ days: days.relu(), gaps: gaps.relu() }, settings);
	return {
		queries: positions.queries, // [rows, queries, size / 2]
		/** What is left of the state at the query times. */
		decay: logDecay.exp(), // [rows, heads, queries]
		from,
	};
}

function stateRead(q: Tensor, held: Retained, { each, positions }: QueriedState): Tensor {
	if (each) return sra({ ...held, q }).output;
	if (!positions) return q.matmul(held.state);
	return readAtPositions({ ...held, queries: q, positions, initialState: undefined });
}

/**
 * Retention at times after the places, which stay as they are: with the state S_n after place n,
 *   o(t) = q(t) γ_h^(t − t_n) S_n / √size.
 */
export function queryRetention(
	p: Weights,
	x: Tensor,
	held: Retained,
	at: ReturnType<typeof retentionQueries>,
): Tensor {
	const heads = at.decay.shape[1] as number;
	const turned = rotate(splitHeads(project(p, "query", x), heads), at.queries);
	const q = turned.mul(at.decay.reshape([...at.decay.shape, 1])); // [rows, heads, queries, size]
	return gatedOut(p, x, stateRead(q, held, at.from));
}

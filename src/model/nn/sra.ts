import type { Dim, FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";

/**
 * Selective recurrent attention, one head at a time:
 *   S_n = γ_n S_{n-1} + k_nᵀ v_n,   o_n = q_n S_n,   γ_n = exp(logDecay_n).
 */
interface SraInputs {
	readonly q: Tensor; // [batch, heads, length, key]
	readonly k: Tensor; // [batch, heads, length, key]
	readonly v: Tensor; // [batch, heads, length, value]
	readonly logDecay: Tensor; // [batch, heads, length], at most 0
	readonly initialState?: Tensor | undefined; // [batch, heads, key, value]; zeros if left out
	/** A second set of queries, which read the state before each slot: q'_n S_{n-1}. */
	readonly before?: Tensor | undefined; // [batch, heads, length, key]
}

interface SraOutputs {
	readonly output: Tensor; // [batch, heads, length, value]
	readonly finalState: Tensor; // [batch, heads, key, value]
	/** What the second queries read; there when they were given. */
	readonly before?: Tensor | undefined; // [batch, heads, length, value]
}

export type SraForm = (inputs: SraInputs) => SraOutputs;

/** Added to an exponent, this makes a weight of exactly 0 with a gradient of exactly 0. */
const never = -1e30;

const tables = new Map<string, Tensor>();

/** A constant matrix, which layers and graphs share. */
function table(
	name: string,
	n: number,
	value: (i: number, j: number) => number,
	dtype: FloatType,
): Tensor {
	const key = `${name} ${n} ${dtype}`;
	const known = tables.get(key);
	if (known) return known;
	const data = Float64Array.from({ length: n * n }, (_, at) => value(Math.floor(at / n), at % n));
	const made = graph.constant(data, [n, n], dtype);
	tables.set(key, made);
	return made;
}

/** Adds an axis of size 1 at the end. */
const column = (x: Tensor): Tensor => x.reshape([...x.shape, 1]);

const floatType = (x: Tensor) => x.dtype as FloatType;

/**
 * Decay between slots: weight (i, j) is exp Σ logDecay_t over j < t ≤ i + shift, and 0 where j > i + shift.
 * [..., n] → [..., n, n]
 */
function decayWeights(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const mask = table(
		`mask${shift}`,
		n,
		(i, j) => (j <= i + shift ? 0 : never),
		floatType(logDecay),
	);
	return graph.segmentSums(logDecay, shift).add(mask).exp();
}

/** Decay from the start of the sequence to each slot, with its own step (shift 0) or without it (−1). [..., n] */
function decayFromStart(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table(`upTo${shift}`, n, (i, t) => Number(t <= i + shift), floatType(logDecay));
	return sumsOver(logDecay, members).exp();
}

/** Decay from each slot to the end of the sequence. [..., n] */
function decayToEnd(logDecay: Tensor): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table("after", n, (j, t) => Number(t > j), floatType(logDecay));
	return sumsOver(logDecay, members).exp();
}

const sumsOver = (logDecay: Tensor, members: Tensor): Tensor =>
	logDecay.matmul(members, { transposeB: true });

/** One slot: S = γ S + kᵀ v, o = q S, the paper's Eq. 2. */
function step(
	state: Tensor, // [batch, heads, key, value]
	q: Tensor, // [batch, heads, 1, key]
	k: Tensor, // [batch, heads, 1, key]
	v: Tensor, // [batch, heads, 1, value]
	logDecay: Tensor, // [batch, heads, 1]
): { readonly state: Tensor; readonly output: Tensor } {
	const decay = logDecay.reshape([...logDecay.shape, 1]).exp();
	const after = state.mul(decay).add(k.matmul(v, { transposeA: true }));
	return { state: after, output: q.matmul(after) };
}

/** One slot after another. */
export const recurrent: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	const [batch, heads, length, key] = q.shape as [number, number, number, number];
	let state = initialState ?? graph.filled(0, [batch, heads, key, v.shape[3] as number], q.dtype);
	const slots = (x: Tensor) => x.split(2, new Array<number>(length).fill(1));
	const parts = [q, k, v, logDecay].map(slots);
	const queries = before && slots(before);
	const outputs: Tensor[] = [];
	const reads: Tensor[] = [];
	for (let n = 0; n < length; n++) {
		if (queries) reads.push(queries[n].matmul(state));
		const [qn, kn, vn, decay] = parts.map((x) => x[n]) as [Tensor, Tensor, Tensor, Tensor];
		const slot = step(state, qn, kn, vn, decay);
		state = slot.state;
		outputs.push(slot.output);
	}
	return {
		output: graph.concat(outputs, 2),
		finalState: state,
		before: before && graph.concat(reads, 2),
	};
};

/** All slots at once: O = (Q Kᵀ ⊙ D) V, the paper's Eq. 6. Quadratic in length; best for short ones. */
export const parallel: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	const read = (queries: Tensor, shift: 0 | -1) => {
		const scores = queries.matmul(k, { transposeB: true }); // [batch, heads, n, n]
		const inside = scores.mul(decayWeights(logDecay, shift)).matmul(v);
		if (!initialState) return inside;
		const carried = queries.mul(column(decayFromStart(logDecay, shift)));
		return inside.add(carried.matmul(initialState));
	};
	const added = k.mul(column(decayToEnd(logDecay))).matmul(v, { transposeA: true });
	const total = column(logDecay.sum(-1, true).exp()); // [batch, heads, 1, 1]
	return {
		output: read(q, 0),
		finalState: initialState ? added.add(initialState.mul(total)) : added,
		before: before && read(before, -1),
	};
};

/**
 * Parallel inside chunks, a state between them: O(N) in time and memory. The states between
 * chunks obey the same recurrence as the slots, S_c = Γ_c S_{c-1} + U_c, and are found the
 * same way, in groups of chunks, groups of groups …
 */
export const chunkwise =
	(chunk: number): SraForm =>
	({ q, k, v, logDecay, initialState, before }) => {
		const [batch, heads, length, key] = q.shape as [number, number, number, number];
		const value = v.shape[3] as number;
		if (length <= chunk) return parallel({ q, k, v, logDecay, initialState, before });
		const count = Math.ceil(length / chunk);
		const last = count - 1;
		// A padded slot adds nothing (k = 0) and decays nothing (log 1 = 0).
		const fill = count * chunk - length;
		const chunks = (x: Tensor, size: number) =>
			x.pad(2, 0, fill).reshape([batch, heads, count, chunk, size]);
		const steps = logDecay.pad(2, 0, fill).reshape([batch, heads, count, chunk]);
		const kc = chunks(k, key);
		const vc = chunks(v, value);

		/** What chunks [start, end) add to the state: Σ γ…γ kᵀ v. */
		const added = (start: number, end: number) => {
			const part = (x: Tensor) => x.slice(2, start, end);
			const decayed = part(kc).mul(column(decayToEnd(part(steps))));
			return decayed
				.matmul(part(vc), { transposeA: true })
				.reshape([batch, heads, end - start, key * value]);
		};
		const totals = steps.sum(-1); // [batch, heads, count]
		const first = initialState?.reshape([batch, heads, 1, key * value]);
		// Of two or three chunks that start from nothing, the first has no state to read and the last
		// none to hand on: leaving them out saves more than the copies of the others cost.
		const skip = !first && count <= 3;
		const from = skip ? 1 : 0;
		const upTo = skip ? last : count;
		const after = statesAfter(totals.slice(2, 0, upTo), added(0, upTo), first);
		const zeros = () => graph.filled(0, [batch, heads, 1, key * value], q.dtype);
		const starts = skip ? after : graph.concat([first ?? zeros(), after.slice(2, 0, last)], 2);
		const states = starts.reshape([batch, heads, -1, key, value]);

		const read = (queries: Tensor, shift: 0 | -1) => {
			const qc = chunks(queries, key);
			const scores = qc.matmul(kc, { transposeB: true }); // [batch, heads, count, chunk, chunk]
			const inside = scores.mul(decayWeights(steps, shift)).matmul(vc);
			const decay = column(decayFromStart(steps.slice(2, from), shift));
			const carried = qc.slice(2, from).mul(decay).matmul(states);
			const all = inside.add(carried.pad(2, from, 0));
			return all.reshape([batch, heads, count * chunk, value]).slice(2, 0, length);
		};
		const final = () => {
			if (!skip) return after.slice(2, last);
			const carried = after.slice(2, last - 1).mul(column(totals.slice(2, last).exp()));
			return carried.add(added(last, count));
		};
		return {
			output: read(q, 0),
			finalState: final().reshape([batch, heads, key, value]),
			before: before && read(before, -1),
		};
	};

/** Chunks that are joined by one matrix of weights. */
const group = 16;

/**
 * The state after each chunk, from each chunk's total log-decay [batch, heads, count], what it
 * adds [batch, heads, count, size] and the state before the first [batch, heads, 1, size].
 */
function statesAfter(logDecay: Tensor, added: Tensor, initial: Tensor | undefined): Tensor {
	const [batch, heads, count, size] = added.shape as [number, number, number, number];
	const carried = (states: Tensor) =>
		initial ? states.add(column(decayFromStart(logDecay, 0)).mul(initial)) : states;
	if (count === 1) return carried(added);
	if (count <= group) return carried(decayWeights(logDecay, 0).matmul(added));
	const groups = Math.ceil(count / group);
	const fill = groups * group - count;
	const steps = logDecay.pad(2, 0, fill).reshape([batch, heads, groups, group]);
	const parts = added.pad(2, 0, fill).reshape([batch, heads, groups, group, size]);
	const ends = decayToEnd(steps).reshape([batch, heads, groups, 1, group]).matmul(parts);
	const between = statesAfter(steps.sum(-1), ends.reshape([batch, heads, groups, size]), initial);
	// Each group starts where the one before it ended.
	const previous = between.slice(2, 0, groups - 1);
	const starts = initial ? graph.concat([initial, previous], 2) : previous.pad(2, 1, 0);
	const states = decayWeights(steps, 0)
		.matmul(parts)
		.add(column(decayFromStart(steps, 0)).mul(starts.reshape([batch, heads, groups, 1, size])));
	return states.reshape([batch, heads, groups * group, size]).slice(2, 0, count);
}

/** On a CPU, chunks of 64 and 128 slots take the same time; on a GPU, 128 are faster (`node bench/main.mjs step`). */
const inChunks = chunkwise(128);

/** The fastest form for the length: one slot needs no matrix of decays. */
export const sra: SraForm = (inputs) => (inputs.q.shape[2] === 1 ? recurrent : inChunks)(inputs);

const chunk = 32;

/**
 * The chunkwise form for a length that is known only when it runs, and so is the number of chunks. Inside a
 * chunk all is as in `nn/sra`; the chunks themselves are joined by one matrix of decays, whose masks are made
 * when their number is known.
 */
export const anyLength: SraForm = ({ q, k, v, logDecay, initialState, before }) => {
	if (before) throw new Error("this form reads after each slot alone");
	const [batch, heads, length, key] = q.shape as [Dim, number, Dim, number];
	const value = v.shape[3] as number;
	const chunks = graph.isOpen(length) ? "chunks" : Math.ceil(length / chunk);
	const cut = (x: Tensor) => graph.chunked(x, chunk, chunks);
	const [qc, kc, vc, steps] = [q, k, v, logDecay].map(cut) as [Tensor, Tensor, Tensor, Tensor];

	const decayed = kc.mul(column(decayToEnd(steps)));
	const flat = [batch, heads, chunks, key * value];
	const added = decayed.matmul(vc, { transposeA: true }).reshape(flat);
	const totals = steps.sum(-1); // [batch, heads, chunks]
	const first = initialState?.reshape([batch, heads, 1, key * value]);
	/** With what is left of the state before the first chunk. */
	const after = (sum: Tensor, decay: () => Tensor) =>
		first ? sum.add(column(decay().exp()).mul(first)) : sum;
	const starts = after(decayBetween(totals).matmul(added), () =>
		totals.cumulativeSum(-1, { exclusive: true }),
	);
	const states = starts.reshape([batch, heads, chunks, key, value]);
	const toEnd = totals.cumulativeSum(-1, { exclusive: true, reverse: true }).exp();
	const last = after(toEnd.reshape([batch, heads, 1, chunks]).matmul(added), () =>
		totals.sum(-1, true),
	);

	const scores = qc.matmul(kc, { transposeB: true }).mul(decayWeights(steps, 0));
	const carried = qc.mul(column(decayFromStart(steps, 0))).matmul(states);
	const all = scores
		.matmul(vc)
		.add(carried)
		.reshape([batch, heads, graph.multiplyDims(chunks, chunk), value]);
	return {
		output: all.slice(2, 0, length),
		finalState: last.reshape([batch, heads, key, value]),
	};
};

/** Weight (i, j) of what chunk j added in the state before chunk i: exp Σ totals_t over j < t < i, and 0 where j ≥ i. */
function decayBetween(totals: Tensor): Tensor {
	const count = totals.shape[2];
	const places = graph.placesAlong(totals, 2);
	const [down, across] = [places.reshape([count, 1]), places.reshape([1, count])];
	const zero = graph.constant([0], [1, 1]);
	// Row t of column j holds total_t if j < t; running sums down the rows end before i.
	const below = graph.where(across.less(down), column(totals), zero);
	const sums = below.cumulativeSum(-2, { exclusive: true });
	return sums.add(graph.where(across.less(down), zero, graph.constant([never], [1, 1]))).exp();
}

interface QueriesAtPositions {
	readonly queries: Tensor; // [batch, heads, queries, key]
	/** How many slots come before each query, from none to all. */
	readonly positions: Tensor; // [batch, queries], int32
	readonly k: Tensor; // [batch, heads, slots, key]
	readonly v: Tensor; // [batch, heads, slots, value]
	readonly logDecay: Tensor; // [batch, heads, slots]
	readonly initialState: Tensor | undefined; // [batch, heads, key, value]; zeros if left out
}

/**
 * What queries between the slots read, many at one place or none: q S_p, where S_p is the state
 * after the first p slots. In the parallel form: no state between slots is ever made.
 * [batch, heads, queries, value]
 */
export function readAtPositions(x: QueriesAtPositions): Tensor {
	const [batch, heads, slots] = x.logDecay.shape as [Dim, number, Dim];
	const count = x.positions.shape[1];
	const places = x.positions.cast("float32").reshape([batch, 1, count, 1]);
	const earlier = graph.placesAlong(x.logDecay, 2).less(places); // [batch, 1, queries, slots]
	// What a slot left fades by the steps after it that come before the query.
	const steps = graph.where(earlier, x.logDecay.reshape([batch, heads, 1, slots]), 0);
	const fading = steps.cumulativeSum(-1, { exclusive: true, reverse: true }).exp();
	const scores = x.queries.matmul(x.k, { transposeB: true });
	const inside = scores.mul(graph.where(earlier, fading, 0)).matmul(x.v);
	if (!x.initialState) return inside;
	const carried = x.queries.mul(steps.sum(-1, true).exp());
	return inside.add(carried.matmul(x.initialState));
}

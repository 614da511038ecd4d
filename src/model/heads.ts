import type { Feeds } from "../engine/runtime/index.js";
import { input, type Tensor } from "../engine/tensor/index.js";
import type { HazardSettings } from "./hazards/settings.js";
import type { BatchShape, EventBatch, Head, Model, Parameters, States } from "./model.js";
import { listed, normal, weightsOf } from "./nn/weights.js";

export interface CodeConfig {
	readonly vocab: number;
	readonly dim: number;
	readonly hazards?: HazardSettings | null;
}

/** Where the head reads the tokens' own vectors: their deviation at the start, and what logits are scaled by. */
export interface Tied {
	readonly deviation: number;
	readonly scale?: number;
}

/** Logits of every token: a hidden state is compared with the tokens' own vectors, or with others. */
export const codeHead = (tied?: Tied): Head<CodeConfig> => ({
	weights: ({ vocab, dim }) => ({
		embedding: normal([vocab, dim], tied?.deviation ?? 1),
		...(!tied && { head: normal([vocab, dim], 1 / Math.sqrt(dim)) }),
	}),
	outputs(p, hidden) {
		const logits = hidden.matmul(p(tied ? "embedding" : "head"), { transposeB: true });
		return tied?.scale ? logits.mul(tied.scale) : logits;
	},
});

const weightsName = "pool.weights";

/** The mean hidden state over the slots of each row that are not padding: [rows, length, dim] → [rows, dim]. */
export function meanState(hidden: Tensor): Tensor {
	const [rows, length] = hidden.shape as [number, number, number];
	const weights = input(weightsName, [rows, 1, length], hidden.dtype);
	return weights.matmul(hidden).reshape([rows, -1]);
}

/** What `meanState` is fed: 1 / events on each slot. */
export function poolFeeds({ rows, length, lengths }: EventBatch): Record<string, Float32Array> {
	const weights = new Float32Array(rows * length);
	for (const [row, events] of lengths.entries())
		weights.fill(1 / events, row * length, row * length + events);
	return { [weightsName]: weights };
}

/** What a model makes of each slot: [rows, length, dim] and [rows, length, vocab]. */
export const slotStates = <C>(
	model: Model<C>,
	config: C,
	parameters: Parameters,
	shape: BatchShape,
): States => model.states(config, parameters, shape, ["slots"])[0];

/** A history as one vector: [rows, dim]. */
export const pooled = (
	model: Model,
	config: unknown,
	parameters: Parameters,
	shape: BatchShape,
): Tensor => meanState(slotStates(model, config, parameters, shape).hidden);

/** What `pooled` is fed; the token of a row's last event is not among it. */
export const pooledFeeds = (model: Model, config: unknown, batch: EventBatch): Feeds => ({
	...model.filler(config, batch)("slots"),
	...poolFeeds(batch),
});

/** Where a classifier starts: log-odds = weight · pooled + bias + offset · log-odds of a regression. */
export interface LinearHead {
	readonly weight: ArrayLike<number>; // [dim]
	readonly bias: number;
	/** Left out for models that learn from scratch. */
	readonly offset?: number | undefined;
}

const offsetWeight = "label.offset";
export const offsetInput = "label.offsets";

/** The log-odds of yes for each pooled history: [rows, dim] → [rows]. */
export const labelHead: Head<LinearHead> = {
	weights: ({ weight, bias, offset }) => ({
		"label.weight": listed([1, weight.length], weight),
		"label.bias": listed([1], [bias]),
		...(offset !== undefined && { [offsetWeight]: listed([1], [offset]) }),
	}),
	outputs: (p, pooled) =>
		pooled
			.matmul(p("label.weight"), { transposeB: true })
			.reshape([pooled.shape[0] as number])
			.add(p("label.bias")),
};

/** The log-odds of yes: those of the head and, if it reads them, those of a regression, which are fed by default. */
export function labelLogOdds(parameters: Parameters, pooled: Tensor, offsets?: Tensor): Tensor {
	const p = weightsOf(parameters);
	const logOdds = labelHead.outputs(p, pooled);
	if (!Object.hasOwn(parameters, offsetWeight)) return logOdds;
	const read = offsets ?? input(offsetInput, logOdds.shape, logOdds.dtype);
	return logOdds.add(read.mul(p(offsetWeight)));
}

import type { Feeds } from "../engine/runtime/index.js";
import { input, matmul, reshape, type Tensor } from "../engine/tensor/index.js";
import type { BatchShape, EventBatch, Model, Parameters, States } from "./model.js";

const weightsName = "pool.weights";

/** The mean hidden state over the slots of each row that are not padding: [rows, length, dim] → [rows, dim]. */
export function meanState(hidden: Tensor): Tensor {
	const [rows, length] = hidden.shape as [number, number, number];
	const weights = input(weightsName, [rows, 1, length], hidden.dtype);
	return reshape(matmul(weights, hidden), [rows, -1]);
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
): States => model.states(config, parameters, shape, ["slots"])[0] as States;

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

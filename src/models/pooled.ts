import { input, matmul, reshape, type Tensor } from "../graph/index.js";
import type { BatchShape, EventBatch, Model, Parameters, SideOutputs } from "./model.js";

const weightsName = "pool.weights";

/** The mean of what the head reads over the real slots of each row: a history as one vector. */
export function pooled(
	model: Model,
	config: unknown,
	parameters: Parameters,
	shape: BatchShape,
	sideOutputs?: SideOutputs,
): Tensor {
	const { rows, length } = shape;
	const hidden = model.hidden(config, parameters, shape, sideOutputs); // [rows, length, dim]
	const weights = input(weightsName, [rows, 1, length], hidden.dtype);
	return reshape(matmul(weights, hidden), [rows, -1]); // [rows, dim]
}

/** What `pooled` is fed beside the inputs of the loss: 1 / length on each real slot. */
export function poolFeeds({ rows, length, lengths }: EventBatch): Record<string, Float32Array> {
	const weights = new Float32Array(rows * length);
	for (const [row, events] of lengths.entries())
		weights.fill(1 / events, row * length, row * length + events);
	return { [weightsName]: weights };
}

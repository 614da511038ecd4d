import {
	add,
	inOrder,
	input,
	matmul,
	mul,
	parameter,
	reshape,
	softplus,
	sub,
	sum,
	type Tensor,
} from "../../graph/index.js";
import type {
	BatchShape,
	EventBatch,
	Model,
	Parameters,
	ParameterValues,
	SideOutputs,
} from "../../models/index.js";
import { pooled, poolFeeds } from "../../models/pooled.js";
import type { Feeds } from "../../runtime/index.js";

const weightName = "label.weight";
const biasName = "label.bias";
const answersName = "label.answers";
const countsName = "label.counts";

/** A pre-trained model. */
export interface Pretrained {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Where a classifier starts: log-odds = weight · pooled + bias. */
export interface LinearHead {
	readonly weight: Float32Array; // [dim]
	readonly bias: number;
}

const symbolsOf = (weights: ParameterValues): Parameters =>
	Object.fromEntries([...weights].map(([name, { shape }]) => [name, parameter(name, shape)]));

/** Those weights that the pooled vector depends on: all but those of the output over codes. */
function bodyOf({ model, config, weights }: Pretrained): ParameterValues {
	const symbols = symbolsOf(weights);
	const reached = new Set(inOrder([model.hidden(config, symbols, { rows: 1, length: 2 })]));
	return new Map([...weights].filter(([name]) => reached.has((symbols[name] as Tensor).node)));
}

/** The log-odds of yes for each row, [rows]. */
export function logOdds(
	from: Pretrained,
	parameters: Parameters,
	shape: BatchShape,
	sideOutputs?: SideOutputs,
): Tensor {
	// A model names all its weights, also those that the pooled vector has no use for.
	const all = { ...symbolsOf(from.weights), ...parameters };
	const vectors = pooled(from.model, from.config, all, shape, sideOutputs); // [rows, dim]
	const scores = matmul(vectors, parameters[weightName] as Tensor, { transposeB: true });
	return add(reshape(scores, [shape.rows]), parameters[biasName] as Tensor);
}

/** What `logOdds` is fed; the token of a row's last event is not among it. */
export const questionFeeds = ({ model, config }: Pretrained, batch: EventBatch): Feeds => ({
	...model.viewFeeds(config, batch),
	...poolFeeds(batch),
});

/**
 * A pre-trained model that answers yes or no: a linear head on the pooled vector, trained end to end
 * by −log p of the answer. Its batches are of questions (see `asked`).
 */
export function classifier(from: Pretrained, { weight, bias }: LinearHead): Model {
	const { penalties } = from.model;
	return {
		...from.model,
		init: () =>
			bodyOf(from)
				.set(weightName, { shape: [1, weight.length], data: weight })
				.set(biasName, { shape: [1], data: Float32Array.of(bias) }),
		loss(_config, parameters, shape, { learning }) {
			const sideOutputs: SideOutputs | undefined = learning
				? { moving: {}, penalties: {} }
				: undefined;
			const z = logOdds(from, parameters, shape, sideOutputs);
			const answers = input(answersName, [shape.rows]);
			const counts = input(countsName, [shape.rows]);
			const nats = sub(softplus(z), mul(answers, z));
			return [
				{
					name: "label",
					total: sum(mul(nats, counts)),
					...(sideOutputs && { moving: sideOutputs.moving }),
				},
				...Object.entries(sideOutputs?.penalties ?? {}).map(([name, total]) => ({ name, total })),
			];
		},
		lossFeeds(_config, batch, { learning }) {
			const { rows, length, lengths, tokens } = batch;
			const answers = new Float32Array(rows);
			const counts = new Float32Array(rows);
			for (const [row, events] of lengths.entries()) {
				if (events === 0) continue;
				answers[row] = tokens[row * length + events - 1] as number;
				counts[row] = 1;
			}
			return {
				feeds: { ...questionFeeds(from, batch), [answersName]: answers, [countsName]: counts },
				targets: {
					label: counts.reduce((a, b) => a + b, 0),
					// One of each a batch.
					...(learning && Object.fromEntries((penalties ?? []).map((name) => [name, 1]))),
				},
			};
		},
	};
}

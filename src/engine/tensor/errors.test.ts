import { expect, test } from "vitest";
import type { Tensor } from "./index.js";
import * as graph from "./index.js";

const events = graph.input("events", [2, 3]);
const weights = graph.parameter("weights", [4, 5]);
const tokens = graph.input("tokens", [2, 3], "int32");
const mask = graph.input("mask", [2, 3], "bool");
const precise = graph.input("precise", [2, 3], "float64");
const image = graph.input("image", [2, 6, 5, 5]);
const signal = graph.input("signal", [2, 6, 5]);
const batches = graph.input("batches", [3, 5, 2]);
const pair = graph.input("pair", [2]);
const doubled = events.mul(2);
const [zero, noInteger] = [graph.scalar(0, "int32"), graph.scalar(0)];
const [narrow, wide] = [graph.parameter("k", [4, 5, 3]), graph.parameter("k", [4, 6, 7])];

const transposed = { transposeA: true, transposeB: true };

/** What is refused, why, and the operands that the message names. */
const cases: readonly (readonly [() => unknown, problem: string, operands?: readonly Tensor[]])[] =
	[
		[() => events.matmul(weights), "matmul: inner sizes differ: 2×3 times 4×5", [events, weights]],
		[
			() => events.matmul(weights, transposed),
			"matmul: inner sizes differ: 3×2 times 5×4",
			[events, weights],
		],
		[() => events.matmul(tokens), "matmul: needs two float tensors of one dtype", [events, tokens]],
		[() => image.matmul(batches), "matmul: batch axes do not broadcast", [image, batches]],
		[() => events.add(weights), "add: shapes do not broadcast", [events, weights]],
		[() => events.mul(precise), "mul: dtypes differ; cast one of them", [events, precise]],
		[() => mask.add(mask), "add: needs numbers", [mask, mask]],
		[() => graph.both(tokens, tokens), "both: needs bools", [tokens, tokens]],
		[() => doubled.add(weights), "add: shapes do not broadcast", [doubled, weights]],
		[() => tokens.tanh(), "tanh: needs a float tensor", [tokens]],
		[() => graph.gelu(tokens), "gelu: needs a float tensor", [tokens]],
		[
			() => graph.where(events, events, events),
			"where: the condition must be bool",
			[events, events, events],
		],
		[() => events.sum(2), "sum: axis 2 is outside a tensor of 2 axes", [events]],
		[() => events.sum([0, -2]), "sum: an axis is named twice", [events]],
		[() => tokens.sum(), "sum: needs a float tensor", [tokens]],
		[() => events.softmax(-3), "softmax: axis -3 is outside a tensor of 2 axes", [events]],
		[() => graph.gather(weights, events), "gather: indices must be int32", [weights, events]],
		[
			() => graph.scatterAdd(events, tokens, 5),
			"scatterAdd: indices must be an int32 vector",
			[events, tokens],
		],
		[
			() => graph.pick(weights, tokens, 1),
			"pick: indices must be int32 and agree in all but axis 1",
			[weights, tokens],
		],
		[
			() => graph.placeAdd(pair, tokens, 0, 4),
			"placeAdd: indices must be int32 and of the values' shape",
			[pair, tokens],
		],
		[() => graph.topK(events, 4), "topK: cannot take 4 of axis 1", [events]],
		[() => graph.oneHot(events, 4), "oneHot: indices must be int32", [events]],
		[() => events.reshape([4, 2]), "reshape: 6 values do not fill [4, 2]", [events]],
		[() => events.reshape([4, -1]), "reshape: 6 values do not fill [4, 1.5]", [events]],
		[() => events.reshape([-2, -3]), "reshape: 6 values do not fill [-2, -3]", [events]],
		[() => events.transpose([0, 0]), "transpose: [0, 0] is not an order of its axes", [events]],
		[() => events.transpose([0]), "transpose: [0] is not an order of its axes", [events]],
		[() => events.expand([3, 2]), "expand: does not broadcast to [3, 2]", [events]],
		[() => events.slice(1, 2, 5), "slice: [2, 5) is outside axis 1 of size 3", [events]],
		[() => events.pad(1, -1, 0), "pad: negative padding -1, 0", [events]],
		[
			() => graph.concat([events, weights], 0),
			"concat: all but axis 0 must agree, and the dtype",
			[events, weights],
		],
		[() => graph.concat([], 0), "concat: nothing to join"],
		[() => graph.stack([events], 3), "stack: axis 3 is outside a result of 3 axes", [events]],
		[() => events.split(1, [2, 2]), "split: sizes 2 + 2 do not make axis 1", [events]],
		[
			() => graph.rotary(image, events, events),
			"rotary: needs x [batch, heads, length, dim] and cosine, sine [batch, length, dim / 2]",
			[image, events, events],
		],
		[
			() => graph.conv1d(signal, narrow),
			"conv: 6 channels in 1 groups do not fit the weights",
			[signal, narrow],
		],
		[() => graph.conv1d(signal, wide), "conv: the kernel reaches beyond the input", [signal, wide]],
		[
			() => graph.conv1d(image, weights),
			"conv: needs x [batch, in, length] and weights [out, in / groups, kernel]",
			[image, weights],
		],
		[
			() => graph.maxPool1d(signal, { kernel: 2, padding: 2 }),
			"maxPool: padding must be less than the window of 2",
			[signal],
		],
		[() => graph.dropout(events, 1, zero, 0), "dropout: rate 1 is outside [0, 1)", [events, zero]],
		[
			() => graph.dropout(events, 0.1, noInteger, 0),
			"dropout: the seed must be an int32 scalar",
			[events, noInteger],
		],
		[
			() => graph.scan((state, [x]) => [state, x], null, [events, image]),
			"scan: needs sequences of one length along axis 1",
			[events, image],
		],
		[
			() => graph.scan((_: Tensor, [x]) => [x.sum(), x], events, [events]),
			"scan: the step changes the shape or the dtype of its state; operands events float32[2, 3], reshape(…) float32[]",
		],
		[
			() => graph.constant([1, 2], [3]),
			"constant: 2 values do not fill it; operands constant(…) float32[3]",
		],
		[
			() => graph.gradients(events, [events]),
			"gradients: needs a float scalar; reduce it first",
			[events],
		],
		[
			() => graph.toOnnx({ outputs: { y: events.add(graph.input("events", [3])) } }),
			'two inputs are called "events" and differ in shape or dtype; rename one',
		],
		[
			() => graph.toOnnx({ outputs: { events: events.neg() } }),
			'an input and an output are both called "events"; rename one',
		],
	];

for (const [build, problem, operands] of cases)
	test(`${problem}: ${build}`, () => {
		const named = operands?.map(graph.describe).join(", ");
		expect(build).toThrow(operands ? `${problem}; operands ${named}` : problem);
	});

test("a message names operands by their names, or operations, and their types", () => {
	expect(graph.describe(precise)).toBe("precise float64[2, 3]");
	expect(graph.describe(doubled)).toBe("mul(…) float32[2, 3]");
	expect(graph.describe(zero)).toBe("constant(…) int32[]");
});

test("a bad shape is a ShapeError", () => {
	expect(() => events.matmul(weights)).toThrow(graph.ShapeError);
});

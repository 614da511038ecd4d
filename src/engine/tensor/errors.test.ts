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

const cases: readonly (readonly [() => Tensor | readonly Tensor[] | object, string])[] = [
	[
		() => graph.matmul(events, weights),
		"matmul: inner sizes differ: 2×3 times 4×5; operands events float32[2, 3], weights float32[4, 5]",
	],
	[
		() => graph.matmul(events, weights, { transposeA: true, transposeB: true }),
		"matmul: inner sizes differ: 3×2 times 5×4; operands events float32[2, 3], weights float32[4, 5]",
	],
	[
		() => graph.matmul(events, tokens),
		"matmul: needs two float tensors of one dtype; operands events float32[2, 3], tokens int32[2, 3]",
	],
	[
		() => graph.matmul(image, graph.input("x", [3, 5, 2])),
		"matmul: batch axes do not broadcast; operands image float32[2, 6, 5, 5], x float32[3, 5, 2]",
	],
	[
		() => graph.add(events, weights),
		"add: shapes do not broadcast; operands events float32[2, 3], weights float32[4, 5]",
	],
	[
		() => graph.mul(events, precise),
		"mul: dtypes differ; cast one of them; operands events float32[2, 3], precise float64[2, 3]",
	],
	[() => graph.add(mask, mask), "add: needs numbers; operands mask bool[2, 3], mask bool[2, 3]"],
	[
		() => graph.both(tokens, tokens),
		"both: needs bools; operands tokens int32[2, 3], tokens int32[2, 3]",
	],
	[
		() => graph.add(graph.mul(events, 2), weights),
		"add: shapes do not broadcast; operands mul(…) float32[2, 3], weights float32[4, 5]",
	],
	[() => graph.tanh(tokens), "tanh: needs a float tensor; operands tokens int32[2, 3]"],
	[() => graph.gelu(tokens), "gelu: needs a float tensor; operands tokens int32[2, 3]"],
	[
		() => graph.where(events, events, events),
		"where: the condition must be bool; operands events float32[2, 3], events float32[2, 3], events float32[2, 3]",
	],
	[
		() => graph.sum(events, 2),
		"sum: axis 2 is outside a tensor of 2 axes; operands events float32[2, 3]",
	],
	[() => graph.sum(events, [0, -2]), "sum: an axis is named twice; operands events float32[2, 3]"],
	[() => graph.sum(tokens), "sum: needs a float tensor; operands tokens int32[2, 3]"],
	[
		() => graph.softmax(events, -3),
		"softmax: axis -3 is outside a tensor of 2 axes; operands events float32[2, 3]",
	],
	[
		() => graph.gather(weights, events),
		"gather: indices must be int32; operands weights float32[4, 5], events float32[2, 3]",
	],
	[
		() => graph.scatterAdd(events, tokens, 5),
		"scatterAdd: indices must be an int32 vector; operands events float32[2, 3], tokens int32[2, 3]",
	],
	[
		() => graph.pick(weights, tokens, 1),
		"pick: indices must be int32 and agree in all but axis 1; operands weights float32[4, 5], tokens int32[2, 3]",
	],
	[
		() => graph.placeAdd(graph.input("x", [2]), tokens, 0, 4),
		"placeAdd: indices must be int32 and of the values' shape; operands x float32[2], tokens int32[2, 3]",
	],
	[() => graph.topK(events, 4), "topK: cannot take 4 of axis 1; operands events float32[2, 3]"],
	[() => graph.oneHot(events, 4), "oneHot: indices must be int32; operands events float32[2, 3]"],
	[
		() => graph.reshape(events, [4, 2]),
		"reshape: 6 values do not fill [4, 2]; operands events float32[2, 3]",
	],
	[
		() => graph.reshape(events, [4, -1]),
		"reshape: 6 values do not fill [4, 1.5]; operands events float32[2, 3]",
	],
	[
		() => graph.reshape(events, [-2, -3]),
		"reshape: 6 values do not fill [-2, -3]; operands events float32[2, 3]",
	],
	[
		() => graph.transpose(events, [0, 0]),
		"transpose: [0, 0] is not an order of its axes; operands events float32[2, 3]",
	],
	[
		() => graph.transpose(events, [0]),
		"transpose: [0] is not an order of its axes; operands events float32[2, 3]",
	],
	[
		() => graph.expand(events, [3, 2]),
		"expand: does not broadcast to [3, 2]; operands events float32[2, 3]",
	],
	[
		() => graph.slice(events, 1, 2, 5),
		"slice: [2, 5) is outside axis 1 of size 3; operands events float32[2, 3]",
	],
	[() => graph.pad(events, 1, -1, 0), "pad: negative padding -1, 0; operands events float32[2, 3]"],
	[
		() => graph.concat([events, weights], 0),
		"concat: all but axis 0 must agree, and the dtype; operands events float32[2, 3], weights float32[4, 5]",
	],
	[() => graph.concat([], 0), "concat: nothing to join"],
	[
		() => graph.stack([events], 3),
		"stack: axis 3 is outside a result of 3 axes; operands events float32[2, 3]",
	],
	[
		() => graph.split(events, 1, [2, 2]),
		"split: sizes 2 + 2 do not make axis 1; operands events float32[2, 3]",
	],
	[
		() => graph.rotary(image, events, events),
		"rotary: needs x [batch, heads, length, dim] and cosine, sine [batch, length, dim / 2]; operands image float32[2, 6, 5, 5], events float32[2, 3], events float32[2, 3]",
	],
	[
		() => graph.conv1d(signal, graph.parameter("kernel", [4, 5, 3])),
		"conv: 6 channels in 1 groups do not fit the weights; operands signal float32[2, 6, 5], kernel float32[4, 5, 3]",
	],
	[
		() => graph.conv1d(signal, graph.parameter("kernel", [4, 6, 7])),
		"conv: the kernel reaches beyond the input; operands signal float32[2, 6, 5], kernel float32[4, 6, 7]",
	],
	[
		() => graph.conv1d(image, weights),
		"conv: needs x [batch, in, length] and weights [out, in / groups, kernel]; operands image float32[2, 6, 5, 5], weights float32[4, 5]",
	],
	[
		() => graph.maxPool1d(signal, { kernel: 2, padding: 2 }),
		"maxPool: padding must be less than the window of 2; operands signal float32[2, 6, 5]",
	],
	[
		() => graph.dropout(events, 1, graph.scalar(0, "int32"), 0),
		"dropout: rate 1 is outside [0, 1); operands events float32[2, 3], constant(…) int32[]",
	],
	[
		() => graph.dropout(events, 0.1, graph.scalar(0), 0),
		"dropout: the seed must be an int32 scalar; operands events float32[2, 3], constant(…) float32[]",
	],
	[
		() => graph.scan((state, [x]) => [state, x], null, [events, image]),
		"scan: needs sequences of one length along axis 1; operands events float32[2, 3], image float32[2, 6, 5, 5]",
	],
	[
		() => graph.scan((_: Tensor, [x]) => [graph.sum(x), x], events, [events]),
		"scan: the step changes the shape or the dtype of its state; operands events float32[2, 3], reshape(…) float32[]",
	],
	[
		() => graph.constant([1, 2], [3]),
		"constant: 2 values do not fill it; operands constant(…) float32[3]",
	],
	[
		() => graph.gradients(events, [events]),
		"gradients: needs a float scalar; reduce it first; operands events float32[2, 3]",
	],
	[
		() => graph.toOnnx({ outputs: { y: graph.add(events, graph.input("events", [3])) } }),
		'two inputs are called "events" and differ in shape or dtype; rename one',
	],
	[
		() => graph.toOnnx({ outputs: { events: graph.neg(events) } }),
		'an input and an output are both called "events"; rename one',
	],
];

test.each(cases)("%s", (build, message) => {
	expect(build).toThrow(message);
});

test("a bad shape is a ShapeError", () => {
	expect(() => graph.matmul(events, weights)).toThrow(graph.ShapeError);
});

import { expect, test } from "vitest";
import type { Tensor } from "../../index.js";
import * as graph from "../../index.js";
import { interpret } from "./testing/interpreter.js";
import { parseModule } from "./testing/parser.js";

const x = graph.input("x", [2, 3]);
const w = graph.parameter("w", [3, 4]);

/** The lines of an operation. */
const linesOf = (text: string, operation: string) =>
	text.split("\n").filter((line) => line.includes(`"stablehlo.${operation}"`));

test("arguments and results are named in their order", () => {
	const { inputs, outputs, text } = graph.toStableHlo({ outputs: { y: x.matmul(w), w } });
	expect(inputs).toEqual([
		{ name: "x", shape: [2, 3], dtype: "float32" },
		{ name: "w", shape: [3, 4], dtype: "float32" },
	]);
	expect(outputs).toEqual([
		{ name: "y", shape: [2, 4], dtype: "float32" },
		{ name: "w", shape: [3, 4], dtype: "float32" },
	]);
	const [y, same] = interpret(text, [
		[1, 2, 3, 4, 5, 6],
		[1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1],
	]);
	expect([...y]).toEqual([1, 2, 3, 6, 4, 5, 6, 15]);
	expect(same?.length).toBe(12);
});

test("two inputs of one name are one argument, and must agree", () => {
	const again = graph.input("x", [2, 3]);
	expect(graph.toStableHlo({ outputs: { y: x.add(again) } }).inputs.length).toBe(1);
	expect(() =>
		graph.toStableHlo({ outputs: { y: x.sum(), z: graph.input("x", [2]).sum() } }),
	).toThrow('two inputs are called "x" and differ in shape or dtype; rename one');
});

test("packed inputs are one argument per dtype; parameters are not packed", () => {
	const [more, at] = [graph.input("more", [3]), graph.input("at", [2], "int32")];
	const outputs = {
		y: x.matmul(w).add(1),
		z: graph.gather(more, at).add(x.sum()),
		again: graph.input("x", [2, 3]).sum(),
	};
	const { inputs, text } = graph.toStableHlo({ outputs }, { packs: true });
	expect(inputs).toEqual([
		{
			...{ name: "packed.float32", shape: [9], dtype: "float32" },
			parts: [
				{ name: "x", shape: [2, 3], dtype: "float32" },
				{ name: "more", shape: [3], dtype: "float32" },
			],
		},
		{
			...{ name: "packed.int32", shape: [2], dtype: "int32" },
			parts: [{ name: "at", shape: [2], dtype: "int32" }],
		},
		{ name: "w", shape: [3, 4], dtype: "float32" },
	]);
	const weights = [1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1];
	const [y, z, again] = interpret(text, [[1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 0], weights]);
	expect([...y]).toEqual([2, 3, 4, 7, 5, 6, 7, 16]);
	expect([...z]).toEqual([30, 28]);
	expect([...again]).toEqual([21]);
	const differ = { y: x.sum(), z: graph.gather(more, graph.input("x", [2], "int32")) };
	expect(() => graph.toStableHlo({ outputs: differ }, { packs: true })).toThrow(
		'two inputs are called "x" and differ',
	);
});

test("weights that are given become constants", () => {
	const weights = new Map([["w", Float32Array.from({ length: 12 }, (_, i) => i / 7)]]);
	const { inputs, text } = graph.toStableHlo({ outputs: { y: x.matmul(w) }, weights });
	expect(inputs.map(({ name }) => name)).toEqual(["x"]);
	const [y] = interpret(text, [[1, 0, 0, 0, 1, 0]]);
	expect([...y]).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => Math.fround(Math.fround(n) / 7)));
});

test("a donated argument names the result that takes its memory", () => {
	const next = w.mul(2);
	const step = { outputs: { total: x.matmul(w).sum(), "next/w": next } };
	const { main } = parseModule(
		graph.toStableHlo(step, {
			donated: [
				["w", "next/w"],
				["unread", "next/w"],
			],
		}).text,
	);
	expect(main.attributes.arg_attrs).toEqual([{}, { "tf.aliasing_output": 1 }]);
	expect(() => graph.toStableHlo(step, { donated: [["x", "next/w"]] })).toThrow(
		'"x" tensor<2x3xf32> cannot be donated to "next/w" tensor<3x4xf32>',
	);
	expect(() => graph.toStableHlo(step, { donated: [["w", "gone"]] })).toThrow(
		"which is not an output",
	);
});

test("precision is that of products and convolutions of float32", () => {
	const kernel = graph.parameter("kernel", [5, 3, 2]);
	const outputs = {
		product: x.matmul(w),
		convolution: graph.conv1d(x.reshape([1, 3, 2]), kernel),
		double: x.cast("float64").matmul(w.cast("float64")),
	};
	const levels = (precision: "tf32" | "float32" | "bf16") => {
		const { text } = graph.toStableHlo({ outputs }, { precision });
		parseModule(text);
		return [...linesOf(text, "dot_general"), ...linesOf(text, "convolution")].map((line) => [
			/precision (\w+)>/.exec(line)?.[1],
			line.slice(line.lastIndexOf(" : ") + 3),
		]);
	};
	const double = ["HIGHEST", "(tensor<2x3xf64>, tensor<3x4xf64>) -> tensor<2x4xf64>"];
	const single = (level: string, type: string) => [
		[level, `(tensor<2x3x${type}>, tensor<3x4x${type}>) -> tensor<2x4x${type}>`],
		double,
		[level, `(tensor<1x3x2x${type}>, tensor<5x3x2x${type}>) -> tensor<1x5x1xf32>`],
	];
	expect(levels("tf32")).toEqual(single("DEFAULT", "f32"));
	expect(levels("float32")).toEqual(single("HIGHEST", "f32"));
	expect(levels("bf16")).toEqual(single("DEFAULT", "bf16"));
});

test("a convolution of each channel with its own kernel, and its gradients, need no library", () => {
	const [x, w] = [graph.input("x", [2, 3, 9]), graph.parameter("w", [3, 1, 4])];
	const y = graph.conv1d(x, w, { groups: 3, padding: [3, 0] });
	const [dx, dw] = graph.gradients(y.sum(), [x, w]);
	const { text } = graph.toStableHlo({ outputs: { y, dx, dw: dw } });
	expect(linesOf(text, "convolution")).toEqual([]);
	const long = graph.parameter("long", [3, 1, 65]);
	const beyond = graph.conv1d(graph.input("many", [2, 3, 140]), long, { groups: 3 });
	expect(linesOf(graph.toStableHlo({ outputs: { beyond } }).text, "convolution")).toHaveLength(1);
});

test("bfloat16 products are sums of rounded operands", () => {
	const { text } = graph.toStableHlo({ outputs: { y: x.matmul(w) } }, { precision: "bf16" });
	const [y] = interpret(text, [[1 + 2 ** -8, 1 + 3 * 2 ** -8, 1, 0, 0, 0], new Array(12).fill(1)]);
	// The first is half way between two, and goes to the even one.
	expect(y?.[0]).toBe(1 + (1 + 2 ** -6) + 1);
});

test("products with a table of the graph are exact in every precision", () => {
	const table = graph.constant([1, 0, 1, 0, 0, 1, 1, 1, 1], [3, 3]);
	const { text } = graph.toStableHlo({ outputs: { y: x.matmul(table) } }, { precision: "bf16" });
	expect(linesOf(text, "dot_general").join()).toContain("precision HIGHEST");
	expect(text).not.toContain("bf16");
});

test("transposed sides and shared batch axes are axes of one product", () => {
	const [a, b] = [graph.input("a", [5, 2, 7, 3]), graph.input("b", [5, 2, 7, 4])];
	const { text } = graph.toStableHlo({ outputs: { y: a.matmul(b, { transposeA: true }) } });
	expect(text).not.toContain("stablehlo.transpose");
	expect(linesOf(text, "dot_general").join()).toContain(
		"lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
	);
});

test("gradients are summed over replicas", () => {
	const loss = x.matmul(w).sumSquares();
	const [gradient] = graph.gradients(loss, [w]) as [Tensor];
	const outputs = { gradient: graph.allReduceSum(gradient) };
	const given = [[1, 2, 3, 4, 5, 6], new Array(12).fill(1)];
	const alone = graph.toStableHlo({ outputs });
	expect(linesOf(alone.text, "all_reduce")).toEqual([]);
	const four = graph.toStableHlo({ outputs }, { replicas: 4 });
	expect(parseModule(four.text).attributes["mhlo.num_replicas"]).toBe(4);
	expect(linesOf(four.text, "all_reduce").join()).toContain(
		"replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>",
	);
	const [one] = interpret(alone.text, given);
	const [all] = interpret(four.text, given);
	expect([...all]).toEqual(Array.from(one, (value) => 4 * value));
});

test("open sizes are filled in", () => {
	const open = graph.input("open", ["rows", "columns"]);
	const flat = open.mul(2).reshape([-1, 1]);
	const outputs = { ends: flat.expand(["columns*rows", 2]).slice(0, "columns") };
	const {
		text,
		inputs,
		outputs: results,
	} = graph.toStableHlo({ outputs }, { sizes: { rows: 2, columns: 3 } });
	expect(inputs[0]?.shape).toEqual([2, 3]);
	expect(results[0]?.shape).toEqual([3, 2]);
	expect([...interpret(text, [[1, 2, 3, 4, 5, 6]])[0]]).toEqual([8, 8, 10, 10, 12, 12]);
	expect(() => graph.toStableHlo({ outputs })).toThrow('the size "rows" is open');
});

test("constants are read back as exactly the numbers they were", () => {
	const numbers = [0, -0, 1e21, 1e-7, 0.1, -1.5, Math.PI * 1e300, Number.NaN, -Infinity, Infinity];
	const many = Array.from({ length: 40 }, (_, i) => Math.sin(i) * 10 ** (i - 20));
	const whole = [0x9e3779b1, -1, 2 ** 31 - 1];
	const bits = Array.from({ length: 21 }, (_, i) => Number(i % 3 === 0));
	const { text } = graph.toStableHlo({
		outputs: {
			few: graph.constant(numbers, [5, 2], "float64"),
			single: graph.constant(numbers, [10]),
			many: graph.constant(many, [40], "float64"),
			manySingle: graph.constant(many, [8, 5]),
			whole: graph.constant(whole, [3], "int32"),
			counted: graph.constant([0, 1, 2, 3], [4], "int32"),
			bits: graph.constant(bits, [21], "bool"),
			equal: graph.filled(0.1, [2, 2]),
			none: graph.constant([], [0]),
		},
	});
	expect(interpret(text, [])).toEqual(
		[
			numbers,
			numbers.map(Math.fround),
			many,
			many.map(Math.fround),
			whole.map((value) => value | 0),
			[0, 1, 2, 3],
			bits,
			new Array(4).fill(Math.fround(0.1)),
			[],
		].map((values) => Float64Array.from(values)),
	);
	expect(linesOf(text, "iota").length).toBe(1);
});

test("many values with many targets are scattered, with the same sums", () => {
	const [count, targets] = [4100, 4100];
	const at = (i: number) => (i * i) % targets;
	const indices = Float64Array.from({ length: count }, (_, i) => at(i));
	const values = Float64Array.from({ length: count }, (_, i) => i % 7);
	const expected = new Float64Array(targets);
	values.forEach((value, i) => {
		expected[at(i)] += value;
	});
	const given = graph.input("i", [count], "int32");
	const rows = graph.input("values", [count, 1]);
	const outputs = {
		rows: graph.scatterAdd(rows, given, targets),
		flat: graph.scatterAdd(rows.reshape([-1]), given, targets),
		along: graph.placeAdd(rows.reshape([1, count]), given.reshape([1, count]), 1, targets),
		whole: graph.scatterAdd(
			rows.reshape([-1]).slice(0, 0, 9).cast("int32"),
			given.slice(0, 0, 9),
			90,
		),
	};
	const { text } = graph.toStableHlo({ outputs });
	expect(linesOf(text, "scatter").length).toBe(4);
	const [first, second, third, whole] = interpret(text, [values, indices]);
	for (const sums of [first, second, third]) expect(sums).toEqual(expected);
	expect([...whole.subarray(0, 5)]).toEqual([0, 1, 0, 0, 2]);
});

test("a recurrence and its gradient are two loops, of any length", () => {
	const linesFor = (length: number) => {
		const w = graph.parameter("w", [3, 3]);
		const { outputs } = graph.scan(
			(h: Tensor, [x]) => {
				const next = h.matmul(w).add(x).tanh();
				return [next, next];
			},
			graph.filled(0, [2, 3]),
			[graph.input("sequence", [2, length, 3])],
		);
		const [gradient] = graph.gradients(outputs.sumSquares(), [w]) as [Tensor];
		const { text } = graph.toStableHlo({ outputs: { gradient } });
		expect(linesOf(text, "while").length).toBe(2);
		// The weights' gradient is one product of all positions, after the loop.
		expect(linesOf(text, "dot_general").at(-1)).toContain(
			`(tensor<${2 * length}x3xf32>, tensor<${2 * length}x3xf32>) -> tensor<3x3xf32>`,
		);
		return text.split("\n").length;
	};
	expect(linesFor(5)).toBe(linesFor(500));
});

test("what is written twice is written once", () => {
	const twice = graph.toStableHlo({ outputs: { y: x.mul(2).sum().add(x.mul(2).sum()) } });
	const total = x.mul(2).sum();
	expect(twice.text).toBe(graph.toStableHlo({ outputs: { y: total.add(total) } }).text);
});

test("rows and elements are found by index", () => {
	const i = graph.input("i", [2, 3], "int32");
	const { text } = graph.toStableHlo({
		outputs: { rows: graph.gather(w, i), each: graph.pick(x, i, 1) },
	});
	parseModule(text);
	expect(linesOf(text, "gather").length).toBe(2);
});

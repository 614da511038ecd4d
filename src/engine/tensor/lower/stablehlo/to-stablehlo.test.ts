import { expect, test } from "vitest";
import {
	add,
	allReduceSum,
	cast,
	constant,
	conv1d,
	expand,
	filled,
	gather,
	gradients,
	input,
	matmul,
	mul,
	parameter,
	pick,
	placeAdd,
	reshape,
	scan,
	scatterAdd,
	slice,
	sum,
	sumSquares,
	type Tensor,
	tanh,
	toStableHlo,
} from "../../index.js";
import { interpret } from "./testing/interpreter.js";
import { parseModule } from "./testing/parser.js";

const x = input("x", [2, 3]);
const w = parameter("w", [3, 4]);

/** The lines of an operation. */
const linesOf = (text: string, operation: string) =>
	text.split("\n").filter((line) => line.includes(`"stablehlo.${operation}"`));

test("arguments and results are named in their order", () => {
	const { inputs, outputs, text } = toStableHlo({ outputs: { y: matmul(x, w), w } });
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
	const again = input("x", [2, 3]);
	expect(toStableHlo({ outputs: { y: add(x, again) } }).inputs.length).toBe(1);
	expect(() => toStableHlo({ outputs: { y: sum(x), z: sum(input("x", [2])) } })).toThrow(
		'two inputs are called "x" and differ in shape or dtype; rename one',
	);
});

test("packed inputs are one argument per dtype; parameters are not packed", () => {
	const [more, at] = [input("more", [3]), input("at", [2], "int32")];
	const outputs = {
		y: add(matmul(x, w), 1),
		z: add(gather(more, at), sum(x)),
		again: sum(input("x", [2, 3])),
	};
	const { inputs, text } = toStableHlo({ outputs }, { packs: true });
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
	const differ = { y: sum(x), z: gather(more, input("x", [2], "int32")) };
	expect(() => toStableHlo({ outputs: differ }, { packs: true })).toThrow(
		'two inputs are called "x" and differ',
	);
});

test("weights that are given become constants", () => {
	const weights = new Map([["w", Float32Array.from({ length: 12 }, (_, i) => i / 7)]]);
	const { inputs, text } = toStableHlo({ outputs: { y: matmul(x, w) }, weights });
	expect(inputs.map(({ name }) => name)).toEqual(["x"]);
	const [y] = interpret(text, [[1, 0, 0, 0, 1, 0]]);
	expect([...y]).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => Math.fround(Math.fround(n) / 7)));
});

test("a donated argument names the result that takes its memory", () => {
	const next = mul(w, 2);
	const graph = { outputs: { total: sum(matmul(x, w)), "next/w": next } };
	const { main } = parseModule(
		toStableHlo(graph, {
			donated: [
				["w", "next/w"],
				["unread", "next/w"],
			],
		}).text,
	);
	expect(main.attributes.arg_attrs).toEqual([{}, { "tf.aliasing_output": 1 }]);
	expect(() => toStableHlo(graph, { donated: [["x", "next/w"]] })).toThrow(
		'"x" tensor<2x3xf32> cannot be donated to "next/w" tensor<3x4xf32>',
	);
	expect(() => toStableHlo(graph, { donated: [["w", "gone"]] })).toThrow("which is no output");
});

test("precision is that of products and convolutions of float32", () => {
	const kernel = parameter("kernel", [5, 3, 2]);
	const outputs = {
		product: matmul(x, w),
		convolution: conv1d(reshape(x, [1, 3, 2]), kernel),
		double: matmul(cast(x, "float64"), cast(w, "float64")),
	};
	const levels = (precision: "tf32" | "float32" | "bf16") => {
		const { text } = toStableHlo({ outputs }, { precision });
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
	const [x, w] = [input("x", [2, 3, 9]), parameter("w", [3, 1, 4])];
	const y = conv1d(x, w, { groups: 3, padding: [3, 0] });
	const [dx, dw] = gradients(sum(y), [x, w]);
	const { text } = toStableHlo({ outputs: { y, dx, dw: dw } });
	expect(linesOf(text, "convolution")).toEqual([]);
	const long = parameter("long", [3, 1, 65]);
	const beyond = conv1d(input("many", [2, 3, 140]), long, { groups: 3 });
	expect(linesOf(toStableHlo({ outputs: { beyond } }).text, "convolution")).toHaveLength(1);
});

test("bfloat16 products are sums of rounded operands", () => {
	const { text } = toStableHlo({ outputs: { y: matmul(x, w) } }, { precision: "bf16" });
	const [y] = interpret(text, [[1 + 2 ** -8, 1 + 3 * 2 ** -8, 1, 0, 0, 0], new Array(12).fill(1)]);
	// The first is half way between two, and goes to the even one.
	expect(y?.[0]).toBe(1 + (1 + 2 ** -6) + 1);
});

test("products with a table of the graph are exact in every precision", () => {
	const table = constant([1, 0, 1, 0, 0, 1, 1, 1, 1], [3, 3]);
	const { text } = toStableHlo({ outputs: { y: matmul(x, table) } }, { precision: "bf16" });
	expect(linesOf(text, "dot_general").join()).toContain("precision HIGHEST");
	expect(text).not.toContain("bf16");
});

test("transposed sides and shared batch axes are axes of one product", () => {
	const [a, b] = [input("a", [5, 2, 7, 3]), input("b", [5, 2, 7, 4])];
	const { text } = toStableHlo({ outputs: { y: matmul(a, b, { transposeA: true }) } });
	expect(text).not.toContain("stablehlo.transpose");
	expect(linesOf(text, "dot_general").join()).toContain(
		"lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
	);
});

test("gradients are summed over replicas", () => {
	const loss = sumSquares(matmul(x, w));
	const [gradient] = gradients(loss, [w]) as [Tensor];
	const outputs = { gradient: allReduceSum(gradient) };
	const given = [[1, 2, 3, 4, 5, 6], new Array(12).fill(1)];
	const alone = toStableHlo({ outputs });
	expect(linesOf(alone.text, "all_reduce")).toEqual([]);
	const four = toStableHlo({ outputs }, { replicas: 4 });
	expect(parseModule(four.text).attributes["mhlo.num_replicas"]).toBe(4);
	expect(linesOf(four.text, "all_reduce").join()).toContain(
		"replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>",
	);
	const [one] = interpret(alone.text, given);
	const [all] = interpret(four.text, given);
	expect([...all]).toEqual(Array.from(one, (value) => 4 * value));
});

test("open sizes are filled in", () => {
	const open = input("open", ["rows", "columns"]);
	const flat = reshape(mul(open, 2), [-1, 1]);
	const outputs = { ends: slice(expand(flat, ["columns*rows", 2]), 0, "columns") };
	const {
		text,
		inputs,
		outputs: results,
	} = toStableHlo({ outputs }, { sizes: { rows: 2, columns: 3 } });
	expect(inputs[0]?.shape).toEqual([2, 3]);
	expect(results[0]?.shape).toEqual([3, 2]);
	expect([...interpret(text, [[1, 2, 3, 4, 5, 6]])[0]]).toEqual([8, 8, 10, 10, 12, 12]);
	expect(() => toStableHlo({ outputs })).toThrow('the size "rows" is open');
});

test("constants are read back as exactly the numbers they were", () => {
	const numbers = [0, -0, 1e21, 1e-7, 0.1, -1.5, Math.PI * 1e300, Number.NaN, -Infinity, Infinity];
	const many = Array.from({ length: 40 }, (_, i) => Math.sin(i) * 10 ** (i - 20));
	const whole = [0x9e3779b1, -1, 2 ** 31 - 1];
	const bits = Array.from({ length: 21 }, (_, i) => Number(i % 3 === 0));
	const { text } = toStableHlo({
		outputs: {
			few: constant(numbers, [5, 2], "float64"),
			single: constant(numbers, [10]),
			many: constant(many, [40], "float64"),
			manySingle: constant(many, [8, 5]),
			whole: constant(whole, [3], "int32"),
			counted: constant([0, 1, 2, 3], [4], "int32"),
			bits: constant(bits, [21], "bool"),
			equal: filled(0.1, [2, 2]),
			none: constant([], [0]),
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
	const given = input("i", [count], "int32");
	const rows = input("values", [count, 1]);
	const outputs = {
		rows: scatterAdd(rows, given, targets),
		flat: scatterAdd(reshape(rows, [-1]), given, targets),
		along: placeAdd(reshape(rows, [1, count]), reshape(given, [1, count]), 1, targets),
		whole: scatterAdd(
			cast(slice(reshape(rows, [-1]), 0, 0, 9), "int32"),
			slice(given, 0, 0, 9),
			90,
		),
	};
	const { text } = toStableHlo({ outputs });
	expect(linesOf(text, "scatter").length).toBe(4);
	const [first, second, third, whole] = interpret(text, [values, indices]);
	for (const sums of [first, second, third]) expect(sums).toEqual(expected);
	expect([...whole.subarray(0, 5)]).toEqual([0, 1, 0, 0, 2]);
});

test("a recurrence and its gradient are two loops, of any length", () => {
	const linesFor = (length: number) => {
		const w = parameter("w", [3, 3]);
		const { outputs } = scan(
			(h: Tensor, [x]) => {
				const next = tanh(add(matmul(h, w), x));
				return [next, next];
			},
			filled(0, [2, 3]),
			[input("sequence", [2, length, 3])],
		);
		const [gradient] = gradients(sumSquares(outputs), [w]) as [Tensor];
		const { text } = toStableHlo({ outputs: { gradient } });
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
	const twice = toStableHlo({ outputs: { y: add(sum(mul(x, 2)), sum(mul(x, 2))) } });
	const total = sum(mul(x, 2));
	expect(twice.text).toBe(toStableHlo({ outputs: { y: add(total, total) } }).text);
});

test("rows and elements are found by index", () => {
	const i = input("i", [2, 3], "int32");
	const { text } = toStableHlo({ outputs: { rows: gather(w, i), each: pick(x, i, 1) } });
	parseModule(text);
	expect(linesOf(text, "gather").length).toBe(2);
});

import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { nodeRuntime } from "../runtime/node.js";
import { arrays, type Data } from "../runtime/runtime.js";
import type { DType, FixedShape, FloatType, Target, Tensor } from "./index.js";
import * as graph from "./index.js";
import { plain } from "./testing/arrays.js";
import {
	type Case,
	type Given,
	notOperations,
	type OperationName,
	type Table,
} from "./testing/cases.js";
import { elementwiseCases } from "./testing/elementwise-cases.js";
import { indexCases } from "./testing/index-cases.js";
import { layerCases } from "./testing/layer-cases.js";
import { productCases } from "./testing/product-cases.js";
import { reduceCases } from "./testing/reduce-cases.js";
import { shapeCases } from "./testing/shape-cases.js";

const operations: Table<OperationName> = {
	...elementwiseCases,
	...reduceCases,
	...shapeCases,
	...productCases,
	...indexCases,
	...layerCases,
};

interface Value {
	readonly shape: FixedShape;
	readonly kind: "float" | "int32" | "bool";
	readonly values: readonly number[];
}

function drawn(given: Given, name: string): Value {
	const rng = random(0).fork(name);
	const shape = "shape" in given ? given.shape : given;
	const draw = (value: () => number) => Array.from({ length: graph.size(shape) }, value);
	if (!("shape" in given) || "from" in given) {
		const [from, to] = "from" in given ? [given.from, given.to] : [-1.5, 1.5];
		// Exact in both dtypes, so that they compute from the same numbers.
		return {
			shape,
			kind: "float",
			values: draw(() => Math.fround(from + (to - from) * rng.uniform())),
		};
	}
	if ("below" in given)
		return { shape, kind: "int32", values: draw(() => rng.integer(given.below)) };
	if ("bool" in given) return { shape, kind: "bool", values: draw(() => rng.integer(2)) };
	return { shape, kind: given.dtype === "int32" ? "int32" : "float", values: given.values };
}

const runtimes = {
	cpu: nodeRuntime({ threads: 1 }),
	portable: nodeRuntime({ threads: 1, target: "portable" }),
};

/** The case as a program: its value; a weighted sum of that, its gradients, and once more. */
async function compiled(
	{ build }: Case,
	given: Readonly<Record<string, Value>>,
	dtype: FloatType,
	target: Target,
) {
	const typed = (kind: Value["kind"]): DType => (kind === "float" ? dtype : kind);
	const inputs = Object.fromEntries(
		Object.entries(given).map(([name, { shape, kind }]) => [
			name,
			graph.input(name, shape, typed(kind)),
		]),
	);
	const weighted = (tensors: readonly Tensor[], label: string) =>
		tensors
			.map((x, i) => {
				const weights = drawn(x.shape as FixedShape, `${label}${i}`).values;
				return graph.sum(graph.mul(x, graph.constant(weights, x.shape, dtype)));
			})
			.reduce(graph.add);
	const value = build(inputs, dtype);
	const outputs: Record<string, Tensor> = { value };
	const floats = Object.entries(inputs).filter(([, x]) => x.dtype === dtype);
	if (value.dtype === dtype && floats.length > 0) {
		const wrt = floats.map(([, x]) => x);
		outputs.once = weighted([value], "value");
		const first = graph.gradients(outputs.once, wrt);
		outputs.twice = weighted(first, "gradient");
		const second = graph.gradients(outputs.twice, wrt);
		floats.forEach(([name], i) => {
			outputs[`once/${name}`] = first[i] as Tensor;
			outputs[`twice/${name}`] = second[i] as Tensor;
		});
	}
	const program = await runtimes[target].compile({ outputs });
	const used = new Set(graph.inOrder(Object.values(outputs)).flatMap(({ outputs }) => outputs));
	const feeds: Record<string, Data> = {};
	for (const [name, { kind, values }] of Object.entries(given)) {
		if (used.has(inputs[name] as Tensor)) feeds[name] = arrays[typed(kind)].from(values);
	}
	return { program, feeds, shape: value.shape, wrt: floats.map(([name]) => name) };
}

/** All within `tolerance` of the expected, as a part of the largest among them. */
function expectClose(
	got: Data,
	expected: ArrayLike<number>,
	tolerance: number,
	what: string,
): void {
	expect(got.length, what).toBe(expected.length);
	const scale = Math.max(1e-3, ...Array.from(expected, Math.abs));
	for (let i = 0; i < got.length; i++) {
		const [a, b] = [got[i] as number, expected[i] as number];
		if (!(Math.abs(a - b) <= tolerance * scale))
			expect.fail(`${what}: element ${i} is ${a}, expected ${b}`);
	}
}

/** Elements to move: all of a small tensor, some of a large one. */
const moved = (size: number): number[] =>
	size <= 40
		? Array.from({ length: size }, (_, i) => i)
		: Array.from({ length: 20 }, (_, i) => Math.floor((i * size) / 20));

async function check(entry: Case): Promise<void> {
	const given = Object.fromEntries(
		Object.entries(entry.given).map(([name, value]) => [name, drawn(value, name)]),
	);
	const { program, feeds, shape, wrt } = await compiled(entry, given, "float64", "cpu");
	const exact = await program.run(feeds);

	const expected = entry.expected(
		Object.fromEntries(
			Object.entries(given).map(([name, { shape, values }]) => [name, plain(shape, values)]),
		),
	);
	if ("shape" in expected) expect(shape).toEqual(expected.shape);
	expectClose(exact.value as Data, "shape" in expected ? expected.data : expected, 1e-12, "value");

	const step = 1e-5;
	for (const name of wrt) {
		const values = feeds[name];
		if (!values || !exact.once) continue;
		for (const order of ["once", "twice"]) {
			const gradient = exact[`${order}/${name}`] as Data;
			const scale = Math.max(1, ...gradient.map(Math.abs));
			for (const i of moved(values.length)) {
				const at = async (by: number): Promise<number> => {
					const shifted: Data = values.slice();
					shifted[i] = (values[i] as number) + by;
					return ((await program.run({ ...feeds, [name]: shifted }))[order] as Data)[0] as number;
				};
				const slope = ((await at(step)) - (await at(-step))) / (2 * step);
				if (!(Math.abs((gradient[i] as number) - slope) <= 1e-6 * scale))
					expect.fail(`d ${order} / d ${name}[${i}] is ${gradient[i]}, by differences ${slope}`);
			}
		}
	}
	await program.dispose();

	for (const target of ["cpu", "portable"] as const) {
		const { program, feeds } = await compiled(entry, given, "float32", target);
		const got = await program.run(feeds);
		for (const name of ["value", ...wrt.map((name) => `once/${name}`)])
			if (got[name])
				expectClose(got[name], exact[name] as Data, 1e-5, `float32, ${target}: ${name}`);
		await program.dispose();
	}
}

test("every exported operation has an entry", () => {
	const exported = Object.entries(graph)
		.filter(([, value]) => typeof value === "function")
		.map(([name]) => name);
	const covered = [...Object.keys(operations), ...notOperations];
	expect(covered.sort()).toEqual(exported.sort());
});

describe.each(Object.entries(operations))("%s", (_, cases) => {
	test.each(cases.map((entry, i) => [i, entry] as const))(
		"case %i: value, gradients, float32",
		(_, entry) => check(entry),
	);
});

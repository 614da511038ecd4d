import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { arrays, type Data, type Runtime } from "../../runtime/runtime.js";
import type { DType, FixedShape, FloatType, Tensor } from "../index.js";
import * as graph from "../index.js";
import { plain } from "./arrays.js";
import type { Case, Given, OperationName, Table } from "./cases.js";
import { elementwiseCases } from "./elementwise-cases.js";
import { indexCases } from "./index-cases.js";
import { layerCases } from "./layer-cases.js";
import { productCases } from "./product-cases.js";
import { reduceCases } from "./reduce-cases.js";
import { shapeCases } from "./shape-cases.js";

/** The cases of all operations. */
export const operationCases: Table<OperationName> = {
	...elementwiseCases,
	...reduceCases,
	...shapeCases,
	...productCases,
	...indexCases,
	...layerCases,
};

/** The values of an input. */
export interface Value {
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

/** The values of a case's inputs. */
export const drawnInputs = ({ given }: Case): Readonly<Record<string, Value>> =>
	Object.fromEntries(Object.entries(given).map(([name, value]) => [name, drawn(value, name)]));

/** The case as a graph: its value; a weighted sum of that, its gradients, and once more. */
export function caseGraph(
	{ build }: Case,
	given: Readonly<Record<string, Value>>,
	dtype: FloatType,
): {
	readonly outputs: Readonly<Record<string, Tensor>>;
	readonly feeds: Record<string, Data>;
	/** The names of the inputs that it is differentiated by. */
	readonly wrt: readonly string[];
} {
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
			outputs[`once/${name}`] = first[i];
			outputs[`twice/${name}`] = second[i];
		});
	}
	const used = new Set(graph.inOrder(Object.values(outputs)).flatMap(({ outputs }) => outputs));
	const feeds: Record<string, Data> = {};
	for (const [name, { kind, values }] of Object.entries(given)) {
		if (used.has(inputs[name])) feeds[name] = arrays[typed(kind)].from(values);
	}
	return { outputs, feeds, wrt: floats.map(([name]) => name) };
}

async function compiled(
	entry: Case,
	given: Readonly<Record<string, Value>>,
	dtype: FloatType,
	runtime: Runtime,
) {
	const { outputs, ...rest } = caseGraph(entry, given, dtype);
	const program = await runtime.compile({ outputs });
	return { program, shape: outputs.value?.shape, ...rest };
}

/** All within `tolerance` of the expected, as a part of the largest among them. */
export function expectClose(
	got: Data,
	expected: ArrayLike<number>,
	tolerance: number,
	what: string,
): void {
	expect(got.length, what).toBe(expected.length);
	const scale = Math.max(1e-3, ...Array.from(expected, Math.abs));
	for (let i = 0; i < got.length; i++) {
		const [a, b] = [got[i], expected[i]];
		if (!(Math.abs(a - b) <= tolerance * scale))
			expect.fail(`${what}: element ${i} is ${a}, expected ${b}`);
	}
}

/** Elements to move: all of a small tensor, some of a large one. */
const moved = (size: number): number[] =>
	size <= 40
		? Array.from({ length: size }, (_, i) => i)
		: Array.from({ length: 20 }, (_, i) => Math.floor((i * size) / 20));

async function check(
	entry: Case,
	exactly: Runtime,
	tested: Readonly<Record<string, Runtime>>,
): Promise<void> {
	const given = drawnInputs(entry);
	const { program, feeds, shape, wrt } = await compiled(entry, given, "float64", exactly);
	const exact = await program.run(feeds);

	const expected = entry.expected(
		Object.fromEntries(
			Object.entries(given).map(([name, { shape, values }]) => [name, plain(shape, values)]),
		),
	);
	if ("shape" in expected) expect(shape).toEqual(expected.shape);
	expectClose(exact.value, "shape" in expected ? expected.data : expected, 1e-12, "value");

	const step = 1e-5;
	for (const name of wrt) {
		const values = feeds[name];
		if (!values || !exact.once) continue;
		for (const order of ["once", "twice"]) {
			const gradient = exact[`${order}/${name}`];
			const scale = Math.max(1, ...gradient.map(Math.abs));
			for (const i of moved(values.length)) {
				const at = async (by: number): Promise<number> => {
					const shifted: Data = values.slice();
					shifted[i] = values[i] + by;
					return (await program.run({ ...feeds, [name]: shifted }))[order][0];
				};
				const slope = ((await at(step)) - (await at(-step))) / (2 * step);
				if (!(Math.abs(gradient[i] - slope) <= 1e-6 * scale))
					expect.fail(`d ${order} / d ${name}[${i}] is ${gradient[i]}, by differences ${slope}`);
			}
		}
	}
	await program.dispose();

	for (const [label, runtime] of Object.entries(tested)) {
		const { program, feeds } = await compiled(entry, given, "float32", runtime);
		const got = await program.run(feeds);
		for (const name of ["value", ...wrt.map((name) => `once/${name}`)])
			if (got[name]) expectClose(got[name], exact[name], 1e-5, `float32, ${label}: ${name}`);
		await program.dispose();
	}
}

/**
 * What every runtime must do. `exactly` computes in float64: values, and first and second derivatives against
 * central differences. Each of `tested` must agree with it in float32.
 */
export const conformance = (exactly: Runtime, tested: Readonly<Record<string, Runtime>>): void =>
	describe.each(Object.entries(operationCases))("%s", (_, cases) => {
		test.each(cases.map((entry, i) => [i, entry] as const))(
			"case %i: value, gradients, float32",
			(_, entry) => check(entry, exactly, tested),
		);
	});

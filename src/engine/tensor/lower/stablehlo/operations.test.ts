import { describe, expect, test } from "vitest";
import { nodeRuntime } from "../../../runtime/node.js";
import type { Feeds } from "../../../runtime/runtime.js";
import { type Graph, toStableHlo } from "../../index.js";
import { plain } from "../../testing/arrays.js";
import type { Case } from "../../testing/cases.js";
import { caseGraph, drawnInputs, expectClose, operationCases } from "../../testing/conformance.js";
import { interpret } from "./testing/interpreter.js";

const runtime = nodeRuntime({ threads: 1 });

function interpreted(graph: Graph, feeds: Feeds): Record<string, Float64Array> {
	const { text, inputs, outputs } = toStableHlo(graph, { precision: "float32" });
	const results = interpret(
		text,
		inputs.map(({ name }) => feeds[name]),
	);
	return Object.fromEntries(outputs.map(({ name }, i) => [name, results[i]]));
}

/** The text computes what is expected, and the derivatives that ONNX Runtime computes. */
async function check(entry: Case): Promise<void> {
	const given = drawnInputs(entry);
	const { outputs, feeds } = caseGraph(entry, given, "float64");
	const got = interpreted({ outputs }, feeds);
	const expected = entry.expected(
		Object.fromEntries(
			Object.entries(given).map(([name, { shape, values }]) => [name, plain(shape, values)]),
		),
	);
	expectClose(got.value, "shape" in expected ? expected.data : expected, 1e-12, "value");
	const program = await runtime.compile({ outputs });
	const exact = await program.run(feeds);
	await program.dispose();
	for (const name of Object.keys(outputs)) expectClose(got[name], exact[name], 1e-11, name);

	const short = caseGraph(entry, given, "float32");
	const rounded = interpreted({ outputs: short.outputs }, short.feeds);
	for (const name of ["value", ...short.wrt.map((name) => `once/${name}`)])
		if (rounded[name]) expectClose(rounded[name], exact[name], 1e-5, `float32: ${name}`);
}

describe.each(Object.entries(operationCases))("%s", (_, cases) => {
	test.each(cases.map((entry, i) => [i, entry] as const))(
		"case %i: value and gradients from the text",
		(_, entry) => check(entry),
	);
});

test("the same graph gives the same text", () => {
	for (const cases of Object.values(operationCases)) {
		const [first] = cases;
		const [a, b] = [1, 2].map(() =>
			toStableHlo({ outputs: caseGraph(first, drawnInputs(first), "float32").outputs }),
		);
		expect(a).toEqual(b);
	}
});

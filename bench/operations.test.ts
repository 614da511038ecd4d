import { expect, test } from "vitest";
import type { Runtime } from "../src/engine/runtime/runtime.js";
import type { Tensor } from "../src/engine/tensor/index.js";
import { notOperations } from "../src/engine/tensor/testing/cases.js";
import { built, load } from "./testing/load.js";

const graph = await built("engine/tensor/index");
const { nodeRuntime } = await built("engine/runtime/node");
const { audit, auditCases, outputsOf } = await load("operations");

test("every operation of the graph has a case", () => {
	const operations = Object.entries(graph)
		.filter(
			([name, value]) => typeof value === "function" && !notOperations.includes(name as never),
		)
		.map(([name]) => name);
	expect(Object.keys(auditCases).sort()).toEqual(operations.sort());
});

test("no operation uses a kernel that loses updates", () => {
	for (const [name, entry] of Object.entries(auditCases)) {
		const outputs = outputsOf(entry);
		for (const target of ["cpu", "portable"] as const) {
			const { bytes } = graph.toOnnx({ outputs }, target);
			expect(Buffer.from(bytes).includes("ScatterND"), name).toBe(false);
		}
	}
});

/** A runtime that changes a value in some of its runs, as a lost update does. */
function faulty(isWrong: (run: number) => boolean): Runtime {
	const sound = nodeRuntime({ threads: 1 });
	return {
		...sound,
		async compile(graph) {
			const program = await sound.compile(graph);
			let runs = 0;
			return {
				...program,
				async run(...args) {
					const outputs = await program.run(...args);
					if (isWrong(++runs) && outputs.value) outputs.value[3] = (outputs.value[3] ?? 0) + 0.5;
					return outputs;
				},
			};
		},
	};
}

test("detects runs that differ, and runs that agree on a wrong value", async () => {
	const double = {
		given: { x: { shape: [8], kind: "positive" } },
		build: ({ x }: Readonly<Record<string, Tensor>>) => graph.mul(x ?? graph.input("x", [8]), 2),
	} as const;
	const [, some] = await audit(
		double,
		[nodeRuntime({ threads: 1, spinning: false }), faulty((run) => run % 2 === 0)],
		5,
	);
	expect(some?.differing).toBe(2);
	expect(some?.error).toBeGreaterThan(0.1);
	const [, all] = await audit(
		double,
		[nodeRuntime({ threads: 1, spinning: false }), faulty(() => true)],
		5,
	);
	expect(all?.differing).toBe(0);
	expect(all?.error).toBeGreaterThan(0.1);
});

import { expect, test } from "vitest";
import { nodeRuntime } from "../runtime/node.js";
import * as graph from "./index.js";
import { notOperations } from "./testing/cases.js";
import { conformance, operationCases } from "./testing/conformance.js";

test("every exported operation has an entry", () => {
	const exported = Object.entries(graph)
		.filter(([, value]) => typeof value === "function")
		.map(([name]) => name);
	const covered = [...Object.keys(operationCases), ...notOperations];
	expect(covered.sort()).toEqual(exported.sort());
});

const cpu = nodeRuntime({ threads: 1 });

conformance(cpu, {
	cpu,
	inference: nodeRuntime({ threads: 1, purpose: "inference" }),
	portable: nodeRuntime({ threads: 1, target: "portable" }),
});

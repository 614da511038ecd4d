import { describe, expect, test } from "vitest";
import type { Runtime } from "../src/engine/runtime/runtime.js";
import { built, load } from "./testing/load.js";

const { nodeRuntime } = await built("engine/runtime/node");
const { audit, auditCases } = await load("operations");

const kernels = (threads: number): Runtime => nodeRuntime({ threads, spinning: false });
const portable = nodeRuntime({ threads: 4, target: "portable", spinning: false });

describe("repeats bit for bit, and agrees with one thread, on 1, 2 and 4 threads", () => {
	const runtimes = [kernels(1), kernels(2), kernels(4), portable];
	test.each(Object.entries(auditCases))("%s", async (_, entry) => {
		for (const { runtime, differing, error } of await audit(entry, runtimes, 6)) {
			expect(differing, runtime).toBe(0);
			expect(error, runtime).toBeLessThan(1e-5);
		}
	});
});

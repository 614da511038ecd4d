import { afterAll, expect, test } from "vitest";
import { random } from "../base/random.js";
import { input, mul } from "../graph/index.js";
import type { Runtime } from "../runtime/index.js";
import { nodeRuntime } from "../runtime/node.js";
import { type RowGraph, rowPrograms } from "./history-rows.js";

const runtime = nodeRuntime({ threads: 1 });
afterAll(async () => runtime.dispose?.());

/** A runtime that counts programs, and the runs that were started but not read. */
function counted(queues: boolean) {
	const seen = { programs: 0, most: 0, open: 0 };
	const own: Runtime = {
		...runtime,
		...(queues && { queues: true as const }),
		resident: (values) => runtime.resident(values),
		async compile(graph) {
			seen.programs++;
			const program = await runtime.compile(graph);
			if (!queues) return program;
			return {
				...{ run: program.run.bind(program), dispose: () => program.dispose() },
				async enqueue(feeds, resident) {
					seen.open++;
					seen.most = Math.max(seen.most, seen.open);
					const outputs = await program.run(feeds as never, resident);
					return {
						async read() {
							seen.open--;
							return outputs;
						},
						dispose: () => {},
					};
				},
			};
		},
	};
	return { own, seen };
}

/** Twice the length of each row. */
const doubled: RowGraph = {
	weights: new Map(),
	build: (_parameters, { rows }) => mul(input("lengths", [rows, 1]), 2),
	feeds: ({ lengths }) => ({ lengths: Float32Array.from(lengths) }),
};

const draw = random(1);
const histories = Array.from({ length: 4000 }, () => {
	const events = 2 + Math.floor(300 * draw.uniform() ** 3);
	return {
		...{ tokens: new Int32Array(events).fill(5), times: new Float64Array(events) },
		birthEvents: 0 as const,
	};
});

test.each([
	{ name: "an engine", queues: false, mostPrograms: 9, mostOpen: 0 },
	{ name: "a device", queues: true, mostPrograms: 4, mostOpen: 4 },
])("$name gives every history its row, with few programs", async (expected) => {
	const { own, seen } = counted(expected.queues);
	const programs = rowPrograms(own, doubled);
	const found = await programs.run(histories);
	await programs.dispose();
	expect([...found]).toEqual(histories.map(({ tokens }) => 2 * tokens.length));
	expect(seen.programs).toBeLessThanOrEqual(expected.mostPrograms);
	expect(seen.most).toBe(expected.mostOpen);
	expect(seen.open).toBe(0);
});

import { afterAll, expect, test } from "vitest";
import { random } from "../base/random.js";
import type { Runtime } from "../engine/runtime/index.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { input, mul } from "../engine/tensor/index.js";
import { coarseLength, type RowGraph, rowPrograms } from "./history-rows.js";

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

test("a history that grows by some events needs no other program", async () => {
	const { own, seen } = counted(false);
	const rows = rowPrograms(own, doubled);
	const grown = (length: number) => ({
		...{ tokens: new Int32Array(length).fill(6), birthEvents: 0 as const },
		times: Float64Array.from({ length }, (_, at) => at),
	});
	for (const length of [193, 202, 224])
		expect(await rows.run([grown(length)])).toEqual(Float32Array.of(2 * length));
	expect(seen.programs).toBe(1);
	// Never more than a model can read.
	expect(await rows.run([grown(202)], { maxLength: 210 })).toEqual(Float32Array.of(404));
	await rows.dispose();
	expect([1, 32, 33, 202, 256, 257, 1100].map(coarseLength)).toEqual([
		32, 32, 64, 224, 256, 320, 1280,
	]);
});

import { expect, test, vi } from "vitest";
import type { Runtime } from "../../../engine/runtime/index.js";
import * as ort from "../../../engine/runtime/onnxruntime-node.js";
import type { Events } from "../../../model/index.js";
import { partsOf, smallServed } from "../testing/small-served.js";
import { localEngine, serviceRuntime } from "./engine.js";

/** Counts the programs that were compiled, those that are still held, and the most events that a run has read of a history. */
function countingRuntime() {
	const runtime = serviceRuntime(1);
	const counts = { compiled: 0, held: 0, events: 0 };
	const counting: Runtime = {
		...runtime,
		async compile(graph) {
			counts.compiled++;
			counts.held++;
			const program = await runtime.compile(graph);
			return {
				...program,
				run(feeds, resident, options) {
					const { length = 0, slots = 0 } = options?.sizes ?? {};
					counts.events = Math.max(counts.events, length, slots);
					return program.run(feeds, resident, options);
				},
				dispose: () => {
					counts.held--;
					return program.dispose();
				},
			};
		},
	};
	return { counts, counting };
}

const history = (events: number): Events => ({
	tokens: Array.from({ length: events }, (_, i) => 5 + (i % 7)),
	times: Array.from({ length: events }, (_, i) => i),
});

test("few programs serve histories of every length, and all are released", async () => {
	const { counts, counting } = countingRuntime();
	const { start, forecast, observe, represent, dispose } = localEngine(
		partsOf(smallServed()),
		counting,
	);
	const query = (events: number, times: readonly number[]) =>
		forecast({
			of: { history: history(events) },
			times,
			at: times,
			top: 1,
			birth: null,
			axis: "days",
		});
	await query(2, [500]);
	await query(2, [0.5, 500]);
	await observe(await start(1), [history(2)]);
	const { compiled } = counts;
	expect(compiled).toBeLessThanOrEqual(3);
	for (let events = 3; events < 120; events += 13) {
		await query(events, [500]);
		await query(
			events,
			Array.from({ length: 1 + (events % 9) }, (_, i) => 500 + i),
		);
		await observe(await start(1), [history(events)]);
		expect(counts.compiled).toBe(compiled);
	}
	for (let events = 1; events <= 5000; events += 7 + (events >> 3))
		await represent([history(events)]);
	expect(counts.held).toBeLessThanOrEqual(compiled + 24);
	expect(counts.compiled).toBeLessThanOrEqual(compiled + 30);
	await dispose();
	expect(counts.held).toBe(0);
});

test("few programs give risks at any number of times, and none reads a long history at once", async () => {
	const { counts, counting } = countingRuntime();
	const { incidence, dispose } = localEngine(partsOf(smallServed()), counting);
	const at = async (events: number, times: number) => {
		await incidence([history(events)], [[5]], [[events]], [365]);
		const along = Array.from({ length: times }, (_, i) => Math.floor((events * i) / times));
		await incidence([history(events)], [[5]], [along], [365]);
	};
	await at(40, 3);
	const { compiled } = counts;
	expect(compiled).toBeLessThanOrEqual(3);
	for (const [events, times] of [
		[60, 1],
		[300, 9],
		[700, 40],
		[1400, 5],
	] as const)
		await at(events, times);
	expect(counts.compiled).toBe(compiled);
	expect(counts.events).toBeLessThanOrEqual(512);
	await dispose();
	expect(counts.held).toBe(0);
});

test("no program keeps the memory of its largest run", async () => {
	const create = vi.spyOn(ort.InferenceSession, "create");
	const { start, observe, represent, dispose } = localEngine(partsOf(smallServed()));
	await observe(await start(1), [history(20)]);
	await represent([history(20)]);
	const arenas = (create.mock.calls as unknown[][]).map(
		([, options]) => (options as ort.InferenceSession.SessionOptions).enableCpuMemArena,
	);
	expect(arenas).toEqual([false, false]);
	create.mockRestore();
	await dispose();
});

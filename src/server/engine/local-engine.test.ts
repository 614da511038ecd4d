import { expect, test } from "vitest";
import type { Events } from "../../models/index.js";
import type { Runtime } from "../../runtime/index.js";
import { partsOf, smallServed } from "../testing/small-served.js";
import { localEngine, serviceRuntime } from "./local-engine.js";

/** Counts the programs that were compiled, and those that are still held. */
function countingRuntime() {
	const runtime = serviceRuntime(1);
	const counts = { compiled: 0, held: 0 };
	const counting: Runtime = {
		...runtime,
		async compile(graph) {
			counts.compiled++;
			counts.held++;
			const program = await runtime.compile(graph);
			return {
				...program,
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
	const { predictor, represent, dispose } = localEngine(partsOf(smallServed()), counting);
	const forecast = (events: number, times: readonly number[]) =>
		predictor.queryWithin(predictor.start(1), [history(events)], [times]);
	await forecast(2, [500]);
	await forecast(2, [0.5, 500]);
	const { compiled } = counts;
	expect(compiled).toBeLessThanOrEqual(2);
	for (let events = 3; events < 120; events += 13) {
		await forecast(events, [500]);
		await forecast(
			events,
			Array.from({ length: 1 + (events % 9) }, (_, i) => 500 + i),
		);
		expect(counts.compiled).toBe(compiled);
	}
	const lengths = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
	// The first again: it is still held.
	for (const length of [...lengths, 16]) await represent([history(Math.min(5000, length - 1))]);
	const all = compiled + lengths.length;
	expect(counts).toEqual({ compiled: all, held: all });
	await dispose();
	expect(counts.held).toBe(0);
});

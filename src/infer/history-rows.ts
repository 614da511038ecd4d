import { fillBatch, planBatches } from "../cohort/batches.js";
import type { History } from "../cohort/index.js";
import type { Tensor } from "../graph/index.js";
import { checkFinite } from "../models/finite.js";
import type { BatchShape, EventBatch, Parameters, ParameterValues } from "../models/index.js";
import { parametersOf } from "../nn/weights.js";
import { type Feeds, programs, type Runtime } from "../runtime/index.js";

/** Slots in a batch, padding included. */
const slots = 4096;

/** What gives each history of a batch a row of numbers. */
export interface RowGraph {
	readonly weights: ParameterValues;
	build(parameters: Parameters, shape: BatchShape): Tensor; // [rows, width]
	feeds(batch: EventBatch): Feeds;
}

/**
 * A row of numbers for each history: [histories, width]. Histories of like length go together, in
 * few static shapes; those longer than `maxLength` are seen from their end.
 */
export async function historyRows(
	runtime: Runtime,
	{ weights, build, feeds }: RowGraph,
	histories: readonly Pick<History, "tokens" | "times" | "birthEvents">[],
	maxLength = Number.POSITIVE_INFINITY,
): Promise<Float32Array> {
	const lengths = histories.map(({ tokens }) => tokens.length);
	const plan = planBatches(
		lengths,
		histories.map(({ birthEvents }) => birthEvents),
		{
			maxLength: Math.min(
				maxLength,
				lengths.reduce((a, b) => Math.max(a, b), 2),
			),
			cut: "last",
			size: { slots },
			seed: 0,
		},
	);
	const symbols = parametersOf(weights);
	const compiled = programs(
		runtime,
		(shape: BatchShape) => ({ outputs: { rows: build(symbols, shape) } }),
		{ keyText: ({ rows, length }) => `${rows}x${length}` },
	);
	const resident = runtime.resident(weights);
	let found = new Float32Array(0);
	try {
		for (const planned of plan.epoch(0)) {
			const batch = await fillBatch(plan, planned, async (at) => histories[at] as History);
			const { rows } = await compiled.run(planned, feeds(batch), resident);
			const values = rows as Float32Array;
			const width = values.length / planned.rows;
			if (found.length === 0) found = new Float32Array(histories.length * width);
			for (const [row, at] of batch.sequences.entries())
				if (at >= 0) found.set(values.subarray(row * width, (row + 1) * width), at * width);
		}
	} finally {
		resident.dispose();
		await compiled.dispose();
	}
	return checkFinite(found, "value for a history");
}

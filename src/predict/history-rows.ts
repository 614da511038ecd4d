import { alone, isOwn, withOthers } from "../base/communicator.js";
import { type Batch, fillBatch, planBatches } from "../data/cohort/batches.js";
import type { History } from "../data/cohort/index.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import {
	type Feeds,
	type Pending,
	programs,
	type Resident,
	type Runtime,
} from "../engine/runtime/index.js";
import type { Tensor } from "../engine/tensor/index.js";
import type {
	BatchShape,
	EventBatch,
	Events,
	Parameters,
	ParameterValues,
} from "../model/index.js";
import { parametersOf } from "../model/nn/weights.js";
import { checkFinite } from "../model/predictor.js";

/** Slots in a batch, padding included, and the maximum number of shapes. */
const batching = {
	engine: { slots: 4096, maxShapes: 9 },
	// A device computes more slots at once, and takes seconds to compile a shape.
	device: { slots: 16_384, maxShapes: 4 },
} as const;
/** Batches that a device is given ahead. */
const queued = 4;
/** With so few histories, somebody is editing one: padding costs less than compiling a program for every new length. */
const fewHistories = 2;

/** Rounds a length up to one of few: multiples of 32, then four per octave. */
export function coarseLength(length: number): number {
	const step = 2 ** Math.max(5, Math.floor(Math.log2(length)) - 2);
	return Math.ceil(length / step) * step;
}

const mostPrograms = 24;

type RowHistory = Pick<History, "tokens" | "times" | "birthEvents">;

/** What gives each history of a batch a row of numbers; `landmarks` are its queries per row, if it has any. */
export interface RowGraph {
	readonly weights: ParameterValues;
	build(parameters: Parameters, shape: BatchShape, landmarks: number): Tensor; // [rows, width]
	feeds(batch: EventBatch, landmarks: number): Feeds;
}

/**
 * The first events of a history and one more at a time, whose own token nothing reads: slot n holds the token before
 * event n, so its hidden state is that of all events.
 */
export function withQuerySlot({ tokens, times }: Events, events: number, time: number) {
	const longer = {
		tokens: new Int32Array(events + 1),
		times: new Float64Array(events + 1).fill(time),
		// A birth stays where a history is longer than can be read.
		birthEvents: (tokens[0] ?? specialCount) < specialCount ? (1 as const) : (0 as const),
	};
	for (let n = 0; n < events; n++) {
		longer.tokens[n] = tokens[n];
		longer.times[n] = times[n];
	}
	return longer;
}

/** Programs that stay compiled between calls. */
export function rowPrograms(runtime: Runtime, { weights, build, feeds }: RowGraph) {
	const symbols = parametersOf(weights);
	const compiled = programs(
		runtime,
		({ landmarks, ...shape }: BatchShape & { readonly landmarks: number }) => ({
			outputs: { rows: build(symbols, shape, landmarks) },
		}),
		{
			keyText: ({ rows, length, landmarks }) => `${rows}x${length}x${landmarks}`,
			most: mostPrograms,
		},
	);
	// Made with the first run: it is a copy of all weights, and a page may never need it.
	let resident: Resident | undefined;
	const { divide = alone } = runtime;
	const { slots, maxShapes } = runtime.queues ? batching.device : batching.engine;
	return {
		/** A row of numbers for each history, [histories, width]. Those of like length go together, in few static shapes. */
		run: (
			histories: readonly RowHistory[],
			{
				maxLength = Number.POSITIVE_INFINITY,
				landmarks = 1,
			}: {
				/** Histories longer than this are seen from their end. */
				readonly maxLength?: number;
				readonly landmarks?: number;
			} = {},
		): Promise<Float32Array> =>
			divide(async (job) => {
				const lengths = histories.map(({ tokens }) => tokens.length);
				const longest = lengths.reduce((a, b) => Math.max(a, b), 2);
				const plan = planBatches(
					lengths,
					histories.map(({ birthEvents }) => birthEvents),
					{
						maxLength: Math.min(maxLength, longest),
						cut: "last",
						size: { slots },
						seed: 0,
						maxShapes,
						passes: 1,
					},
				);
				resident ??= runtime.resident(weights);
				if (runtime.queues)
					for (const { rows, length } of plan.shapes) compiled.compile({ rows, length, landmarks });
				let written: Float32Array = new Float32Array(0);
				const started: { readonly batch: Batch; readonly pending: Pending }[] = [];
				const readFirst = async () => {
					const { batch, pending } = started.shift() as (typeof started)[number];
					const values = (await pending.read()).rows as Float32Array;
					const width = values.length / batch.rows;
					if (written.length === 0) written = new Float32Array(histories.length * width);
					for (const [row, at] of batch.sequences.entries())
						if (at >= 0) written.set(values.subarray(row * width, (row + 1) * width), at * width);
				};
				try {
					for (const [i, exact] of plan.epoch(0).entries()) {
						if (!isOwn(job, i)) continue;
						const length =
							histories.length <= fewHistories && !runtime.queues
								? Math.min(maxLength, coarseLength(exact.length))
								: exact.length;
						const planned = { ...exact, length };
						const batch = await fillBatch(plan, planned, async (at) => histories[at] as History);
						const key = { rows: planned.rows, length: planned.length, landmarks };
						const pending = await compiled.enqueue(key, feeds(batch, landmarks), resident);
						started.push({ batch, pending });
						if (started.length >= (runtime.queues ? queued : 1)) await readFirst();
					}
					while (started.length > 0) await readFirst();
				} finally {
					for (const { pending } of started) pending.dispose();
				}
				return checkFinite(withOthers(job, written), "value for a history");
			}),
		async dispose() {
			resident?.dispose();
			await compiled.dispose();
		},
	};
}

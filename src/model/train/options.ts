import { z } from "zod";
import type { BatchOptions, SplitBatches } from "../../data/cohort/index.js";
import { objectiveNames } from "../index.js";
import { integer, positive } from "../kinds/fields.js";

/** How a run trains; written into `run.json`, and read from there when it is resumed. */
export const trainOptions = z.strictObject({
	epochs: integer(
		0,
		100_000,
		12,
		"passes over the training patients; 0: hazards are those of the regression alone",
	),
	batchSlots: integer(1, 10_000_000, 2048, "events per batch, padding included"),
	batchShapes: integer(
		1,
		64,
		9,
		"shapes of batches, at most: a program is compiled for each, fewer mean more padding",
	),
	trainPatients: z
		.int()
		.min(1)
		.max(1_000_000_000)
		.optional()
		.describe("train on a random subset of this many training patients (default: all)"),
	maxLength: integer(2, 1_000_000, 256, "maximum events per row; longer histories are cut"),
	cut: z
		.enum(["windows", "last"])
		.default("windows")
		.describe("longer histories become several rows, or are cut to their last events"),
	objective: z
		.enum(objectiveNames)
		.default("horizon")
		.describe(
			"next: the next event; horizon: also one further ahead; visits: also each code of a day, from before that day",
		),
	horizon: integer(0, 100_000, 100, "farthest event ahead that a query predicts"),
	learningRate: z
		.number()
		.positive()
		.max(10)
		.describe("highest learning rate (default: that of the model and the preset)"),
	warmup: z
		.number()
		.min(0)
		.max(1)
		.default(0.05)
		.describe("share of the steps over which the learning rate rises"),
	weightDecay: z.number().min(0).max(10).default(0.1).describe("weight decay of matrices (AdamW)"),
	clip: positive(1e6, 1, "maximum global norm of the gradients"),
	accumulate: integer(1, 10_000, 1, "batches per step"),
	patience: integer(1, 100_000, 5, "epochs without a better validation loss before the run stops"),
	embeddings: z
		.enum(["learned", "frozen"])
		.optional()
		.describe(
			"whether embeddings of codes that are read from a file are learned further, or stay as they are (default: learned)",
		),
	checkpointEvery: integer(1, 1_000_000, 200, "steps between checkpoints"),
	seed: integer(0, Number.MAX_SAFE_INTEGER, 1, "seed of weights, batch order and draws"),
});

export type TrainOptions = z.infer<typeof trainOptions>;

const { learningRate, batchSlots, maxLength, clip, seed } = trainOptions.shape;

/** What of training can be set for a task, with defaults of its own. */
export const finetuneOptions = trainOptions
	.pick({ warmup: true, weightDecay: true, patience: true, checkpointEvery: true })
	.extend({
		epochs: integer(1, 100_000, 5, "passes over the labels of the training patients"),
		learningRate: learningRate.default(1e-4).describe("highest learning rate"),
		batchSlots: batchSlots.unwrap().default(2048).describe("events per batch, padding included"),
		maxLength: maxLength.unwrap().default(512).describe("most events of a history, the last ones"),
		// Batches with a positive have by far the longest gradients: shortening them would teach that there
		// are fewer positives.
		clip: clip.unwrap().default(20).describe("maximum global norm of the gradients"),
		seed: seed.unwrap().default(1).describe("of the order of batches"),
	});

/** The learning rate of a step (from 1): a straight rise, then a half cosine down to a tenth. */
export function learningRateAt(
	step: number,
	total: number,
	{ learningRate, warmup }: Pick<TrainOptions, "learningRate" | "warmup">,
): number {
	const rise = Math.round(total * warmup);
	if (step <= rise) return (learningRate * step) / rise;
	const progress = Math.min(1, (step - rise) / Math.max(1, total - rise));
	return learningRate * (0.1 + 0.45 * (1 + Math.cos(Math.PI * progress)));
}

export const batchPlan = (options: TrainOptions): BatchOptions => ({
	maxLength: options.maxLength,
	cut: options.cut,
	size: { slots: options.batchSlots },
	seed: options.seed,
	passes: Math.max(1, options.epochs),
	maxShapes: options.batchShapes,
});

/**
 * To compile a program for an accelerator takes about as long as 2,000 steps of 2,048 slots. Steps with more slots take
 * longer, but less than in proportion.
 */
const stepsPerProgram = ({ batchSlots }: TrainOptions) => 2000 * Math.sqrt(2048 / batchSlots);

/** The number of shapes with which an accelerator needs the least time, to compile programs and to run them. */
export function shapesForDevice(
	options: TrainOptions,
	batchesOf: (plan: BatchOptions) => SplitBatches,
): number {
	const times = Array.from({ length: options.batchShapes }, (_, more) => {
		const { plan } = batchesOf(batchPlan({ ...options, batchShapes: more + 1 }));
		return options.epochs * plan.count + plan.shapes.length * stepsPerProgram(options);
	});
	return times.indexOf(Math.min(...times)) + 1;
}

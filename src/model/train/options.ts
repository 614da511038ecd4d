import { z } from "zod";
import { objectiveNames } from "../index.js";

/** How a run trains; written into `run.json`, and read from there when it is resumed. */
export const trainOptions = z.strictObject({
	epochs: z.int().min(1).max(100_000).default(12).describe("passes over the training patients"),
	batchSlots: z
		.int()
		.min(1)
		.max(10_000_000)
		.default(2048)
		.describe("events per batch, padding included"),
	batchShapes: z
		.int()
		.min(1)
		.max(64)
		.default(9)
		.describe(
			"shapes of batches, at most: a program is compiled for each, fewer mean more padding",
		),
	trainPatients: z
		.int()
		.min(1)
		.max(1_000_000_000)
		.optional()
		.describe("train on a random subset of this many training patients (default: all)"),
	maxLength: z
		.int()
		.min(2)
		.max(1_000_000)
		.default(256)
		.describe("maximum events per row; longer histories are cut"),
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
	horizon: z
		.int()
		.min(0)
		.max(100_000)
		.default(100)
		.describe("farthest event ahead that a query predicts"),
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
	clip: z.number().positive().max(1e6).default(1).describe("maximum global norm of the gradients"),
	accumulate: z.int().min(1).max(10_000).default(1).describe("batches per step"),
	patience: z
		.int()
		.min(1)
		.max(100_000)
		.default(5)
		.describe("epochs without a better validation loss before the run stops"),
	checkpointEvery: z.int().min(1).max(1_000_000).default(200).describe("steps between checkpoints"),
	seed: z
		.int()
		.min(0)
		.max(Number.MAX_SAFE_INTEGER)
		.default(1)
		.describe("seed of weights, batch order and draws"),
});

export type TrainOptions = z.infer<typeof trainOptions>;

const { epochs, learningRate, batchSlots, maxLength, clip, seed } = trainOptions.shape;

/** What of training can be set for a task, with defaults of its own. */
export const finetuneOptions = trainOptions
	.pick({ warmup: true, weightDecay: true, patience: true, checkpointEvery: true })
	.extend({
		epochs: epochs.unwrap().default(5).describe("passes over the labels of the training patients"),
		learningRate: learningRate.default(1e-4).describe("highest learning rate"),
		batchSlots: batchSlots.unwrap().default(2048).describe("events per batch, padding included"),
		maxLength: maxLength.unwrap().default(512).describe("most events of a history, the last ones"),
		// Batches with a positive have by far the longest gradients: shortening them would teach that there
		// are fewer positives.
		clip: clip.unwrap().default(20).describe("maximum global norm of the gradients"),
		seed: seed.unwrap().default(1).describe("of the order of batches"),
	});

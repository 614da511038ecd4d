import { z } from "zod";
import { objectiveNames } from "../models/index.js";

/** How a run trains; written into `run.json`, and read from there when it is resumed. */
export const trainOptions = z.strictObject({
	epochs: z.int().min(1).max(100_000).default(12).describe("passes over the training patients"),
	batchSlots: z
		.int()
		.min(1)
		.max(10_000_000)
		.default(2048)
		.describe("events in a batch, padding included"),
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
	maxLength: z.int().min(2).max(1_000_000).default(256).describe("most events in a row"),
	cut: z
		.enum(["windows", "last"])
		.default("windows")
		.describe("what becomes of longer histories: several rows, or their last events"),
	objective: z
		.enum(objectiveNames)
		.default("horizon")
		.describe(
			"the next event alone, or also one further ahead, or each code of a day from before the day",
		),
	horizon: z
		.int()
		.min(0)
		.max(100_000)
		.default(100)
		.describe("farthest event ahead that is asked for"),
	learningRate: z
		.number()
		.positive()
		.max(10)
		.describe("highest learning rate (default: that of the model and the preset)"),
	warmup: z.number().min(0).max(1).default(0.05).describe("part of all steps in which it rises"),
	weightDecay: z.number().min(0).max(10).default(0.1).describe("of matrices, decoupled (AdamW)"),
	clip: z.number().positive().max(1e6).default(1).describe("longest gradient, as its global norm"),
	accumulate: z.int().min(1).max(10_000).default(1).describe("batches in one step"),
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
		.describe("of weights, order and draws"),
});

export type TrainOptions = z.infer<typeof trainOptions>;

import type { z } from "zod";
import { trainOptions } from "../options.js";

const { epochs, learningRate, batchSlots, maxLength, seed } = trainOptions.shape;

/** What of training can be set for a task, with defaults of its own. */
export const finetuneOptions = trainOptions
	.pick({ warmup: true, weightDecay: true, clip: true, patience: true, checkpointEvery: true })
	.extend({
		epochs: epochs.unwrap().default(5).describe("passes over the labels of the training patients"),
		learningRate: learningRate.unwrap().default(1e-4).describe("highest learning rate"),
		batchSlots: batchSlots.unwrap().default(1024).describe("events in a batch, padding included"),
		maxLength: maxLength.unwrap().default(512).describe("most events of a history, the last ones"),
		seed: seed.unwrap().default(1).describe("of the order of batches"),
	});

export type FinetuneOptions = z.infer<typeof finetuneOptions>;

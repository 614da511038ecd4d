import { trainOptions } from "../options.js";

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

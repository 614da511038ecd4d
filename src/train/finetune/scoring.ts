import { z } from "zod";
import type { ParameterValues } from "../../models/index.js";

/** What turns the log-odds of a fine-tuned model into the probability of its label. */
export const scoringSchema = z.strictObject({
	task: z.string().min(1),
	/** What the probability is of, in words. */
	definition: z.string().min(1),
	/** The share of positives among the training labels. */
	prevalence: z.number().min(0).max(1),
	/** Maximum events of a history that the model reads: the last ones. */
	maxLength: z.int().min(1),
	/** The codes and the horizon of the run's own risk, which the head reads; missing if it reads none. */
	risk: z
		.strictObject({
			tokens: z.array(z.int().min(0)).min(1),
			horizonDays: z.number().positive(),
		})
		.optional(),
	/** The probability is that of the log-odds times `slope` plus `shift`, fitted to the validation labels. */
	slope: z.number().positive(),
	shift: z.number(),
});
export type Scoring = z.infer<typeof scoringSchema>;

/** What a run has learned for a task with labels. */
export interface FineTunedTask {
	readonly scoring: Scoring;
	/** Those of the network, fine-tuned, and of the head. */
	readonly weights: ParameterValues;
}

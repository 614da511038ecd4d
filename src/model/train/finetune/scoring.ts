import { z } from "zod";
import type { ParameterValues } from "../../index.js";

/** What turns the log-odds of a fine-tuned model into the probability of its label. */
export const scoringSchema = z.strictObject({
	task: z.string().min(1),
	/** What the probability is of, in words. */
	definition: z.string().min(1),
	/** Where that is defined: "built-in task diabetes", "ACES file mine.yaml"; missing in runs of earlier versions. */
	source: z.string().min(1).optional(),
	/** Days after the prediction time within which the label is decided, if that is fixed. */
	horizonDays: z.number().positive().optional(),
	/** What puts a patient outside the definition, where the records tell. */
	outside: z
		.strictObject({
			/** Records of these tokens up to the prediction time, or their absence. */
			tokens: z.array(z.int().min(0)).min(1),
			if: z.enum(["recorded", "missing"]),
			/** Days before the prediction time that count; missing if the whole history does. */
			withinDays: z.number().positive().optional(),
			/** The tokens in words. */
			what: z.string().min(1),
		})
		.optional(),
	/** The share of positives among the training labels. */
	prevalence: z.number().min(0).max(1),
	/** Maximum events of a history that the model reads: the last ones. */
	maxLength: z.int().min(1),
	/** The codes and the horizon of the run's own risk, which the head reads; missing if it reads none. */
	risk: z
		.strictObject({
			tokens: z.array(z.int().min(0)).min(1),
			horizonDays: z.number().positive(),
			/** Whether a further record on the day of the label counts. */
			sameDay: z.boolean().optional(),
		})
		.optional(),
	/** The probability is that of the log-odds times `slope` plus `shift`, fitted to the validation labels. */
	slope: z.number().positive(),
	shift: z.number(),
});
export type Scoring = z.infer<typeof scoringSchema>;

/** What users are told about the label of a task. */
export const definitionOf = ({ task, definition, source, horizonDays, prevalence }: Scoring) => ({
	...{ task, definition, prevalence },
	source: source ?? null,
	horizonDays: horizonDays ?? null,
});

/** What a run has learned for a task with labels. */
export interface FineTunedTask {
	readonly scoring: Scoring;
	/** Those of the network, fine-tuned, and of the head. */
	readonly weights: ParameterValues;
}

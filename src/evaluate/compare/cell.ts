import { z } from "zod";
import { recordedProviders } from "../../engine/runtime/index.js";
import { evaluationSchema } from "../evaluation.js";

/** A line of a comparison: a named model with settings. */
export const entrySchema = z.strictObject({
	id: z.string().regex(/^[a-z0-9-]+$/),
	label: z.string(),
	/** Lines of a group are shown together. */
	group: z.string(),
	model: z.string(),
	settings: z.record(z.string(), z.unknown()),
	/** Training options that differ from those of the comparison. */
	options: z.record(z.string(), z.unknown()),
});
export type Entry = z.infer<typeof entrySchema>;

/** One line, trained with one seed and evaluated: `cells/<entry>-s<seed>.json`. */
export const cellSchema = z.strictObject({
	kind: z.literal("trajgpt-cell"),
	version: z.literal(2),
	/** Null for the baselines, which are not trained. */
	entry: z.string().nullable(),
	seed: z.int().min(0),
	/** Of pre-training, or of training if there is no pre-training. */
	training: z
		.strictObject({
			parameters: z.int().min(0),
			epochs: z.int().min(0),
			bestEpoch: z.int().min(0),
			cpuSecondsPerEpoch: z.number().min(0),
			peakBytes: z.number().min(0),
			/** By the clock, compilation and validation included; missing in older cells. */
			seconds: z.number().min(0).optional(),
			/** Missing in older cells. */
			provider: z.enum(recordedProviders).optional(),
		})
		.nullable(),
	/** By task; tasks that could not be measured are missing. */
	evaluations: z.record(z.string(), evaluationSchema),
	/** By task: the reason why it was not measured. */
	left: z.record(z.string(), z.string()),
	seconds: z.number().min(0),
	/** CPU time of the process that finished the cell. */
	cpuSeconds: z.number().min(0),
});
export type Cell = z.infer<typeof cellSchema>;

/** Whether all rows have the values of patients or of draws that a table needs. */
export const keepsPatients = ({ evaluations }: Cell): boolean =>
	Object.values(evaluations).every(({ rows }) =>
		rows.every(({ byPatient, byDraw }) => byPatient ?? byDraw),
	);

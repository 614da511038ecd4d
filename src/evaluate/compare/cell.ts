import { z } from "zod";
import { providers } from "../../runtime/index.js";
import { evaluationSchema } from "../evaluation.js";

/** What a line of a comparison trains: a model with some settings, under a name of its own. */
export const entrySchema = z.strictObject({
	id: z.string().regex(/^[a-z0-9-]+$/),
	label: z.string(),
	/** Lines of one group stand together. */
	group: z.string(),
	model: z.string(),
	settings: z.record(z.string(), z.unknown()),
	/** Options of training that differ from the comparison's. */
	options: z.record(z.string(), z.unknown()),
});
export type Entry = z.infer<typeof entrySchema>;

/** One line, trained with one seed and measured: `cells/<entry>-s<seed>.json`. */
export const cellSchema = z.strictObject({
	kind: z.literal("trajgpt-cell"),
	version: z.literal(1),
	/** None for the baselines, which are not trained. */
	entry: z.string().nullable(),
	seed: z.int().min(0),
	/** Of its pre-training, or of its training where it has none. */
	training: z
		.strictObject({
			parameters: z.int().min(0),
			epochs: z.int().min(0),
			bestEpoch: z.int().min(0),
			cpuSecondsPerEpoch: z.number().min(0),
			peakBytes: z.number().min(0),
			/** Where it was; not all cells keep it. */
			provider: z.enum(providers).optional(),
		})
		.nullable(),
	/** By task; none of those that could not be measured. */
	evaluations: z.record(z.string(), evaluationSchema),
	/** By task: why it was not measured. */
	left: z.record(z.string(), z.string()),
	seconds: z.number().min(0),
	/** Of the process that finished it. */
	cpuSeconds: z.number().min(0),
});
export type Cell = z.infer<typeof cellSchema>;

/** Whether a table can be made of it: its rows keep what each patient adds to them. */
export const keepsPatients = ({ evaluations }: Cell): boolean =>
	Object.values(evaluations).every(({ rows }) => rows.every(({ byPatient }) => byPatient));

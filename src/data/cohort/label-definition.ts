import { z } from "zod";

const codeTest = z.union([
	z.strictObject({ equals: z.string() }),
	z.strictObject({ any: z.array(z.string()) }),
	/** Matches if it is found anywhere in the code; the syntax is RE2's. */
	z.strictObject({ regex: z.string() }),
]);
/** A condition on a code as it is written in MEDS. */
export type CodeTest = Readonly<z.infer<typeof codeTest>>;

export const labelDefinition = z.strictObject({
	/** What a positive label means, as the end of the sentence "the probability of …". */
	what: z.string().min(1),
	/** Where it is defined: "ready task heart-failure", "ACES file mine.yaml", "labels file stroke.csv". */
	source: z.string().min(1),
	/** Days after the prediction time within which the label is decided, if that is fixed. */
	horizonDays: z.number().positive().optional(),
	/** Patients with such a record before the prediction time have no label. */
	without: z
		.strictObject({
			codes: z.array(codeTest),
			/** Days before the prediction time that count; missing if the whole history does. */
			withinDays: z.number().positive().optional(),
		})
		.optional(),
});
/** What the labels of a task mean. */
export type LabelDefinition = z.infer<typeof labelDefinition>;

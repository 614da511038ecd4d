import { z } from "zod";

export const schemaVersion = 1;

export const splitNames = ["train", "valid", "test"] as const;
export type Split = (typeof splitNames)[number];

const count = z.int().min(0);

const splitCount = z.strictObject({ patients: count, events: count });

const droppedCodes = z.strictObject({
	codes: count,
	events: count,
	/** The most frequent of them. */
	top: z.array(z.strictObject({ code: z.string(), events: count })),
});
export type DroppedCodes = z.infer<typeof droppedCodes>;

export const manifestSchema = z.strictObject({
	schemaVersion: z.literal(schemaVersion),
	source: z.strictObject({
		format: z.string(),
		path: z.string(),
		/** What the reader and the cohort put right on the way. */
		notes: z.array(z.string()),
	}),
	/** One unit on the time axis. */
	timeUnit: z.strictObject({ name: z.string(), days: z.number().positive() }),
	filters: z.strictObject({
		/** Fewest records a patient, counted over codes of the vocabulary. */
		minRecords: z.int().min(1),
		/** Fewest records a code, counted in the training split. */
		minCount: z.int().min(1),
	}),
	splitSeed: z.int(),
	counts: z.strictObject({
		patients: count,
		events: count,
		tokens: count,
		splits: z.strictObject({ train: splitCount, valid: splitCount, test: splitCount }),
	}),
	dropped: z.strictObject({
		/** Patients with fewer than `minRecords` records, and all their records. */
		patients: splitCount,
		/** Codes with fewer than `minCount` records in the training split; events of kept patients. */
		rareCodes: droppedCodes,
		/** Codes that the training split does not hold at all; events of kept patients. */
		unknownCodes: droppedCodes,
	}),
	/** SHA-256 of time unit, vocabulary, patients and events, however they are encoded. */
	contentHash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Manifest = z.infer<typeof manifestSchema>;

import { z } from "zod";
import type { Split } from "../records/rows.js";
import { splitNames } from "../records/rows.js";

export { type Split, splitNames };

export const schemaVersion = 3;

/** The file that makes a folder a dataset. */
export const manifestName = "manifest.json";

/** The files beside it. */
export const fileNames = [
	"events.parquet",
	"labels.parquet",
	"patients.parquet",
	"vocabulary.json",
] as const;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const splitCount = z.strictObject({ patients: count, events: count });

const droppedCodes = z.strictObject({
	codes: count,
	events: count,
	/** The most frequent of them; all of them where the map does not know them. */
	top: z.array(z.strictObject({ code: z.string(), system: z.string(), events: count })),
});
export type DroppedCodes = z.infer<typeof droppedCodes>;

export const dedupRules = ["none", "day", "month"] as const;
export const drugUses = ["tokens", "labels", "none"] as const;

export const manifestSchema = z.strictObject({
	schemaVersion: z.literal(schemaVersion),
	source: z.strictObject({
		format: z.string(),
		path: z.string(),
		/** `dates`: time 0 is 1970-01-01. `days`: an origin of the source's own. */
		axis: z.enum(["dates", "days"]),
		records: count,
		/** What the reader and the cohort put right on the way. */
		notes: z.array(z.string()),
	}),
	codes: z.strictObject({
		/** What ICD codes were mapped with; null if they stayed as they were. */
		map: z.string().nullable(),
		level: z.enum(["integer", "full"]).nullable(),
		/** Records of ICD-9-CM and ICD-10-CM diagnoses that the map knows. */
		mapped: count,
		/** Those it does not know: dropped, or kept under their own code (`keptUnmapped`). */
		unmapped: droppedCodes,
		keptUnmapped: z.boolean(),
		/**
		 * Events beyond one a record: second and further PheCodes of a code, and deaths as tokens.
		 * Records and these are the dataset's events, what `dropped` counts, and `unmapped` unless kept.
		 */
		extra: count,
	}),
	filters: z.strictObject({
		/** Fewest records a patient, counted over codes of the vocabulary. */
		minRecords: z.int().min(1),
		/** Fewest records a code, counted in the training split. */
		minCount: z.int().min(1),
		/** One record a code and patient within a day or a month, or all. */
		dedup: z.enum(dedupRules),
		/** Most records a patient; longer histories kept their last or first ones. */
		maxRecords: z.int().min(1).nullable(),
		keep: z.enum(["last", "first"]),
		drugs: z.enum(drugUses),
		deathToken: z.boolean(),
	}),
	splits: z.strictObject({
		/** Of the hash that assigns patients for whom the source names no split. */
		seed: z.int(),
		/** Percent of them for training, validation and test. */
		parts: z.tuple([z.number(), z.number(), z.number()]).default([80, 10, 10]),
		/** Patients whose split came with the source. */
		given: count,
	}),
	counts: z.strictObject({
		patients: count,
		events: count,
		tokens: count,
		splits: z.strictObject({ train: splitCount, valid: splitCount, test: splitCount }),
	}),
	/** How far the training histories reach; left out by versions before this field. */
	reach: z
		.strictObject({
			/** The longest, from its first event to its last. */
			longestDays: z.number().min(0),
			/** The greatest age at an event; null where no birth is known. */
			oldestDays: z.number().min(0).nullable(),
		})
		.optional(),
	dropped: z.strictObject({
		/** Records that a `dedup` rule took for a repetition. */
		duplicates: count,
		/** Records beyond `maxRecords`. */
		cut: count,
		/** Drug records that did not become tokens. */
		drugs: count,
		/** Patients with fewer than `minRecords` records, and all their records. */
		patients: splitCount,
		/** Codes with fewer than `minCount` records in the training split; events of kept patients. */
		rareCodes: droppedCodes,
		/** Codes that the training split does not hold at all; events of kept patients. */
		unknownCodes: droppedCodes,
	}),
	labels: z.array(
		z.strictObject({
			task: z.string(),
			rule: z.string(),
			labels: count,
			positive: count,
			/** Patients of the dataset without a label, by reason. */
			excluded: z.record(z.string(), count),
		}),
	),
	/** SHA-256 of the events, however they are encoded. */
	eventsHash: sha256,
	/** SHA-256 of vocabulary, patients and events: what a run remembers its dataset by. */
	contentHash: sha256,
	/** SHA-256 of the files beside this one. */
	files: z.record(z.string(), sha256),
});
export type Manifest = z.infer<typeof manifestSchema>;

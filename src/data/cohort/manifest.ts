import { z } from "zod";
import { type Split, splitNames, timeUnits } from "../records/rows.js";
import { labelDefinition } from "./label-definition.js";

export { type Split, splitNames };

export const schemaVersion = 6;

/** Versions without a hash of the manifest, which are still read: 5 has values as tokens. */
const versionsWithoutHash = [4, 5] as const;

/** The earliest version that is still read: its datasets do not say when patients were observed. */
export const earliestVersion = 3;

/** The versions that are read. */
export const schemaVersions: readonly unknown[] = [
	earliestVersion,
	...versionsWithoutHash,
	schemaVersion,
];

/** The file that makes a folder a dataset. */
export const manifestName = "manifest.json";

/** The other files of a dataset. */
export const fileNames = [
	"events.parquet",
	"labels.parquet",
	"observation.parquet",
	"patients.parquet",
	"vocabulary.json",
] as const;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const splitCount = z.strictObject({ patients: count, events: count });

const droppedCodes = z.strictObject({
	codes: count,
	events: count,
	/** The most frequent codes; for unmapped codes all of them. */
	top: z.array(z.strictObject({ code: z.string(), system: z.string(), events: count })),
});
export type DroppedCodes = z.infer<typeof droppedCodes>;

export const dedupRules = ["none", "day", "month"] as const;
export const drugUses = ["tokens", "labels", "none"] as const;

const timeUnit = z.enum(timeUnits);

const observation = z.strictObject({
	/** Where the periods come from; `records`: from the first to the last record of each patient. */
	from: z.enum(["observation_period", "simulation", "file", "records"]),
	/** The same as a sentence. */
	rule: z.string(),
	periods: count,
	/** Patients with at least one period; the others are never at risk. */
	patients: count,
	/** Records of the dataset outside the periods of their patient. They are kept. */
	recordsOutside: count,
});
type Observation = z.infer<typeof observation>;

export const observationRules: Readonly<Record<Observation["from"], string>> = {
	observation_period: "patients are observed in the periods of the table observation_period",
	simulation: "patients are observed while their simulated insurance covers them",
	file: "patients are observed in the periods of the given file",
	records:
		"the source does not say when patients were observed: taken as from the first to the last record of each",
};

const filters = z.strictObject({
	/** Minimum number of records per patient, over codes of the vocabulary. */
	minRecords: z.int().min(1),
	/** Minimum number of records per code in the training split. */
	minCount: z.int().min(1),
	/** Keeps one record per code and patient within a day or a month, or all records. */
	dedup: z.enum(dedupRules),
	/** Maximum number of records per patient; longer histories keep their last or first ones. */
	maxRecords: z.int().min(1).nullable(),
	keep: z.enum(["last", "first"]),
	drugs: z.enum(drugUses),
	deathToken: z.boolean(),
});
export type Filters = Readonly<z.infer<typeof filters>>;

const fields = {
	source: z.strictObject({
		format: z.string(),
		path: z.string(),
		/** `dates`: time 0 is 1970-01-01. `days`: time 0 is defined by the source. */
		axis: z.enum(["dates", "days"]),
		/** The unit in which the times of each kind of file were read; missing in datasets of earlier versions. */
		times: z
			.strictObject({
				records: timeUnit,
				/** Births and deaths, if a file has them. */
				people: timeUnit.optional(),
				observation: timeUnit.optional(),
				labels: timeUnit.optional(),
			})
			.optional(),
		records: count,
		/** What was corrected or left out. */
		notes: z.array(z.string()),
		/** What is probably wrong; absent if nothing is. */
		warnings: z.array(z.string()).optional(),
	}),
	codes: z.strictObject({
		/** The map of ICD codes; null if codes were left as they are. */
		map: z.string().nullable(),
		level: z.enum(["integer", "full"]).nullable(),
		/** Records of diagnoses in the map. */
		mapped: count,
		/** Records not in the map: dropped, or kept with their own code (`keptUnmapped`). */
		unmapped: droppedCodes,
		keptUnmapped: z.boolean(),
		/**
		 * Events beyond one per record: second and further PheCodes of a code, and deaths as tokens.
		 * Records + extra = events of the dataset + `dropped` + `unmapped` (unless kept).
		 */
		extra: count,
	}),
	filters,
	splits: z.strictObject({
		/** The seed of the hash that assigns patients without a split in the source. */
		seed: z.int(),
		/** Percentages of these patients for training, validation and test. */
		parts: z.tuple([z.number(), z.number(), z.number()]).default([80, 10, 10]),
		/** Patients whose split the source defines. */
		given: count,
	}),
	counts: z.strictObject({
		patients: count,
		events: count,
		tokens: count,
		splits: z.strictObject({ train: splitCount, valid: splitCount, test: splitCount }),
	}),
	/** The time range of the training histories; missing in datasets of earlier versions. */
	reach: z
		.strictObject({
			/** The longest history, from its first event to its last. */
			longestDays: z.number().min(0),
			/** The greatest age at an event; null if no birth is known. */
			oldestDays: z.number().min(0).nullable(),
		})
		.optional(),
	/** Numeric values as tokens; missing if values were not used. */
	values: z
		.strictObject({
			/** Into how many ranges the values of a code are divided at most. */
			quantiles: z.int().min(2),
			/** Codes with ranges, and the tokens of these. */
			codes: count,
			tokens: count,
			/** Events of the dataset whose token is a range. */
			events: count,
		})
		.optional(),
	dropped: z.strictObject({
		/** Records left out as repetitions by the `dedup` rule. */
		duplicates: count,
		/** Records beyond `maxRecords`. */
		cut: count,
		/** Drug records that did not become tokens. */
		drugs: count,
		/** Patients with fewer than `minRecords` records, and all their records. */
		patients: splitCount,
		/** Codes with fewer than `minCount` records in the training split; events of kept patients. */
		rareCodes: droppedCodes,
		/** Codes that do not occur in the training split; events of kept patients. */
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
			/** Of labels from a file: what they mean. */
			definition: labelDefinition.optional(),
		}),
	),
	/** The content hash of the dataset whose vocabulary and rules this one has, if they were given. */
	like: sha256.optional(),
	/** SHA-256 of the events, independent of their encoding. */
	eventsHash: sha256,
	/** SHA-256 of vocabulary, patients, events and observation; a run identifies its dataset by it. */
	contentHash: sha256,
	/** SHA-256 of the other files. */
	files: z.record(z.string(), sha256),
};

const current = z.strictObject({
	schemaVersion: z.literal(schemaVersion),
	...fields,
	observation,
	/** Patients with a known date of death; null in datasets of schema version 3. */
	deaths: count,
	/** SHA-256 of the other fields. */
	sha256,
});

/** Manifests of earlier versions do not say in which units times were read; readers see the type of later ones. */
const sourceWithoutTimes = fields.source.omit({ times: true }) as unknown as typeof fields.source;

const withoutHash = current.omit({ sha256: true }).extend({
	schemaVersion: z.literal(versionsWithoutHash),
	source: sourceWithoutTimes,
});

const earliest = z
	.strictObject({
		schemaVersion: z.literal(earliestVersion),
		...fields,
		source: sourceWithoutTimes,
		observation: observation.optional(),
		deaths: z.null().optional(),
	})
	.transform(({ observation, deaths: _, ...manifest }) => ({
		...manifest,
		observation: observation ?? {
			from: "records" as const,
			rule: observationRules.records,
			periods: manifest.counts.patients,
			patients: manifest.counts.patients,
			recordsOutside: 0,
		},
		deaths: null,
	}));

export const manifestSchema = z.discriminatedUnion("schemaVersion", [
	current,
	withoutHash,
	earliest,
]);
export type Manifest = z.infer<typeof manifestSchema>;

import { z } from "zod";
import { dedupRules, drugUses } from "../cohort/manifest.js";

export const exportVersion = 2;
export const manifestFile = "export.json";
export const vocabularyFile = "vocabulary.json";
export const weightsFile = "weights.safetensors";

/** Where weights are: in both graphs, or once beside them. */
export const weightPlaces = ["inside", "external"] as const;
export type WeightPlace = (typeof weightPlaces)[number];

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const sizes = z.array(z.union([z.int().min(0), z.string()]));

const valueSchema = z.strictObject({
	name: z.string(),
	dtype: z.enum(["float32", "float64", "int32", "bool"]),
	/** A name is a size that is left open. */
	shape: sizes,
	meaning: z.string(),
});

const graphSchema = z.strictObject({
	inputs: z.array(valueSchema),
	outputs: z.array(valueSchema),
});
export type GraphDescription = z.infer<typeof graphSchema>;

export const manifestSchema = z.strictObject({
	kind: z.literal("trajgpt-export"),
	version: z.literal(exportVersion),
	/** Of the standard ONNX operators; there are no others. */
	opset: z.int(),
	model: z.strictObject({ id: z.string(), name: z.string(), cite: z.string() }),
	config: z.record(z.string(), z.unknown()),
	/** How the records of its dataset were read, so that those of new patients are read alike. */
	records: z.strictObject({
		/** What ICD codes were mapped with; null if they stayed as they were. */
		map: z.string().nullable(),
		level: z.enum(["integer", "full"]).nullable(),
		keptUnmapped: z.boolean(),
		drugs: z.enum(drugUses),
		dedup: z.enum(dedupRules),
		maxRecords: z.int().min(1).nullable(),
		deathToken: z.boolean(),
		/** Times are days. With `dates`, day 0 is 1970-01-01. */
		axis: z.enum(["dates", "days"]),
		/** Fewest records of a code in the training data. */
		minCount: z.int().min(1),
	}),
	weights: z.strictObject({
		place: z.enum(weightPlaces),
		/** The file to read them from: a graph has them as initializers. */
		file: z.string(),
		parameters: z.int().min(1),
		tensors: z.record(z.string(), z.array(z.int().min(1))),
		/** Of the weights as a safetensors file, wherever they are. */
		sha256,
	}),
	graphs: z.record(z.string(), graphSchema),
	trained: z.strictObject({
		step: z.int().min(0),
		/** The content hash of the dataset. */
		dataset: sha256,
		versions: z.record(z.string(), z.string()),
	}),
	/** Of the files beside this one. */
	files: z.record(z.string(), z.strictObject({ bytes: z.int().min(0), sha256 })),
	/** Of all of the above, as JSON with sorted keys and no spaces; left out by versions before this field. */
	sha256: sha256.optional(),
});

/** `export.json`: what an export holds, and how to know that it is whole. */
export type ExportManifest = z.infer<typeof manifestSchema>;

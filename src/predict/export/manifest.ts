import { z } from "zod";
import { canonicalJson } from "../../base/json-keys.js";
import { simulatedText } from "../../base/simulated.js";
import { dedupRules, drugUses } from "../../data/cohort/manifest.js";
import { scoringSchema } from "../../model/train/finetune/classifier.js";
import { sha256 } from "./sha256.js";

export const exportVersion = 6;
export const manifestFile = "export.json";
export const vocabularyFile = "vocabulary.json";
export const weightsFile = "weights.safetensors";
export const hazardsFile = "hazards.safetensors";
export const taskFile = "task.safetensors";
/** The graph that gives the probability of the label, where its head reads no risk. */
export const labelFile = "label.onnx";

/** The graph that gives cumulative incidences, of models with hazards. */
export const riskFile = "risk.onnx";

export const weightPlaces = ["inside", "external"] as const;
export type WeightPlace = (typeof weightPlaces)[number];

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const sizes = z.array(z.union([z.int().min(0), z.string()]));

const valueSchema = z.strictObject({
	name: z.string(),
	dtype: z.enum(["float32", "float64", "int32", "bool"]),
	/** A name is an open size. */
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
	/** Version of the standard ONNX operators; no others are used. */
	opset: z.int(),
	model: z.strictObject({ id: z.string(), name: z.string(), cite: z.string() }),
	config: z.record(z.string(), z.unknown()),
	/** Present if the model was trained on a simulated population. */
	population: z.literal(simulatedText).optional(),
	/** How the records of the dataset were read, to read new patients in the same way. */
	records: z.strictObject({
		/** The map of ICD codes; null if they were not mapped. */
		map: z.string().nullable(),
		level: z.enum(["integer", "full"]).nullable(),
		keptUnmapped: z.boolean(),
		drugs: z.enum(drugUses),
		dedup: z.enum(dedupRules),
		maxRecords: z.int().min(1).nullable(),
		deathToken: z.boolean(),
		/** Times are days. With `dates`, day 0 is 1970-01-01. */
		axis: z.enum(["dates", "days"]),
		/** Minimum training records per code. */
		minCount: z.int().min(1),
	}),
	weights: z.strictObject({
		place: z.enum(weightPlaces),
		/** The file that holds them; a graph holds them as initializers. */
		file: z.string(),
		/** The file of the hazards' weights, which the graphs do not hold; missing if `file` has them too. */
		hazards: z.string().optional(),
		parameters: z.int().min(1),
		tensors: z.record(z.string(), z.array(z.int().min(1))),
		/** Hash of the weights as a safetensors file, wherever they are stored. */
		sha256: hash,
	}),
	/** What the model was fine-tuned to; all graphs but `label.onnx`, and the other weights, are those before fine-tuning. */
	task: z
		.strictObject({
			scoring: scoringSchema,
			weights: z.strictObject({
				file: z.string(),
				tensors: z.record(z.string(), z.array(z.int().min(1))),
			}),
		})
		.optional(),
	graphs: z.record(z.string(), graphSchema),
	trained: z.strictObject({
		step: z.int().min(0),
		dataset: hash,
		versions: z.record(z.string(), z.string()),
	}),
	files: z.record(z.string(), z.strictObject({ bytes: z.int().min(0), sha256: hash })),
	/** Hash of all fields above, as JSON with sorted keys and no spaces; missing in exports of earlier versions. */
	sha256: hash.optional(),
});

/** `export.json`: the contents of an export, with hashes to check them. */
export type ExportManifest = z.infer<typeof manifestSchema>;

export async function manifestSha256(manifest: { readonly sha256?: unknown }): Promise<string> {
	const { sha256: _own, ...rest } = manifest;
	return sha256(new TextEncoder().encode(canonicalJson(rest)));
}

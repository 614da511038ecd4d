import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFolder } from "./beside.js";
import type { DatasetColumns } from "./columns.js";
import { contentHash } from "./columns.js";
import type { Manifest } from "./manifest.js";
import { manifestSchema } from "./manifest.js";
import { writeParquet } from "./parquet.js";
import type { Vocabulary } from "./vocabulary.js";

/** The file that makes a folder a dataset. */
export const manifestName = "manifest.json";

export interface DatasetContent {
	readonly manifest: Omit<Manifest, "contentHash">;
	readonly vocabulary: Vocabulary;
	readonly columns: DatasetColumns;
}

/** Writes the folder beside its place and renames it; what stood there is replaced (see `checkFolderTarget`). */
export async function writeDataset(folder: string, content: DatasetContent): Promise<Manifest> {
	const { columns, vocabulary } = content;
	const { patients, events } = columns;
	const hash = contentHash(content.manifest.timeUnit, vocabulary.tokens, columns);
	const manifest = manifestSchema.parse({ ...content.manifest, contentHash: hash });
	const owner = ownersOf(columns);
	const json = (value: unknown) => `${JSON.stringify(value, null, "\t")}\n`;
	await replaceFolder(folder, async (partial) => {
		await writeParquet(join(partial, "events.parquet"), events.time.length, [
			{ name: "patient", type: "INT32", nullable: false, slice: (a, b) => owner.subarray(a, b) },
			{
				name: "time",
				type: "DOUBLE",
				nullable: false,
				slice: (a, b) => events.time.subarray(a, b),
			},
			{
				name: "token",
				type: "INT32",
				nullable: false,
				slice: (a, b) => events.token.subarray(a, b),
			},
		]);
		const text = { type: "STRING", nullable: false } as const;
		const whole = { type: "INT32", nullable: false } as const;
		await writeParquet(join(partial, "patients.parquet"), patients.id.length, [
			{ name: "id", ...text, slice: (a, b) => patients.id.slice(a, b) },
			{
				name: "birth",
				type: "DOUBLE",
				nullable: true,
				slice: (a, b) => patients.birth.slice(a, b),
			},
			{ name: "sex", ...text, nullable: true, slice: (a, b) => patients.sex.slice(a, b) },
			{ name: "split", ...text, slice: (a, b) => patients.split.slice(a, b) },
			{ name: "first", ...whole, slice: (a, b) => patients.first.subarray(a, b) },
			{ name: "count", ...whole, slice: (a, b) => patients.count.subarray(a, b) },
		]);
		await writeFile(join(partial, "vocabulary.json"), json({ tokens: vocabulary.tokens }));
		await writeFile(join(partial, manifestName), json(manifest));
	});
	return manifest;
}

/** For every event row, the number of its patient. */
function ownersOf({ patients, events }: DatasetColumns): Int32Array {
	const owner = new Int32Array(events.time.length);
	for (const [patient, first] of patients.first.entries())
		owner.fill(patient, first, first + (patients.count[patient] as number));
	return owner;
}

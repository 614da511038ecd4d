import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../base/errors.js";
import type { Sex } from "../records/rows.js";
import { checkEvents, checkPatients } from "./check-columns.js";
import type { DatasetColumns } from "./columns.js";
import { contentHash } from "./columns.js";
import type { Dataset } from "./dataset.js";
import { inMemoryDataset } from "./dataset.js";
import type { Manifest, Split } from "./manifest.js";
import { manifestSchema, schemaVersion } from "./manifest.js";
import { openParquet } from "./parquet.js";
import { fromTokens, vocabularySchema } from "./vocabulary.js";
import { manifestName } from "./write-dataset.js";

async function readJson(file: string): Promise<unknown> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
		const what = missing ? "is missing" : `cannot be read (${(error as Error).message})`;
		throw new InputError(`${file} ${what}; run prepare again`, { cause: error });
	}
	try {
		return JSON.parse(text);
	} catch (error) {
		throw new InputError(`${file} is not JSON; run prepare again`, { cause: error });
	}
}

function checked<T extends z.ZodType>(schema: T, value: unknown, file: string): z.infer<T> {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	const [issue] = result.error.issues;
	const place = issue?.path.length ? `"${issue.path.join(".")}": ` : "";
	throw new InputError(`${file}: ${place}${issue?.message}; run prepare again`);
}

async function readManifest(folder: string): Promise<Manifest> {
	const there = await stat(folder).catch(() => undefined);
	if (!there?.isDirectory())
		throw new InputError(
			`${folder} is ${there ? "a file" : "not there"}; expected a dataset folder, as trajgpt prepare writes it`,
		);
	const file = join(folder, manifestName);
	const value = await readJson(file);
	const version = z.object({ schemaVersion: z.unknown() }).safeParse(value).data?.schemaVersion;
	if (version !== schemaVersion)
		throw new InputError(
			`${file} has schema version ${JSON.stringify(version) ?? "none"}; this trajgpt reads ${schemaVersion}; run prepare again`,
		);
	return checked(manifestSchema, value, file);
}

async function readColumns(folder: string, manifest: Manifest): Promise<DatasetColumns> {
	const { patients: people, events: rows } = manifest.counts;
	const patientTable = await openParquet(join(folder, "patients.parquet"), people);
	const eventTable = await openParquet(join(folder, "events.parquet"), rows);
	const patients = {
		id: new Array<string>(people),
		birth: new Array<number | null>(people),
		sex: new Array<Sex | null>(people),
		split: new Array<Split>(people),
		first: new Int32Array(people),
		count: new Int32Array(people),
	};
	const events = { time: new Float64Array(rows), token: new Int32Array(rows) };
	const owner = new Int32Array(rows);
	const into =
		<T>(target: { [row: number]: T }) =>
		(row: number, value: unknown) => {
			target[row] = value as T;
		};
	const text = { type: "BYTE_ARRAY", nullable: false } as const;
	const whole = { type: "INT32", nullable: false } as const;
	const real = { type: "DOUBLE", nullable: false } as const;
	await patientTable.read([
		{ name: "id", ...text, put: into(patients.id) },
		{ name: "birth", ...real, nullable: true, put: into(patients.birth) },
		{ name: "sex", ...text, nullable: true, put: into(patients.sex) },
		{ name: "split", ...text, put: into(patients.split) },
		{ name: "first", ...whole, put: into(patients.first) },
		{ name: "count", ...whole, put: into(patients.count) },
	]);
	await eventTable.read([
		{ name: "patient", ...whole, put: into(owner) },
		{ name: "time", ...real, put: into(events.time) },
		{ name: "token", ...whole, put: into(events.token) },
	]);
	const columns = { patients, events };
	checkPatients(folder, columns, owner);
	return columns;
}

/** Opens a dataset folder and checks all of it; what does not hold is an `InputError`. */
export async function openDataset(folder: string): Promise<Dataset> {
	const manifest = await readManifest(folder);
	const vocabularyFile = join(folder, "vocabulary.json");
	const { tokens } = checked(vocabularySchema, await readJson(vocabularyFile), vocabularyFile);
	const vocabulary = fromTokens(tokens);
	const columns = await readColumns(folder, manifest);
	checkEvents(folder, columns, vocabulary);
	const found = contentHash(manifest.timeUnit, tokens, columns);
	if (found !== manifest.contentHash)
		throw new InputError(
			`${folder}: the content has hash ${found}, its manifest says ${manifest.contentHash}: a file was changed or replaced; run prepare again`,
		);
	return inMemoryDataset(folder, manifest, vocabulary, columns);
}

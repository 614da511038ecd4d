import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { contentSha256, readJson } from "../../base/files/index.js";
import { errorCode } from "../../base/system-errors.js";
import { type Dataset, datasetOf } from "./dataset.js";
import {
	contentHash,
	fileHash,
	openEventFile,
	periodsByPatient,
	readPatients,
	readPeriods,
	recordPeriods,
	type SharedEvents,
} from "./dataset-files.js";
import { readLabels } from "./labels.js";
import {
	earliestVersion,
	fileNames,
	type Manifest,
	manifestName,
	manifestSchema,
	schemaVersion,
	schemaVersions,
} from "./manifest.js";
import { deathRecord } from "./reading/rules.js";
import { fromTokens, vocabularySchema } from "./vocabulary.js";

/** Memory for decoded events: 44 million of them. */
const defaultMemory = 512 * 1024 ** 2;

const again = "run prepare again";

const observationFile = "observation.parquet";
const holdsPeriods = ({ schemaVersion }: Manifest) => schemaVersion !== earliestVersion;

async function readManifest(folder: string): Promise<Manifest> {
	const there = await stat(folder).catch(() => undefined);
	if (!there?.isDirectory())
		throw new InputError(
			`${folder} ${there ? "is a file" : "does not exist"}; expected a dataset folder as written by trajgpt prepare`,
		);
	if (await stat(join(folder, "run.json")).catch(() => undefined))
		throw new InputError(
			`${folder} is a run; expected a dataset folder as written by trajgpt prepare`,
		);
	const file = join(folder, manifestName);
	const has = (name: string) => existsSync(join(folder, name));
	if (!has(manifestName) && !fileNames.some(has))
		throw new InputError(
			`${folder} is not a dataset: it has no ${manifestName}; expected a dataset folder as written by trajgpt prepare`,
		);
	const { schemaVersion: version } = readJson(
		file,
		z.object({ schemaVersion: z.unknown().optional() }),
		again,
	);
	if (!schemaVersions.includes(version))
		throw new InputError(
			`${file} has schema version ${JSON.stringify(version) ?? "none"}; this trajgpt reads ${earliestVersion} to ${schemaVersion}; ${again}`,
		);
	const manifest = readJson(file, manifestSchema, again);
	checkManifest(file, manifest);
	return manifest;
}

/** Checks that no field was edited: by the rules in them new records are read. */
function checkManifest(file: string, manifest: Manifest): void {
	if (manifest.schemaVersion !== schemaVersion) return;
	const { sha256, ...content } = manifest;
	const hash = contentSha256(content);
	if (hash !== sha256)
		throw new InputError(
			`${file} was changed after prepare wrote it: its content has hash ${hash}, it says ${sha256}; restore it, or ${again}`,
		);
}

/** Checks that every file is byte for byte the one that prepare wrote, so its content needs no further checks. */
async function checkFiles(folder: string, manifest: Manifest): Promise<void> {
	const { files } = manifest;
	for (const name of fileNames) {
		if (name === observationFile && !holdsPeriods(manifest)) continue;
		const file = join(folder, name);
		const hash = await fileHash(file).catch((error) => {
			const missing = errorCode(error) === "ENOENT";
			const what = missing ? "is missing" : `cannot be read (${error.message})`;
			throw new InputError(`${file} ${what}; ${again}`, { cause: error });
		});
		if (hash !== files[name])
			throw new InputError(
				`${file} is not the file that prepare wrote: it was changed, replaced or cut short; ${again}`,
			);
	}
}

export interface OpenOptions {
	/** Memory for decoded events in bytes. */
	readonly memory?: number;
	/** Of the same dataset in another thread, which has checked it. */
	readonly events?: SharedEvents | undefined;
}

/** Opens a dataset folder and checks it completely, unless another thread has; throws an `InputError` if something is wrong. */
export async function openDataset(folder: string, options: OpenOptions = {}): Promise<Dataset> {
	const manifest = await readManifest(folder);
	const { memory = defaultMemory, events: shared } = options;
	if (!shared) await checkFiles(folder, manifest);
	const { tokens } = readJson(join(folder, "vocabulary.json"), vocabularySchema, again);
	const patients = await readPatients(join(folder, "patients.parquet"));
	const periods = holdsPeriods(manifest)
		? await readPeriods(join(folder, observationFile))
		: undefined;
	const hash = shared
		? manifest.contentHash
		: contentHash(tokens, patients, manifest.eventsHash, periods);
	if (hash !== manifest.contentHash)
		throw new InputError(
			`${join(folder, manifestName)} was changed: the content has hash ${hash}, it says ${manifest.contentHash}; ${again}`,
		);
	const vocabulary = fromTokens(tokens);
	const events = await openEventFile(join(folder, "events.parquet"), memory, shared);
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	return datasetOf({
		folder,
		manifest,
		vocabulary,
		patients,
		events,
		periodsOf: periods
			? periodsByPatient(periods, patients.id.length)
			: await recordPeriods(patients, events, death),
		labels: (task) => readLabels(folder, manifest, task),
	});
}

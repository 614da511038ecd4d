import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { fromTokens, vocabularySchema } from "../../data/cohort/vocabulary.js";
import { isHazardWeight } from "../../model/hazards/objective.js";
import type { Model } from "../../model/index.js";
import type { FineTunedTask } from "../../model/train/finetune/classifier.js";
import { trajgptConfig } from "../../model/trajgpt/config.js";
import { trajgpt } from "../../model/trajgpt/index.js";
import {
	type ExportManifest,
	exportVersion,
	manifestFile,
	manifestSchema,
	manifestSha256,
	vocabularyFile,
} from "./manifest.js";
import { sha256 } from "./sha256.js";
import { readWeights } from "./weight-files.js";

export type ReadFile = (name: string) => Promise<Uint8Array | undefined>;

export type Export = Awaited<ReturnType<typeof readExport>>;

/** Reads an export; rejects damaged files, other versions and other folders. Runs in Node and in browsers. */
export async function readExport(where: string, read: ReadFile) {
	const manifest = await readManifest(where, read);
	if (manifest.model.id !== "trajgpt")
		throw new InputError(
			`${where} holds the model "${manifest.model.id}", which this version of trajgpt does not know; update it`,
		);
	const { file, hazards, tensors } = manifest.weights;
	const { task } = manifest;
	const names = [vocabularyFile, file, hazards, task?.weights.file].filter(
		(name) => name !== undefined,
	);
	// All are read at once, and checked where they are used.
	const reading = new Map(names.map((name) => [name, read(name)]));
	for (const one of reading.values()) one.catch(() => {});
	const whole = async (name: string) => {
		const bytes = await reading.get(name);
		await checkFile(where, name, bytes, manifest.files[name]);
		return bytes as Uint8Array;
	};
	const config = checkConfig(trajgptConfig, manifest.config, `${where}: config`);
	const parsed = vocabularySchema.safeParse(jsonOf(await whole(vocabularyFile)));
	if (!parsed.success || parsed.data.tokens.length !== config.vocab)
		throw new InputError(
			`${where}: ${vocabularyFile} is not that of the model; export the run again`,
		);
	const shapesIn = (belongs: (name: string) => boolean) =>
		Object.fromEntries(Object.entries(tensors).filter(([name]) => belongs(name)));
	const apart = (name: string) => hazards !== undefined && isHazardWeight(name);
	const weights = readWeights(
		await whole(file),
		file,
		shapesIn((name) => !apart(name)),
	);
	if (hazards !== undefined)
		for (const [name, value] of readWeights(await whole(hazards), hazards, shapesIn(apart)))
			weights.set(name, value);
	const fineTuned: FineTunedTask | undefined = task && {
		scoring: task.scoring,
		weights: readWeights(await whole(task.weights.file), task.weights.file, task.weights.tensors),
	};
	return {
		manifest,
		model: trajgpt as unknown as Model,
		config,
		weights,
		task: fineTuned,
		vocabulary: fromTokens(parsed.data.tokens),
		warnings:
			manifest.sha256 === undefined
				? [
						`${where} was written by a version that did not protect ${manifestFile} against changes; export the run again`,
					]
				: [],
	};
}

/** What a page or a program needs of an export beside its calls. */
export const openedExport = (
	{ manifest, vocabulary }: Export,
	{ label }: { readonly label: string },
) => ({ manifest, tokens: vocabulary.tokens, runtime: label });

export type OpenedExport = ReturnType<typeof openedExport>;

function jsonOf(bytes: Uint8Array | undefined): unknown {
	try {
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch {
		return undefined;
	}
}

async function readManifest(where: string, read: ReadFile): Promise<ExportManifest> {
	const bytes = await read(manifestFile);
	const foreign = "give the folder that `trajgpt export` wrote";
	if (!bytes)
		throw new InputError(`${where} is not an export of trajgpt: no ${manifestFile}; ${foreign}`);
	const json = jsonOf(bytes) as Partial<ExportManifest> | undefined;
	if (json?.kind !== "trajgpt-export")
		throw new InputError(
			`${where} is not an export of trajgpt: ${manifestFile} ${json === undefined ? "is no JSON" : `has kind ${JSON.stringify(json?.kind) ?? "none"}`}; ${foreign}`,
		);
	if (json.version !== exportVersion)
		throw new InputError(
			`${where} was written by another version of trajgpt: format ${JSON.stringify(json.version)}, expected ${exportVersion}; ${Number(json.version) > exportVersion ? "update trajgpt" : "export the run again, or train anew if the run is of an older version too"}`,
		);
	const parsed = manifestSchema.safeParse(json);
	if (parsed.success) {
		const expected = parsed.data.sha256;
		if (expected !== undefined && expected !== (await manifestSha256(json)))
			throw new InputError(
				`${where}: ${manifestFile} was changed since it was written; copy the export again, or export the run again`,
			);
		return parsed.data;
	}
	const [issue] = parsed.error.issues;
	throw new InputError(
		`${where}: ${manifestFile} is damaged at ${issue?.path.join(".")}: ${issue?.message}; export the run again`,
	);
}

async function checkFile(
	where: string,
	name: string,
	bytes: Uint8Array | undefined,
	expected: { readonly bytes: number; readonly sha256: string } | undefined,
): Promise<void> {
	const damaged = `${where} is damaged`;
	const remedy = "copy the export again";
	if (!bytes || !expected)
		throw new InputError(
			`${damaged}: ${expected ? `${name} is missing` : `${manifestFile} does not name ${name}`}; ${remedy}`,
		);
	if (bytes.length !== expected.bytes)
		throw new InputError(
			`${damaged}: ${name} has ${bytes.length} bytes, ${manifestFile} says ${expected.bytes}; ${remedy}`,
		);
	const hash = await sha256(bytes);
	if (hash !== expected.sha256)
		throw new InputError(
			`${damaged}: ${name} does not hold what was written (SHA-256 ${hash.slice(0, 12)}…, expected ${expected.sha256.slice(0, 12)}…); ${remedy}`,
		);
}

/** A file that the user chose or dropped; `File` satisfies it. */
export interface PageFile {
	readonly name: string;
	arrayBuffer(): Promise<ArrayBuffer>;
}

export type Source = string | readonly PageFile[];

export const sourceLabel = (source: Source): string =>
	typeof source === "string" ? source : "the set of files";

export const readerOf = (source: Source): ReadFile =>
	typeof source === "string" ? readerFromUrl(source) : fromFiles(source);

/** Reads the files of an export below a URL. */
export function readerFromUrl(folder: string): ReadFile {
	const base = folder.endsWith("/") ? folder : `${folder}/`;
	return async (name) => {
		const url = new URL(name, base).href;
		let response: Response;
		try {
			response = await fetch(url);
		} catch (cause) {
			throw new InputError(
				`${url} cannot be read: no server responds, or it does not allow this page to read it`,
				{ cause },
			);
		}
		if (response.status === 404) return undefined;
		if (!response.ok)
			throw new InputError(
				`${url} cannot be read: the server responds with status ${response.status}`,
			);
		return new Uint8Array(await response.arrayBuffer());
	};
}

const fromFiles =
	(files: readonly PageFile[]): ReadFile =>
	async (name) => {
		const file = files.find((one) => one.name === name);
		return file && new Uint8Array(await file.arrayBuffer());
	};

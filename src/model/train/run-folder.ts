import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { z } from "zod";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { contentSha256, holdingLock, readJson, writeJson } from "../../base/files/index.js";
import { explainError } from "../../base/system-errors.js";
import { type Dataset, type Manifest, openDataset } from "../../data/cohort/index.js";
import { manifestSchema } from "../../data/cohort/manifest.js";
import { fromTokens, type Vocabulary, vocabularySchema } from "../../data/cohort/vocabulary.js";
import { precisions, recordedProviders } from "../../engine/runtime/index.js";
import { trainOptions } from "./options.js";

const runVersion = 7;

/** What a run remembers of its dataset, to know it again. */
interface DatasetIdentity {
	readonly [field: string]: string | number;
}

const runSchema = z.strictObject({
	kind: z.literal("trajgpt-run"),
	version: z.literal(runVersion),
	model: z.string(),
	config: z.record(z.string(), z.unknown()),
	options: trainOptions,
	dataset: z.record(z.string(), z.union([z.string(), z.number()])),
	/** Where the dataset lay, from the run's folder: both may be moved together. */
	datasetFolder: z.string(),
	/** Present if its patients are simulated, all of them. */
	simulated: z.literal(true).optional(),
	/** The last day that training has seen, if the dataset was cut. */
	before: z.int().optional(),
	versions: z.record(z.string(), z.string()),
	threads: z.int().min(1),
	provider: z.enum(recordedProviders),
	precision: z.enum(precisions).optional(),
});

/** `run.json`: what is being trained, on what, how and by which versions. */
export type Run = z.infer<typeof runSchema>;

export const runFiles = (folder: string) => ({
	run: join(folder, "run.json"),
	manifest: join(folder, "manifest.json"),
	vocabulary: join(folder, "vocabulary.json"),
	rates: join(folder, "rates.json"),
	lock: join(folder, "run.lock"),
	log: join(folder, "log.jsonl"),
	tensorboard: join(folder, "tensorboard"),
	checkpoint: join(folder, "checkpoint"),
	best: join(folder, "best"),
	evaluations: join(folder, "eval"),
	figures: join(folder, "figures"),
	report: join(folder, "report.html"),
});

/** The files that what a run has learned depends on. */
export const sealedFiles = (folder: string): string[] => {
	const { run, manifest, vocabulary } = runFiles(folder);
	return [run, manifest, vocabulary];
};

/** What lies there before `run.json` makes the folder a run. */
const unfinished = [
	"manifest.json.tmp",
	"manifest.json",
	"vocabulary.json.tmp",
	"vocabulary.json",
	"run.json.tmp",
];

/** Whether a folder holds nothing but what a process leaves that dies before it has begun a run. */
const isUnbegun = (folder: string): boolean =>
	readdirSync(folder).every((name) => unfinished.includes(name) || name.startsWith("run.lock"));

/** Refuses a folder that holds something already. */
export function checkNewRun(folder: string): void {
	if (existsSync(folder) && !isUnbegun(folder))
		throw new InputError(
			`${folder} is there already and not empty; pass \`resume\` to go on with it, or another \`out\``,
			{ field: "out", value: folder },
		);
}

/** What a run remembers of its dataset. */
function identityOf({ manifest }: Dataset): DatasetIdentity {
	const { schemaVersion, contentHash, splits, counts } = manifest;
	return {
		schemaVersion,
		contentHash,
		splitSeed: splits.seed,
		tokens: counts.tokens,
	};
}

/** Begins a run. It keeps the dataset's manifest and vocabulary, so that it answers without the dataset. */
export function createRun(
	folder: string,
	dataset: Dataset,
	settings: Omit<Run, "kind" | "version" | "dataset" | "datasetFolder">,
): Run {
	checkNewRun(folder);
	mkdirSync(folder, { recursive: true });
	const run: Run = {
		kind: "trajgpt-run",
		version: runVersion,
		...settings,
		dataset: identityOf(dataset),
		datasetFolder: relative(resolve(folder), resolve(dataset.folder)),
	};
	const files = runFiles(folder);
	writeJson(files.manifest, dataset.manifest, 2);
	writeJson(files.vocabulary, { tokens: dataset.vocabulary.tokens }, 2);
	// The last one: a folder is a run if it has this file.
	writeJson(files.run, run, 2);
	return run;
}

/** The records a run was trained on, as it remembers them. */
export function readRunRecords(folder: string): {
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
} {
	const files = runFiles(folder);
	const advice = "restore it from the run's dataset, or train anew";
	return {
		manifest: readJson(files.manifest, manifestSchema, advice),
		vocabulary: fromTokens(readJson(files.vocabulary, vocabularySchema, advice).tokens),
	};
}

/** Opens the dataset of a run: where it lay, or the one given; another is refused. */
export async function openRunDataset(folder: string, run: Run, given?: string): Promise<Dataset> {
	const place = given ?? join(folder, run.datasetFolder);
	if (given === undefined && !existsSync(place))
		throw new InputError(
			`the dataset of ${folder} is no longer in ${place}; say where it is with \`dataset\``,
			{ field: "dataset" },
		);
	const dataset = await openDataset(place);
	checkDataset(run, dataset);
	return dataset;
}

export function readRun(folder: string): Run {
	const file = runFiles(folder).run;
	if (!existsSync(file) && existsSync(folder) && isUnbegun(folder))
		throw new InputError(`no run was begun in ${folder}; leave out \`resume\` to begin one`, {
			field: "resume",
		});
	if (!existsSync(file))
		throw new InputError(
			`${folder} is not a run: it has no run.json; give the folder that \`trajgpt pretrain --out\` wrote`,
		);
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(file, "utf8"));
	} catch {
		throw new InputError(
			`${file} is not JSON; the run folder is damaged: restore it, or train anew`,
		);
	}
	const { kind, version } = (json ?? {}) as { kind?: unknown; version?: unknown };
	if (kind !== "trajgpt-run")
		throw new InputError(`${file} is not a run of trajgpt: its kind is ${JSON.stringify(kind)}`);
	if (version !== runVersion)
		throw new InputError(
			`${file} was written by another version: run format ${JSON.stringify(version)}, expected ${runVersion}; ` +
				"train it again with `trajgpt pretrain`, or use the version of trajgpt named in its versions field",
		);
	const parsed = runSchema.safeParse(json);
	if (parsed.success) return parsed.data;
	const issue = parsed.error.issues[0];
	throw new InputError(
		`${file}: ${issue?.path.join(".")}: ${issue?.message}; restore it, or train anew`,
	);
}

/** `name own → other` for each field in which two records differ. */
export function differences(
	own: Readonly<Record<string, unknown>>,
	other: Readonly<Record<string, unknown>>,
): string[] {
	const names = new Set([...Object.keys(own), ...Object.keys(other)]);
	return [...names]
		.filter((name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]))
		.map((name) => `${name} ${own[name]} → ${other[name]}`);
}

/** Refuses a dataset that is not the run's own, and says in what it differs. */
export function checkDataset(run: Run, dataset: Dataset): void {
	const found = differences(run.dataset, identityOf(dataset));
	if (found.length > 0)
		throw new InputError(
			`${dataset.folder} is not the dataset this run was trained on: ${found.join(", ")}; ` +
				"give the run its own dataset, or start a new run",
		);
}

/** SHA-256 of the files that weights were learned with, by name: the weights' file carries it. */
export type Seal = Readonly<Record<string, string>>;

/** Fields of `run.json` and `task.json` that no prediction depends on. */
const withoutEffect: readonly string[] = [
	"datasetFolder",
	"versions",
	"threads",
	"provider",
	"precision",
];

/** The seal of some JSON files as they are now. */
export const sealOf = (files: readonly string[]): Seal =>
	Object.fromEntries(files.map((file) => [basename(file), fileSha256(file)]));

function fileSha256(file: string): string {
	let json: unknown;
	try {
		json = JSON.parse(readFileSync(file, "utf8"));
	} catch (cause) {
		throw new InputError(
			`${file} is missing or is not JSON; restore it from a copy of the run, or train anew`,
			{ cause },
		);
	}
	if (!["run.json", "task.json"].includes(basename(file))) return contentSha256(json);
	return contentSha256(
		Object.fromEntries(
			Object.entries(json ?? {}).filter(([field]) => !withoutEffect.includes(field)),
		),
	);
}

/** Refuses files that are not those the weights in `where` were learned with. */
export function checkSeal(where: string, seal: Seal, files: readonly string[], run: string): void {
	const now = sealOf(files);
	for (const file of files) {
		const [found, expected] = [now[basename(file)], seal[basename(file)]];
		if (found !== expected)
			throw new InputError(
				`${file} does not belong to the weights in ${where}: it was changed, or is another run's ` +
					`(SHA-256 of its content ${short(found)}, expected ${short(expected)}); ` +
					`restore it from a copy of the run; if the change is meant, run \`trajgpt seal ${run} --force\``,
			);
	}
}

const short = (hash: string | undefined) => (hash ? `${hash.slice(0, 12)}…` : "none");

/** Does some work on a run that no other process may do at the same time, but those that share it. */
export async function holdingRun<T>(
	folder: string,
	work: () => Promise<T>,
	{ rank }: Communicator = oneProcess,
): Promise<T> {
	if (rank > 0) return work();
	const { lock } = runFiles(folder);
	try {
		mkdirSync(folder, { recursive: true });
	} catch (error) {
		throw new InputError(`cannot write ${lock}: ${explainError(error)}`, { cause: error });
	}
	return holdingLock(lock, "at work on this run", work);
}

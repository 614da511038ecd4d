import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { holdingLock, readJson, writeJson } from "../../base/files/index.js";
import { explainError } from "../../base/system-errors.js";
import { type Dataset, type Manifest, openDataset } from "../../data/cohort/index.js";
import { manifestSchema } from "../../data/cohort/manifest.js";
import { fromTokens, type Vocabulary, vocabularySchema } from "../../data/cohort/vocabulary.js";
import { precisions, recordedProviders } from "../../engine/runtime/index.js";
import { type Checkpoint, hasCheckpoint, readCheckpoint } from "./checkpoint.js";
import { type LogEvent, readEventLog } from "./event-log.js";
import { type TrainOptions, trainOptions } from "./options.js";

const runVersion = 9;

const runSchema = z.strictObject({
	kind: z.literal("trajgpt-run"),
	version: z.literal(runVersion),
	model: z.string(),
	config: z.record(z.string(), z.unknown()),
	options: trainOptions,
	/** What the run remembers of its dataset, to know it again. */
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

export function checkNewRun(folder: string): void {
	if (existsSync(folder) && !isUnbegun(folder))
		throw new InputError(
			`${folder} is there already and not empty; pass \`resume\` to go on with it, or another \`out\``,
			{ field: "out", value: folder },
		);
}

function identityOf({ manifest }: Dataset): Run["dataset"] {
	const { schemaVersion, contentHash, splits, counts } = manifest;
	return { schemaVersion, contentHash, splitSeed: splits.seed, tokens: counts.tokens };
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

/** `name ours → other` for each field in which two records differ. */
export function differences(
	ours: Readonly<Record<string, unknown>>,
	other: Readonly<Record<string, unknown>>,
): string[] {
	const names = new Set([...Object.keys(ours), ...Object.keys(other)]);
	return [...names]
		.filter((name) => JSON.stringify(ours[name]) !== JSON.stringify(other[name]))
		.map((name) => `${name} ${ours[name]} → ${other[name]}`);
}

/** Refuses a dataset that is not the run's own, and says in what it differs. */
export function checkDataset(run: Run, dataset: Dataset): void {
	const changed = differences(run.dataset, identityOf(dataset));
	if (changed.length > 0)
		throw new InputError(
			`${dataset.folder} is not the dataset this run was trained on: ${changed.join(", ")}; ` +
				"give the run its own dataset, or start a new run",
		);
}

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

/** What a checkpoint's state says of the run it belongs to. */
interface SavedSettings {
	readonly options: TrainOptions;
	readonly dataset: Run["dataset"];
}

/** `name run's → checkpoint's` for each setting in which a run and a checkpoint differ. */
export function settingsThatDiffer(
	{ model, config, state }: Checkpoint,
	run: Pick<Run, "model" | "config" | "options" | "dataset">,
): string[] {
	const { options, dataset } = (state ?? {}) as Partial<SavedSettings>;
	return [
		...differences({ model: run.model }, { model }),
		...differences(run.config, (config ?? {}) as Record<string, unknown>),
		...differences(run.options, withDefaults(options)),
		...differences(run.dataset, dataset ?? {}),
	];
}

/** For each tensor that is missing, too many or of another shape than expected: what is wrong, in words. */
export function tensorMismatches(
	tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>,
	expected: ReadonlyMap<string, { readonly shape: readonly number[] }>,
): string[] {
	const mismatches = [...tensors.keys()]
		.filter((name) => !expected.has(name))
		.map((name) => `it holds ${name}, which this model has not`);
	for (const [name, { shape }] of expected) {
		const actual = tensors.get(name)?.shape;
		if (String(actual) !== String(shape))
			mismatches.push(
				`${name} is ${actual ? `[${actual.join(", ")}]` : "missing"}, expected [${shape.join(", ")}]`,
			);
	}
	return mismatches;
}

/** Saved options, with the defaults of those that came later. */
const withDefaults = (options: TrainOptions | undefined): Record<string, unknown> =>
	options ? (trainOptions.safeParse(options).data ?? options) : {};

/** Where a run stands between two steps; plain JSON. */
export interface Position {
	readonly step: number;
	readonly epoch: number;
	readonly stepInEpoch: number;
	readonly best: Best | null;
	readonly finished: boolean;
}

/** What a checkpoint holds beside tensors: where it stands, and what run it belongs to. */
export interface SavedState extends SavedSettings {
	readonly position: Position;
}

export interface Best {
	readonly epoch: number;
	readonly step: number;
	readonly loss: number;
	readonly losses: Readonly<Record<string, number>>;
}

/**
 * Whether an event of the log came before the checkpoint at a position. One written when validation
 * was cut short has the last step of its epoch, but not the validation that follows it.
 */
export const wasSaved =
	(at: Position) =>
	({ step, epoch, valid }: LogEvent): boolean =>
		step <= at.step && (valid === undefined || (epoch as number) <= at.epoch);

/** Whether the run, or the fine-tuning, in a folder has come to its end. */
export function isTrained(folder: string): boolean {
	const { checkpoint } = runFiles(folder);
	if (!hasCheckpoint(checkpoint)) return false;
	return (readCheckpoint(checkpoint).state as SavedState).position.finished;
}

/** Steps that a run has behind it and would not do again. */
export function stepsDone(folder: string): number {
	const { checkpoint } = runFiles(folder);
	return hasCheckpoint(checkpoint) ? readCheckpoint(checkpoint).step : 0;
}

/** The checkpoint to go on from; none if the run died before its first, and so before its first step. */
export function lastCheckpoint(files: ReturnType<typeof runFiles>): Checkpoint | undefined {
	const logged = existsSync(files.log) && readEventLog(files.log).length > 0;
	return hasCheckpoint(files.checkpoint) || logged ? readCheckpoint(files.checkpoint) : undefined;
}

/** Refuses the checkpoint of another run, and tensors of other sizes; nothing is overwritten. */
export function checkSameRun(
	checkpoint: Checkpoint,
	run: Pick<Run, "model" | "config" | "options" | "dataset">,
	expected: ReadonlyMap<string, { readonly shape: readonly number[] }>,
	where: string,
): void {
	const faults = [
		...settingsThatDiffer(checkpoint, run),
		...tensorMismatches(checkpoint.tensors, expected).slice(0, 1),
	];
	if (faults.length > 0)
		throw new InputError(
			`${where} does not belong to this run: ${faults.join(", ")}; restore the run's own checkpoint, or start a new run`,
		);
}

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../base/errors.js";
import { providers } from "../runtime/index.js";
import { disk } from "./durable-files.js";
import { trainOptions } from "./options.js";

const runVersion = 1;

/** What a run remembers of its dataset, to know it again. */
export interface DatasetIdentity {
	readonly [field: string]: string | number;
}

const runSchema = z.strictObject({
	kind: z.literal("trajgpt-run"),
	version: z.literal(runVersion),
	model: z.string(),
	config: z.record(z.string(), z.unknown()),
	options: trainOptions,
	dataset: z.record(z.string(), z.union([z.string(), z.number()])),
	versions: z.record(z.string(), z.string()),
	threads: z.int().min(1),
	provider: z.enum(providers),
});

/** `run.json`: what is being trained, on what, how and by which versions. */
export type Run = z.infer<typeof runSchema>;

export const runFiles = (folder: string) => ({
	run: join(folder, "run.json"),
	lock: join(folder, "run.lock"),
	log: join(folder, "log.jsonl"),
	tensorboard: join(folder, "tensorboard"),
	checkpoint: join(folder, "checkpoint"),
	best: join(folder, "best"),
});

const unfinished = "run.json.tmp";

/** Whether a folder holds nothing but what a process leaves that dies before it has begun a run. */
const isUnbegun = (folder: string): boolean =>
	readdirSync(folder).every((name) => name === unfinished || name === "run.lock");

/** Refuses a folder that holds something already. */
export function checkNewRun(folder: string): void {
	if (existsSync(folder) && !isUnbegun(folder))
		throw new InputError(
			`${folder} is there already and not empty; pass --resume to go on with it, or another --out`,
		);
}

export function createRun(folder: string, run: Omit<Run, "kind" | "version">): Run {
	checkNewRun(folder);
	mkdirSync(folder, { recursive: true });
	const whole: Run = { kind: "trajgpt-run", version: runVersion, ...run };
	const beside = join(folder, unfinished);
	disk.writeFile(beside, [new TextEncoder().encode(`${JSON.stringify(whole, null, 2)}\n`)]);
	disk.rename(beside, runFiles(folder).run);
	disk.syncFolder(folder);
	return whole;
}

export function readRun(folder: string): Run {
	const file = runFiles(folder).run;
	if (!existsSync(file) && existsSync(folder) && isUnbegun(folder))
		throw new InputError(`no run was begun in ${folder}; leave out --resume to begin one`);
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
				"use the version of trajgpt named in its versions field",
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
		.filter((name) => own[name] !== other[name])
		.map((name) => `${name} ${own[name]} → ${other[name]}`);
}

/** Refuses a dataset that is not the run's own, and says in what it differs. */
export function checkDataset(run: Run, dataset: DatasetIdentity, folder: string): void {
	const found = differences(run.dataset, dataset);
	if (found.length > 0)
		throw new InputError(
			`${folder} is not the dataset this run was trained on: ${found.join(", ")}; ` +
				"give the run its own dataset, or start a new run",
		);
}

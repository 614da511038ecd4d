import { existsSync, readdirSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { readJson, replaceFile } from "../../../base/files/index.js";
import type { Dataset } from "../../../data/cohort/index.js";
import * as evaluating from "../../../evaluate/index.js";

const planSchema = z.strictObject({
	kind: z.literal("trajgpt-comparison"),
	version: z.literal(1),
	title: z.string(),
	dataset: z.string(),
	datasetFolder: z.string(),
	tasks: z.array(z.string()),
	depths: z.array(z.int()),
	/** Training options of every line, unless the line overrides them. */
	options: z.record(z.string(), z.unknown()),
	hazards: z.record(z.string(), z.unknown()).default({}),
	tuning: z.record(z.string(), z.unknown()),
	/** The most steps of a fine-tuning, but at least one epoch; null for no limit. */
	tuningSteps: z.int().min(1).nullable().default(null),
	futures: z.int().min(1),
	/** The most test patients of tasks next, forecast and onset; null for all. */
	patients: z.int().min(1).nullable().default(null),
});

/** `compare.json`: what a comparison trains and evaluates. Lines may be added later. */
export type Plan = z.infer<typeof planSchema>;

export const comparisonFiles = (folder: string) => ({
	plan: join(folder, "compare.json"),
	entry: (id: string) => join(folder, "lines", `${id}.json`),
	run: (id: string, seed: number) => join(folder, "runs", `${id}-s${seed}`),
	cell: (id: string, seed: number) => join(folder, "cells", `${id}-s${seed}.json`),
	/** Regressions that runs of all models and seeds begin with. */
	priors: join(folder, "priors"),
	log: (id: string, seed: number) => join(folder, "logs", `${id}-s${seed}.log`),
	table: (extension: string) => join(folder, `table.${extension}`),
});

/** The id of the cell of the baselines, which trains nothing. */
export const baselinesId = "opponents";

const advice = "remove it, or choose another `out`";
/** For files without which the settings of the cells are unknown: to remove them does not help. */
const elsewhere = "choose another `out`";

const writeJson = (file: string, value: unknown) =>
	replaceFile(file, (path) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`));

export const readPlan = (folder: string): Plan =>
	readJson(comparisonFiles(folder).plan, planSchema, elsewhere);
export const readEntry = (folder: string, id: string): evaluating.ComparedModel =>
	readJson(comparisonFiles(folder).entry(id), evaluating.entrySchema, elsewhere);

/** A finished cell; undefined if it is unfinished or lacks data that the table needs. */
export function readCell(folder: string, id: string, seed: number): evaluating.Cell | undefined {
	const file = comparisonFiles(folder).cell(id, seed);
	const cell = existsSync(file) ? readJson(file, evaluating.cellSchema, advice) : undefined;
	return cell && evaluating.keepsDraws(cell) ? cell : undefined;
}

export async function writeCell(folder: string, id: string, cell: evaluating.Cell): Promise<void> {
	await writeJson(comparisonFiles(folder).cell(id, cell.seed), cell);
}

/** Begins or resumes a comparison; rejects settings that differ from those it was begun with. */
export async function openPlan(
	folder: string,
	dataset: Dataset,
	entries: readonly evaluating.ComparedModel[],
	wanted: Omit<Plan, "kind" | "version" | "dataset" | "datasetFolder">,
): Promise<Plan> {
	const files = comparisonFiles(folder);
	const plan: Plan = {
		kind: "trajgpt-comparison",
		version: 1,
		...wanted,
		dataset: dataset.manifest.contentHash,
		datasetFolder: relative(resolve(folder), resolve(dataset.folder)),
	};
	if (existsSync(files.plan)) {
		// The dataset's location and the depths shown do not affect training.
		const { datasetFolder: _moved, depths: _shown, ...before } = readPlan(folder);
		const { datasetFolder: _here, depths: _wanted, ...now } = plan;
		for (const [name, value] of Object.entries(now)) {
			const stored = before[name as keyof typeof before];
			if (JSON.stringify(stored) !== JSON.stringify(value))
				throw new InputError(
					`${folder} holds a comparison with other settings: ${name} is ${JSON.stringify(stored)} there, ${JSON.stringify(value)} here; ` +
						"give the same, or another `out`",
					{ field: name, value },
				);
		}
	} else {
		checkUnused(folder);
		// Written first, because a folder with cells but no plan is refused.
		await writeJson(files.plan, plan);
	}
	for (const part of ["lines", "runs", "cells", "logs"])
		await mkdir(join(folder, part), { recursive: true });
	for (const entry of entries) {
		const file = files.entry(entry.id);
		if (existsSync(file) && JSON.stringify(readEntry(folder, entry.id)) !== JSON.stringify(entry))
			throw new InputError(
				`${folder} holds ${entry.id} with other settings; give the same, or another \`out\``,
			);
		await writeJson(file, entry);
	}
	await writeJson(files.plan, plan);
	return plan;
}

/** Entries that mark a dataset, a run or a comparison. Anything else, such as a scheduler's log, may be there. */
const taken = ["manifest.json", "run.json", "cells", "runs"];

function checkUnused(folder: string): void {
	const filled = taken.find((name) => isFilled(join(folder, name)));
	if (filled !== undefined)
		throw new InputError(
			`${folder} holds ${filled} but no compare.json: it is a dataset, a run, or a comparison whose settings are lost; choose another \`out\`, new or empty`,
			{ field: "out", value: folder },
		);
}

/** Whether there is a file, or a folder with something in it. */
const isFilled = (path: string) =>
	existsSync(path) && (!statSync(path).isDirectory() || readdirSync(path).length > 0);

const timingSchema = z.strictObject({
	cpuSeconds: z.number(),
	seconds: z.number().default(0),
	steps: z.number(),
	peakBytes: z.number(),
});

/** Resources that training took, over all processes that had a part in it. */
type Timing = z.infer<typeof timingSchema>;

export async function addTiming(run: string, now: Timing): Promise<Timing> {
	const file = join(run, "timing.json");
	const before = existsSync(file)
		? readJson(file, timingSchema, "remove it: training is then timed from here on")
		: { cpuSeconds: 0, seconds: 0, steps: 0, peakBytes: 0 };
	const timing: Timing = {
		cpuSeconds: before.cpuSeconds + (now.steps > 0 ? now.cpuSeconds : 0),
		seconds: before.seconds + (now.steps > 0 ? now.seconds : 0),
		steps: before.steps + now.steps,
		peakBytes: Math.max(before.peakBytes, now.peakBytes),
	};
	await replaceFile(file, (path) => writeFile(path, `${JSON.stringify(timing)}\n`));
	return timing;
}

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { contentSha256 } from "../../base/files/index.js";
import { openDataset } from "../../data/cohort/index.js";
import { checkSeal, hasCheckpoint, readCheckpoint, sealOf, writeCheckpoint } from "./checkpoint.js";
import { readTask, sealedTaskFiles, taskFiles } from "./finetune/task-folder.js";
import {
	checkDataset,
	holdingRun,
	type Run,
	readRun,
	readRunRecords,
	runFiles,
	sealedFiles,
	settingsThatDiffer,
} from "./run-folder.js";

interface Place {
	readonly folder: string;
	readonly files: readonly string[];
	/** What the weights there must have been learned with. */
	readonly settings: Pick<Run, "model" | "config" | "options" | "dataset">;
}

/**
 * Binds the weights of a run, and of its tasks, to the files they were learned with, as these are now.
 * Weights that are bound to other files are left alone unless `force` is set.
 */
export async function sealRun(folder: string, { force = false } = {}) {
	const run = readRun(folder);
	return holdingRun(folder, async () => {
		/** Whether manifest and vocabulary were compared with the dataset; it may be elsewhere. */
		const comparedWithDataset = await checkRecords(folder, run);
		const sealed: string[] = [];
		/** Checkpoints that were bound to these very files before. */
		const unchanged: string[] = [];
		for (const place of [...placesOf(folder, run), ...taskPlaces(folder, run)])
			(sealPlace(folder, place, force) ? sealed : unchanged).push(place.folder);
		if (sealed.length + unchanged.length === 0)
			throw new InputError(`${folder} has no weights yet; train it first`);
		return { sealed, unchanged, comparedWithDataset };
	});
}

/** Refuses manifest and vocabulary that are not of the run's dataset, as far as can be told. */
async function checkRecords(folder: string, run: Run): Promise<boolean> {
	const files = runFiles(folder);
	const { manifest, vocabulary } = readRunRecords(folder);
	const refuse = (file: string, what: string): never => {
		throw new InputError(
			`${file} is not of the dataset that ${folder} was trained on: ${what}; restore it from a copy of the run or from the dataset`,
		);
	};
	if (manifest.contentHash !== run.dataset.contentHash)
		refuse(
			files.manifest,
			`contentHash is ${JSON.stringify(manifest.contentHash)}, expected ${JSON.stringify(run.dataset.contentHash)}`,
		);
	if (vocabulary.size !== run.dataset.tokens)
		refuse(files.vocabulary, `${vocabulary.size} tokens, expected ${run.dataset.tokens}`);
	const place = join(folder, run.datasetFolder);
	if (!existsSync(place)) return false;
	const dataset = await openDataset(place);
	checkDataset(run, dataset);
	for (const [file, ours, theirs] of [
		[files.manifest, manifest, dataset.manifest],
		[files.vocabulary, vocabulary.tokens, dataset.vocabulary.tokens],
	] as const)
		if (contentSha256(ours) !== contentSha256(theirs)) refuse(file, `it differs from ${place}`);
	return true;
}

function placesOf(folder: string, run: Run): Place[] {
	const { checkpoint, best } = runFiles(folder);
	return [checkpoint, best]
		.filter(hasCheckpoint)
		.map((place) => ({ folder: place, files: sealedFiles(folder), settings: run }));
}

function taskPlaces(folder: string, run: Run): Place[] {
	const tasks = join(folder, "tasks");
	if (!existsSync(tasks)) return [];
	return readdirSync(tasks).flatMap((name) => {
		const task = readTask(folder, name);
		if (!task) return [];
		const { checkpoint, best } = taskFiles(folder, name);
		const settings = { ...run, options: task.options, dataset: task.identity };
		return [checkpoint, best]
			.filter(hasCheckpoint)
			.map((place) => ({ folder: place, files: sealedTaskFiles(folder, name), settings }));
	});
}

/** Whether anything was to be done. */
function sealPlace(run: string, { folder, files, settings }: Place, force: boolean): boolean {
	const checkpoint = readCheckpoint(folder);
	const changed = settingsThatDiffer(checkpoint, settings);
	if (changed.length > 0)
		throw new InputError(
			`the settings of ${run} are not those the weights in ${folder} were learned with: ${changed.join(", ")}; ` +
				"restore them from a copy of the run, or train anew",
		);
	const now = sealOf(files);
	if (checkpoint.seal && contentSha256(checkpoint.seal) === contentSha256(now)) return false;
	if (checkpoint.seal && !force) checkSeal(folder, checkpoint.seal, files, run);
	writeCheckpoint(folder, { ...checkpoint, seal: now });
	return true;
}

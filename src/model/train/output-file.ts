import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { columnFormat } from "../../base/files/column-file.js";
import { checkFileTarget } from "../../base/files/index.js";
import { fileNames, manifestName } from "../../data/cohort/index.js";
import { runFiles } from "./index.js";

/**
 * Rejects a file that exists and may not be replaced; call it before long work. Files of a dataset or of a run are
 * never replaced: the rest of it would be lost with them.
 */
export async function checkOutputFile(file: string, replace: boolean): Promise<void> {
	await checkFileTarget(file, replace);
	if (!existsSync(file)) return;
	const path = resolve(file);
	const whole = runOf(path) ?? datasetOf(path);
	if (whole !== undefined)
		throw new InputError(
			`${file} is part of the ${whole}, and \`replace\` will not replace it; choose another file`,
			{ field: "replace" },
		);
}

/** The same for a table, if one is to be written: its format must be known. */
export async function checkTableFile(file: string | undefined, replace = false): Promise<void> {
	if (file === undefined) return;
	columnFormat(file);
	await checkOutputFile(file, replace);
}

function runOf(path: string): string | undefined {
	for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
		// The report and the figures may be replaced.
		const { report: _report, figures: _figures, ...files } = runFiles(folder);
		if (!existsSync(files.run)) continue;
		const isOwn = [...Object.values(files), join(folder, "tasks")].some(
			(part) => path === part || path.startsWith(join(part, "/")),
		);
		return isOwn ? `run in ${folder}` : undefined;
	}
	return undefined;
}

function datasetOf(path: string): string | undefined {
	const folder = dirname(path);
	const isOwn = [manifestName, ...fileNames].some((name) => name === basename(path));
	return isOwn && existsSync(join(folder, manifestName)) ? `dataset in ${folder}` : undefined;
}

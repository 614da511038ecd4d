import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { fileNames, manifestName } from "../cohort/index.js";
import { checkFileTarget } from "../files/index.js";
import { runFiles, sealedFiles } from "../train/index.js";

/**
 * Rejects a file that exists and may not be replaced; call it before long work. Files of a dataset or of a run are
 * never replaced: the rest of it would be lost with them.
 */
export async function checkOutputFile(file: string, replace: boolean): Promise<void> {
	await checkFileTarget(file, replace);
	const folder = dirname(resolve(file));
	const { run, log } = runFiles(folder);
	const manifest = join(folder, manifestName);
	const ofRun = existsSync(run) ? [run, log, ...sealedFiles(folder)] : [];
	const ofDataset = existsSync(manifest)
		? [manifest, ...fileNames.map((name) => join(folder, name))]
		: [];
	const isAmong = (files: readonly string[]) => existsSync(file) && files.includes(resolve(file));
	const whole = isAmong(ofRun) ? "run" : isAmong(ofDataset) ? "dataset" : undefined;
	if (whole)
		throw new InputError(
			`${file} is part of the ${whole} in ${folder}, and \`replace\` will not replace it; choose another file`,
			{ field: "replace" },
		);
}

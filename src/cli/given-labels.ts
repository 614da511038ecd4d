import { Option } from "commander";
import { InputError } from "../base/errors.js";
import { type Dataset, withLabels } from "../cohort/index.js";
import type { Io } from "./io.js";

export const labelsOption = (): Option =>
	new Option(
		"--labels <path>",
		"labels of --task that the dataset lacks: a file, or a folder of MEDS label files (see tasks)",
	);

/** The dataset, with the labels of --labels if it is given. */
export async function withGivenLabels(
	io: Io,
	dataset: Dataset,
	task: string,
	file: string | undefined,
): Promise<Dataset> {
	if (file === undefined) return dataset;
	if (task === "all")
		throw new InputError("--labels needs --task: the name of the task that they are for");
	const { dataset: labelled, notes } = await withLabels(dataset, { task, file });
	for (const note of notes) io.stderr.write(`note: ${note}\n`);
	return labelled;
}

import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { type Dataset, withLabels } from "../../data/cohort/index.js";
import { type TimeIs, timeUnits } from "../../data/records/tables/column-names.js";
import { option } from "./fields.js";
import type { Io } from "./io.js";

/** The options on labels. */
export interface LabelFlags {
	readonly labels?: string | undefined;
	readonly labelTimeIs?: TimeIs | undefined;
}

export function refuseUnitAlone(labels: string | undefined, labelTimeIs: TimeIs | undefined): void {
	if (labelTimeIs === undefined || labels !== undefined) return;
	throw new InputError("--label-time-is needs --labels: the labels whose times it is about", {
		field: "labelTimeIs",
		value: labelTimeIs,
	});
}

export const labelsField = option(
	"path",
	"labels of --task that the dataset lacks: a file, or a folder of MEDS label files (see tasks)",
	z.string().optional(),
);

/** The unit of the times of labels, for the option that names their file. */
export const labelTimeField = (labels: string) =>
	option(
		"what",
		`meaning of the times in ${labels} (default: as in the records of the dataset)`,
		z.enum(timeUnits).optional(),
	);

/** The dataset, with the labels of --labels if it is given. */
export async function withGivenLabels(
	io: Io,
	dataset: Dataset,
	task: string,
	{ labels: file, labelTimeIs }: LabelFlags,
): Promise<Dataset> {
	refuseUnitAlone(file, labelTimeIs);
	if (file === undefined) return dataset;
	if (task === "all")
		throw new InputError("--labels needs --task: the name of the task that they are for");
	const {
		dataset: labelled,
		notes,
		warnings,
	} = await withLabels(dataset, {
		task,
		file,
		labelTimeIs,
	});
	for (const note of notes) io.stderr.write(`note: ${note}\n`);
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	return labelled;
}

import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { type Dataset, withLabels } from "../../data/cohort/index.js";
import { type TimeIs, timeUnits } from "../../data/records/rows.js";
import { readModel, readTrained, type Trained } from "../../model/train/index.js";
import { choice, text } from "./fields.js";
import { type Io, tell } from "./io.js";

/** Reads a trained run and prints its warnings to standard error. */
export const openRun = (io: Io, folder: string): Trained => withWarnings(io, readTrained(folder));

/** The same for a run, or a task that it was fine-tuned to. */
export const openModel = (io: Io, folder: string): Trained => withWarnings(io, readModel(folder));

function withWarnings(io: Io, trained: Trained): Trained {
	tell(io, { warnings: trained.warnings });
	return trained;
}

export const datasetArgument = {
	dataset: z.string().describe("dataset folder written by `trajgpt prepare`"),
};

export const runArgument = { run: z.string().describe("run folder written by `trajgpt pretrain`") };

export const modelArgument =
	"run folder written by `trajgpt pretrain`, or RUN/tasks/TASK by `trajgpt finetune`";

/** The dataset itself; warns if it is of a version that cannot be checked completely. */
export function withDatasetWarning(io: Io, dataset: Dataset): Dataset {
	const warning = `${dataset.folder} was prepared by an earlier version of trajgpt: whether its rules were changed since cannot be checked; prepare it again to have them checked`;
	if (!("sha256" in dataset.manifest)) tell(io, { warnings: [warning] });
	return dataset;
}

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

export const labelsField = text(
	"path",
	"labels of --task that the dataset lacks: a file, or a folder of MEDS label files (see tasks)",
);

/** The unit of the times of labels, for the option that names their file. */
export const labelTimeField = (labels: string) =>
	choice(
		"what",
		`meaning of the times in ${labels} (default: as in the records of the dataset)`,
		timeUnits,
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
	const labelled = await withLabels(dataset, { task, file, labelTimeIs });
	tell(io, labelled);
	return labelled.dataset;
}

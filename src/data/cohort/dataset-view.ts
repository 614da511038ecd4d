import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { Dataset } from "./dataset.js";
import { datasetBefore } from "./dataset-before.js";
import type { Split } from "./manifest.js";

/** The part of a dataset that a training sees. Plain data, so that another thread can open the same part. */
export interface DatasetView {
	/** The last day of records, observation and deaths. */
	readonly before?: number | undefined;
	/** How many of the training patients, drawn at random; fewer are always a part of more. */
	readonly trainPatients?: number | undefined;
}

/** A dataset with other patients in one split. */
export const withPatients = (dataset: Dataset, split: Split, patients: Int32Array): Dataset => ({
	...dataset,
	patients: (wanted) => (wanted === split ? patients : dataset.patients(wanted)),
	async *histories(wanted) {
		for (const patient of wanted === split ? patients : dataset.patients(wanted))
			yield dataset.read(patient);
	},
});

export async function datasetView(
	dataset: Dataset,
	{ before, trainPatients }: DatasetView,
): Promise<Dataset> {
	const seen = before === undefined ? dataset : await datasetBefore(dataset, before);
	if (trainPatients === undefined) return seen;
	const all = seen.patients("train");
	if (trainPatients > all.length)
		throw new InputError(
			`\`trainPatients\` ${trainPatients}: ${dataset.folder} has ${all.length} training patients; give at most as many`,
			{ field: "trainPatients", value: trainPatients },
		);
	const drawn = random(0)
		.fork("training patients")
		.shuffle([...all]);
	return withPatients(seen, "train", Int32Array.from(drawn.slice(0, trainPatients)).sort());
}

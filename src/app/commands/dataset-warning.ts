import type { Dataset } from "../../data/cohort/index.js";
import type { Io } from "./io.js";

/** The dataset itself; warns if it is of a version that cannot be checked completely. */
export function withDatasetWarning(io: Io, dataset: Dataset): Dataset {
	if (!("sha256" in dataset.manifest))
		io.stderr.write(
			`warning: ${dataset.folder} was prepared by an earlier version of trajgpt: whether its rules were changed since cannot be checked; prepare it again to have them checked\n`,
		);
	return dataset;
}

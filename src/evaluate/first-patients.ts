import { type Dataset, type Split, withPatients } from "../cohort/index.js";

/** A dataset with only the first patients of a split; other splits are unchanged. */
export const firstPatients = (dataset: Dataset, split: Split, count: number): Dataset =>
	withPatients(dataset, split, dataset.patients(split).subarray(0, count));

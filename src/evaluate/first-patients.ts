import type { Dataset, Split } from "../cohort/index.js";

/** A dataset with only the first patients of a split; other splits are unchanged. */
export const firstPatients = (dataset: Dataset, split: Split, count: number): Dataset => ({
	...dataset,
	patients: (wanted) => {
		const all = dataset.patients(wanted);
		return wanted === split ? all.subarray(0, count) : all;
	},
	async *histories(wanted) {
		const all = dataset.patients(wanted);
		for (const patient of wanted === split ? all.subarray(0, count) : all)
			yield dataset.read(patient);
	},
});

import type { Dataset, Split } from "../cohort/index.js";

/** The dataset with the first patients of a split alone; other splits stay as they are. */
export const firstPatients = (dataset: Dataset, split: Split, count: number): Dataset => ({
	...dataset,
	patients: (asked) => {
		const all = dataset.patients(asked);
		return asked === split ? all.subarray(0, count) : all;
	},
	async *histories(asked) {
		const all = dataset.patients(asked);
		for (const patient of asked === split ? all.subarray(0, count) : all)
			yield dataset.read(patient);
	},
});

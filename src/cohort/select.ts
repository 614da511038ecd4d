import type { Collected } from "./collect.js";

export interface Selection {
	/** By patient: in the cohort? */
	readonly keptPatients: readonly boolean[];
	/** By code: records in the training split of the cohort. */
	readonly trainCount: Int32Array;
	/** By code: in the vocabulary? */
	readonly keptCodes: readonly boolean[];
}

/**
 * Which patients and codes stay. Both rules hold at once in the result: every code has `minCount`
 * records among the kept training patients, every patient `minRecords` records of kept codes. To
 * drop one can break the other, so the two alternate until nothing more falls.
 */
export function selectCohort(
	{ codes, patients, code }: Collected,
	minRecords: number,
	minCount: number,
): Selection {
	let keptPatients: readonly boolean[] = patients.map(() => true);
	while (true) {
		const trainCount = new Int32Array(codes.length);
		for (const [at, { split, first, count }] of patients.entries()) {
			if (split !== "train" || !keptPatients[at]) continue;
			for (const number of code.subarray(first, first + count))
				trainCount[number] = (trainCount[number] as number) + 1;
		}
		const keptCodes = codes.map((_, at) => (trainCount[at] as number) >= minCount);
		const still = patients.map(({ first, count }, at) => {
			if (!keptPatients[at]) return false;
			let known = 0;
			for (const number of code.subarray(first, first + count)) if (keptCodes[number]) known++;
			return known >= minRecords;
		});
		if (still.every((kept, at) => kept === keptPatients[at]))
			return { keptPatients, trainCount, keptCodes };
		keptPatients = still;
	}
}

import { thousands } from "../../base/thousands.js";
import { type Evaluation, evaluationFile, tryReadEvaluation } from "../../evaluate/index.js";

/**
 * Why the result of a sample is not stored: the file holds one of more patients, of the same weights and dataset.
 * Undefined if it is to be stored.
 */
export async function storedOfMore(
	run: string,
	{ task, patients, sample, made: { dataset, external, step } }: Evaluation,
): Promise<string | undefined> {
	if (!sample) return undefined;
	const other = external && dataset;
	// A file that cannot be read is replaced, as by every evaluation.
	const stored = await tryReadEvaluation(run, task, other);
	if (!stored || stored.made.step !== step || stored.made.dataset !== dataset) return undefined;
	// Without `sample`, the file holds all patients, or is older than `sample`. All patients include those of this
	// sample, so that as many of them or more can be evaluated.
	const [theirs, own] = stored.sample
		? [stored.sample.patients, sample.patients]
		: [stored.patients, patients];
	if (theirs <= own) return undefined;
	return `${evaluationFile(run, task, other)} holds the results of ${thousands(theirs)} patients, and these are of ${thousands(own)}; to replace them, evaluate all patients (\`patients: "all"\`)`;
}

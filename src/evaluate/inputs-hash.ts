import { createHash } from "node:crypto";
import type { Dataset } from "../data/cohort/index.js";
import { labelsOfTask, taskOfLabels } from "../data/cohort/label-rules.js";
import type { ParameterValues } from "../model/index.js";
import { type Trained, taskWeights } from "../model/train/index.js";
import type { EvaluateOptions } from "./options.js";

/**
 * SHA-256 of everything that determines the numbers of an evaluation: patients, labels, options, weights, and the
 * fine-tuned weights of the task. File paths do not count.
 */
export async function evaluationInputsHash(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
	trained?: Trained,
): Promise<string> {
	const { progress: _shown, oracle: _place, onPredictions: _ignored, ...rest } = options;
	const { baselines, home, threads: _speed, sample, ...others } = rest;
	const hash = createHash("sha256");
	hash.update(
		JSON.stringify({
			task,
			dataset: dataset.manifest.contentHash,
			patients: dataset.patients(options.split).length,
			// Evaluations on disk were hashed with the name `opponents`.
			options: Object.entries({
				...others,
				...(baselines !== undefined && { opponents: baselines }),
				...(home && { home: home.manifest.contentHash }),
				// The number of patients says which are the first.
				...(sample?.how === "random" && { sample }),
			}).sort(([a], [b]) => (a < b ? -1 : 1)),
			model: trained?.model.id,
			config: trained?.config,
		}),
	);
	// The content hash of a dataset does not cover labels.
	for (const whose of home ? [dataset, home] : [dataset])
		if (whose.manifest.labels.some((known) => taskOfLabels(known.task) === task))
			hash.update(JSON.stringify(await whose.labels(labelsOfTask(task))));
	const add = (weights: ParameterValues | undefined) => {
		for (const [name, { data }] of weights ?? [])
			hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
	};
	add(trained?.weights);
	// Task *next* uses the pre-trained weights only.
	if (trained && task !== "next") add(taskWeights(trained.folder, task)?.weights);
	return hash.digest("hex");
}

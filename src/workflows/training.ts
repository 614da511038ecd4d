import { InputError } from "../base/errors.js";
import { type Progress, silentProgress } from "../base/progress.js";
import type { Dataset } from "../cohort/index.js";
import { modelById } from "../models/index.js";
import { mostThreads } from "../runtime/machine.js";
import {
	type PretrainRequest,
	type PretrainSummary,
	type Run,
	trainEpochs,
} from "../train/index.js";
import { checkProvider } from "./check-provider.js";
import { versions } from "./versions.js";

/** What every workflow that takes long is given. */
export interface Monitoring {
	/** Shows how far it is; silent if left out. */
	readonly progress?: Progress | undefined;
	/** Training ends with the step under way, saved, when this is aborted; it can be resumed. */
	readonly signal?: AbortSignal | undefined;
}

/** The settings of a model that its dataset decides. */
export const datasetSettings: readonly string[] = ["vocab"];

/** What a model's settings take from its dataset. */
export const settingsOf = ({ vocabulary }: Dataset) => ({ vocab: vocabulary.size });

/** Refuses settings other than those of what is resumed. */
export function checkResumed(
	whose: "run" | "task",
	own: Readonly<Record<string, unknown>>,
	given: Readonly<Record<string, unknown>>,
	remedy: string,
): void {
	for (const [name, value] of Object.entries(given))
		if (own[name] !== value)
			throw new InputError(
				`\`resume\` goes on with the ${whose}'s own settings: ${name} is ${own[name]} there, ${value} here; leave it out, or ${remedy}`,
				{ field: name, value },
			);
}

interface Training
	extends Pick<PretrainRequest, "folder" | "dataset" | "resume">,
		Partial<Pick<PretrainRequest, "model" | "batchesOf" | "sealed">>,
		Monitoring {
	readonly run: PretrainRequest["run"] & Pick<Run, "threads" | "provider" | "versions">;
	/** The run's own if left out. */
	readonly threads?: number | undefined;
}

/** Trains in a run's folder, on the machine at hand. */
export async function train(training: Training): Promise<PretrainSummary> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const { run, progress = silentProgress, signal = new AbortController().signal } = training;
	const threads = Math.min(training.threads ?? run.threads, mostThreads());
	await checkProvider(run.provider);
	try {
		return await trainEpochs({
			...training,
			model: training.model ?? modelById(run.model),
			runtime: nodeRuntime({ threads, provider: run.provider }),
			progress,
			clock: () => performance.now(),
			signal,
			cautions: await cautions(run, threads),
		});
	} finally {
		progress.finish();
	}
}

/** Sums in another order, or kernels of another version, round differently. */
async function cautions(run: Training["run"], threads: number): Promise<string[]> {
	const { onnxruntime } = await versions();
	const changes: string[] = [];
	if (run.threads !== threads) changes.push(`${run.threads} → ${threads} threads`);
	if (run.versions.onnxruntime !== onnxruntime)
		changes.push(`onnxruntime ${run.versions.onnxruntime} → ${onnxruntime}`);
	if (changes.length === 0) return [];
	return [`note: ${changes.join(", ")}; the weights may differ in their last digits`];
}

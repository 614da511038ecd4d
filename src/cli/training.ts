import { progress } from "../base/progress.js";
import type { Dataset } from "../cohort/index.js";
import { modelById } from "../models/index.js";
import { type DatasetIdentity, type PretrainSummary, pretrain, type Run } from "../train/index.js";
import type { Io } from "./io.js";
import type { Provider } from "./option-values.js";
import { ownPackage } from "./version.js";

/** What a run remembers of its dataset. */
export function identityOf({ manifest }: Dataset): DatasetIdentity {
	const { schemaVersion, contentHash, splitSeed, timeUnit, counts } = manifest;
	return { schemaVersion, contentHash, splitSeed, unitDays: timeUnit.days, tokens: counts.tokens };
}

export async function versions(): Promise<Record<string, string>> {
	const { engineVersion } = await import("../runtime/node.js");
	return {
		trajgpt: ownPackage.version,
		node: process.versions.node,
		onnxruntime: engineVersion,
	};
}

interface Training {
	readonly folder: string;
	readonly run: Run;
	readonly dataset: Dataset;
	readonly resume: boolean;
	/** The run's own if left out. */
	readonly threads?: number;
	readonly provider?: Provider;
}

/** Trains with progress on standard error; Ctrl-C ends with the step under way, saved. */
export async function train(io: Io, training: Training): Promise<PretrainSummary> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const stop = new AbortController();
	const onInterrupt = () => {
		io.stderr.write("\nfinishing this step, then saving; Ctrl-C again ends at once\n");
		stop.abort();
	};
	process.once("SIGINT", onInterrupt);
	const shown = progress(io.stderr, { clock: () => performance.now() });
	try {
		return await pretrain({
			...training,
			model: modelById(training.run.model),
			runtime: nodeRuntime({
				threads: training.threads ?? training.run.threads,
				provider: training.provider ?? "cpu",
			}),
			progress: shown,
			clock: () => performance.now(),
			signal: stop.signal,
		});
	} finally {
		shown.finish();
		process.removeListener("SIGINT", onInterrupt);
	}
}

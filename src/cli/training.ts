import { progress } from "../base/progress.js";
import type { Dataset } from "../cohort/index.js";
import { type Model, modelById } from "../models/index.js";
import { mostThreads } from "../runtime/machine.js";
import { type PretrainRequest, type PretrainSummary, pretrain, type Run } from "../train/index.js";
import { checkProvider } from "./check-provider.js";
import type { Io } from "./io.js";
import { ownPackage } from "./version.js";

/** The settings of a model that its dataset decides. */
export const datasetSettings: readonly string[] = ["vocab"];

/** What a model's settings take from its dataset. */
export const settingsOf = ({ vocabulary }: Dataset) => ({
	vocab: vocabulary.size,
});

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
	readonly run: PretrainRequest["run"] & Pick<Run, "threads" | "provider" | "versions">;
	/** The run's own if left out, as are the batches. */
	readonly model?: Model;
	readonly batchesOf?: NonNullable<PretrainRequest["batchesOf"]>;
	readonly dataset: Dataset;
	readonly resume: boolean;
	readonly sealed?: readonly string[];
	/** The run's own if left out. */
	readonly threads?: number;
}

interface Outcome {
	readonly summary: PretrainSummary;
	/** 0, or what a process says that ended by a signal: 128 and its number. */
	readonly exitCode: number;
}

const stopSignals = [
	{ signal: "SIGINT", sent: "Ctrl-C", exitCode: 130 },
	{ signal: "SIGTERM", sent: "SIGTERM", exitCode: 143 },
] as const;

/** Trains with progress on standard error; Ctrl-C, or a scheduler's SIGTERM, ends with the step under way, saved. */
export async function train(io: Io, training: Training): Promise<Outcome> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const { run } = training;
	const threads = Math.min(training.threads ?? run.threads, mostThreads());
	await checkProvider(run.provider);
	const stop = new AbortController();
	let asked = 0;
	const listeners = stopSignals.map(({ signal, sent, exitCode }) => {
		const listener = () => {
			io.stderr.write(`\nfinishing this step, then saving; ${sent} again ends at once\n`);
			asked = exitCode;
			stop.abort();
		};
		process.once(signal, listener);
		return () => process.removeListener(signal, listener);
	});
	const shown = progress(io.stderr, { clock: () => performance.now() });
	try {
		const summary = await pretrain({
			...training,
			model: training.model ?? modelById(run.model),
			runtime: nodeRuntime({ threads, provider: run.provider }),
			progress: shown,
			clock: () => performance.now(),
			signal: stop.signal,
			cautions: await cautions(run, threads),
		});
		return { summary, exitCode: summary.interrupted ? asked : 0 };
	} finally {
		shown.finish();
		for (const remove of listeners) remove();
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

import { hostname } from "node:os";
import { allGathered, type Communicator, oneProcess } from "../../../base/communicator.js";
import { InputError } from "../../../base/errors.js";
import { versions } from "../../../base/files/versions.js";
import { formatCount, type Progress, silentProgress } from "../../../base/progress.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset } from "../../../data/cohort/index.js";
import { machineMemory, mostThreads } from "../../../engine/runtime/machine-limits.js";
import {
	type ComputeOptions,
	ownCores,
	withRuntime,
} from "../../../engine/runtime/open-runtime.js";
import { type Model, modelById, suggestedPreset } from "../../../model/index.js";
import {
	type PretrainRequest,
	type PretrainSummary,
	type Run,
	trainEpochs,
} from "../../../model/train/index.js";

/** Options of every long workflow. */
export interface Monitoring {
	/** Receives progress. Default: silent. */
	readonly progress?: Progress | undefined;
	/** When aborted, training finishes its step, saves and ends; it can be resumed. */
	readonly signal?: AbortSignal | undefined;
}

/** The model settings that the dataset determines. */
export const datasetSettings: readonly string[] = ["vocab", "hazards"];

export const settingsOf = ({ vocabulary }: Dataset) => ({ vocab: vocabulary.size });

/** Rejects settings that differ from those of the resumed run or task. */
export function checkResumed(
	whose: "run" | "task",
	stored: Readonly<Record<string, unknown>>,
	given: Readonly<Record<string, unknown>>,
	remedy: string,
): void {
	for (const [name, value] of Object.entries(given))
		if (stored[name] !== value)
			throw new InputError(
				`\`resume\` keeps the ${whose}'s own settings: ${name} is ${stored[name]} there, ${value} here; leave it out, or ${remedy}`,
				{ field: name, value },
			);
}

/** What was trained, with the losses of the best epoch as they are told. */
export function trainedText(
	trained: string,
	{ best, steps, epochs, parameters, interrupted }: PretrainSummary,
	lossText: (best: NonNullable<PretrainSummary["best"]>) => string,
	labels = "",
): string {
	const what = `${formatCount(parameters)} parameters, ${steps} steps, ${epochs} epochs${labels}`;
	return [
		`${trained}: ${what}\n`,
		best ? `best validation loss after epoch ${best.epoch}: ${lossText(best)} nats\n` : "",
		interrupted ? "interrupted and saved; continue with --resume\n" : "",
	].join("");
}

interface Training
	extends Pick<PretrainRequest, "folder" | "dataset" | "resume">,
		Partial<
			Pick<
				PretrainRequest,
				"model" | "view" | "batchesOf" | "sealed" | "hazards" | "priorsIn" | "codes" | "embeddings"
			>
		> {
	readonly run: PretrainRequest["run"] &
		Pick<Run, "threads" | "provider" | "precision" | "versions">;
	/** How to compute; by default as the run did. */
	readonly options: Monitoring & ComputeOptions;
}

export async function train({ options, ...training }: Training): Promise<PretrainSummary> {
	const { run } = training;
	const { progress = silentProgress, signal = new AbortController().signal } = options;
	const { devices, communicator = oneProcess } = options;
	// A run may have been begun by another number of processes.
	const usual = communicator.localSize > 1 ? ownCores(communicator) : run.threads;
	const threads = Math.min(options.threads ?? usual, mostThreads());
	const { provider = run.provider === "webgpu" ? "cpu" : run.provider } = options;
	const precision = options.precision ?? (provider === run.provider ? run.precision : undefined);
	for (const note of processNotes(communicator)) progress.note(note);
	try {
		const compute = { threads, provider, precision, devices, communicator };
		return await withRuntime(compute, "training", (runtime) =>
			trainEpochs({
				threads,
				...training,
				model: training.model ?? modelById(run.model),
				runtime,
				progress,
				communicator,
				clock: () => performance.now(),
				signal,
				cautions: cautions(run, { threads, provider, precision }),
			}),
		);
	} finally {
		progress.finish();
	}
}

/** Most processes that are listed one by one. */
const mostListed = 16;

/** Which processes share a training: a launcher may name the one that died by its id alone. */
function processNotes(communicator: Communicator): string[] {
	if (communicator.size === 1) return [];
	const all = allGathered(communicator, { host: hostname(), pid: process.pid });
	const listed = all.slice(0, mostListed).map(({ host, pid }, rank) => `${rank} ${host}:${pid}`);
	const hosts = new Set(all.map(({ host }) => host)).size;
	return [
		`${communicator.size} processes on ${hosts} ${hosts === 1 ? "machine" : "machines"} share each batch, with ${communicator.label}`,
		`rank machine:process ${listed.join(", ")}${all.length > mostListed ? " …" : ""}`,
		"if one of them dies, the launcher ends all; the same command with `resume` continues from the last checkpoint",
	];
}

/** Another engine, another version of it or another number of threads rounds differently. */
function cautions(
	run: Training["run"],
	{ threads, provider, precision }: ComputeOptions,
): string[] {
	const { onnxruntime } = versions();
	const changes: string[] = [];
	if (run.provider !== provider) changes.push(`provider ${run.provider} → ${provider}`);
	else if (run.precision !== precision)
		changes.push(`precision ${run.precision ?? "tf32"} → ${precision ?? "tf32"}`);
	if (run.threads !== threads) changes.push(`${run.threads} → ${threads} threads`);
	if (run.versions.onnxruntime !== onnxruntime)
		changes.push(`onnxruntime ${run.versions.onnxruntime} → ${onnxruntime}`);
	if (changes.length === 0) return [];
	return [`note: ${changes.join(", ")}; the weights may differ in their last digits`];
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** Minimum memory in bytes, by purpose. */
export type Needs = Readonly<Record<string, number>>;

/** Rejects work that does not fit in memory, before it begins. */
export function checkMemory(
	what: string,
	needs: Needs,
	remedy: string,
	available = machineMemory(),
): void {
	const total = Object.values(needs).reduce((sum, bytes) => sum + bytes, 0);
	if (total <= available) return;
	const parts = Object.entries(needs).map(([name, bytes]) => `${name} ${gibibytes(bytes)}`);
	throw new InputError(
		`${what} needs at least ${gibibytes(total)} of memory (${parts.join(", ")}), and this machine has ${gibibytes(available)}; ${remedy}`,
	);
}

const float = 4;
/** Weights and two moments, each before and after a step, and the gradient. */
const copiesOfWeights = 7;
/** Logits, log probabilities and their gradient. */
const copiesOfLogits = 3;
/** What a layer keeps for its gradient, in multiples of the residual stream's width. */
const widthsPerLayer = 8;

/** The minimum memory to train a model with batches of `slots` events, estimated from its settings. */
export function trainingNeeds(model: Model, config: unknown, slots: number): Needs {
	const {
		vocab = 0,
		dim = 0,
		layers = 1,
		ff = 0,
	} = config as Readonly<Partial<Record<"vocab" | "dim" | "layers" | "ff", number>>>;
	const weights = vocab * dim + layers * 2 * dim * ff;
	// A model of windows makes one prediction per window, not per slot.
	const perSlot = model.predictsEachEvent
		? copiesOfLogits * vocab + widthsPerLayer * layers * dim
		: 0;
	return {
		"weights and their moments": weights * copiesOfWeights * float,
		"one batch": slots * perSlot * float,
	};
}

/** Sizes between a preset and the suggested one from which a user is advised. */
const far = 2;

/** One line of advice if the model suggests a far smaller or larger preset for so many training patients. */
export function presetAdvice(
	model: Pick<Model, "suggestedFrom">,
	preset: string,
	trainPatients: number,
): string | undefined {
	const { suggestedFrom = {} } = model;
	const suggested = suggestedPreset(model, trainPatients);
	const sizes = Object.keys(suggestedFrom);
	if (suggested === undefined || !sizes.includes(preset)) return undefined;
	const steps = sizes.indexOf(suggested) - sizes.indexOf(preset);
	if (Math.abs(steps) < far) return undefined;
	const reason = steps > 0 ? "it predicted better on simulated patients" : "it trains faster";
	return `with ${thousands(trainPatients)} training patients, \`preset\` ${suggested} is suggested, not ${preset}: ${reason} (docs/models.md#which-size)`;
}

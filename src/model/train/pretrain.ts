import { existsSync } from "node:fs";
import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Progress } from "../../base/progress.js";
import {
	type BatchOptions,
	type Dataset,
	type DatasetView,
	type Split,
	type SplitBatches,
	splitBatches,
} from "../../data/cohort/index.js";
import type { ResidentValue, Runtime } from "../../engine/runtime/index.js";
import type { HazardSettings } from "../hazards/settings.js";
import { initialWeights, type Model, models, weightCount } from "../index.js";
import { checkSeal, type Seal, sealOf, writeCheckpoint } from "./checkpoint.js";
import { epochs, type Loop } from "./epochs.js";
import { openEventLog } from "./event-log.js";
import type { TrainOptions } from "./options.js";
import { preparedByThreads, preparedHere, validationPlan } from "./prepared-batches.js";
import {
	checkSameRun,
	lastCheckpoint,
	type Position,
	type Run,
	runFiles,
	type SavedState,
	sealedFiles,
	wasSaved,
} from "./run-folder.js";
import type { StoredTensor } from "./safetensors.js";
import { startingHazards } from "./starting-hazards.js";
import { adamWDefaults, initialState, startTogether } from "./step.js";
import { openTensorboard } from "./tensorboard.js";
import { checkDivisible, shareOf, type Trainer, trainer } from "./trainer.js";

export interface PretrainRequest {
	readonly folder: string;
	readonly run: Pick<Run, "model" | "config" | "options" | "dataset">;
	readonly model: Model;
	readonly dataset: Dataset;
	/** The part of the stored dataset that `dataset` is. */
	readonly view?: DatasetView | undefined;
	/** What to train on; all histories of the split if left out. */
	readonly batchesOf?: (split: "train" | "valid", plan: BatchOptions) => SplitBatches;
	readonly runtime: Runtime;
	/** The processes that share the training; rank 0 alone writes. Default: this one alone. */
	readonly communicator?: Communicator | undefined;
	/** Given, a new run begins with the crude rates of these. */
	readonly hazards?: HazardSettings | null | undefined;
	/** The number of each token's code, where some have several tokens: these start and learn together. */
	readonly codes?: Int32Array | undefined;
	readonly resume: boolean;
	/** Files whose content is bound to the weights; the run's own, where it has them, if left out. */
	readonly sealed?: readonly string[];
	readonly progress: Progress;
	readonly clock: () => number;
	/** Set when the user asks to stop: the step is finished, saved, and the run returns. */
	readonly signal: AbortSignal;
	/** Said when a run goes on. */
	readonly cautions?: readonly string[];
}

const stored = (values: ReadonlyMap<string, ResidentValue>): Map<string, StoredTensor> =>
	new Map(
		[...values].map(([name, { shape, data }]) => [
			name,
			{ dtype: "F32", shape, data: data as Float32Array },
		]),
	);

/** Refuses a dataset with nothing to learn from or nothing to check against. */
export function checkSplits(dataset: Dataset): void {
	for (const split of ["train", "valid"] as const satisfies Split[])
		if (dataset.patients(split).length === 0)
			throw new InputError(
				`${dataset.folder} has no patients in its ${split} split; prepare it with more patients or another \`seed\``,
			);
}

export const batchPlan = (options: TrainOptions): BatchOptions => ({
	maxLength: options.maxLength,
	cut: options.cut,
	size: { slots: options.batchSlots },
	seed: options.seed,
	passes: options.epochs,
	maxShapes: options.batchShapes,
});

/**
 * To compile a program for an accelerator takes about as long as 2,000 steps of 2,048 slots. Steps with more slots take
 * longer, but less than in proportion.
 */
const stepsPerProgram = ({ batchSlots }: TrainOptions) => 2000 * Math.sqrt(2048 / batchSlots);

/** The number of shapes with which an accelerator needs the least time, to compile programs and to run them. */
export function shapesForDevice(
	options: TrainOptions,
	batchesOf: (plan: BatchOptions) => SplitBatches,
): number {
	const times = Array.from({ length: options.batchShapes }, (_, more) => {
		const { plan } = batchesOf(batchPlan({ ...options, batchShapes: more + 1 }));
		return options.epochs * plan.count + plan.shapes.length * stepsPerProgram(options);
	});
	return times.indexOf(Math.min(...times)) + 1;
}

/** Trains until the last epoch, until validation stops improving, or until asked to stop. */
export async function trainEpochs(request: PretrainRequest) {
	const { folder, run, model, dataset, runtime, communicator = oneProcess } = request;
	const writes = communicator.rank === 0;
	if (communicator.size > 1) checkDivisible(model, run.config);
	const { options } = run;
	const files = runFiles(folder);
	const plan = batchPlan(options);
	checkSplits(dataset);
	const batchesOf = request.batchesOf ?? ((split, how) => splitBatches(dataset, split, how));
	const batches = batchesOf("train", plan);
	const checks = batchesOf("valid", validationPlan(plan));
	const { weights, start, tensors, seal } = await beginning(request);
	const summaryOf = (at: Position) => ({
		steps: at.step,
		epochs: at.epoch,
		parameters: weightCount(weights),
		best: at.best,
		padding: batches.plan.padding,
		interrupted: !at.finished,
	});
	if (start.finished) {
		request.progress.note(`${folder} is finished; there is nothing to go on with`);
		return summaryOf(start);
	}
	const learner = trainer(
		runtime,
		{
			model,
			config: run.config,
			objective: options,
			optimizer: { ...adamWDefaults, weightDecay: options.weightDecay },
			clip: options.clip,
			accumulate: options.accumulate > 1,
			codes: request.codes,
			communicator,
		},
		weights,
		tensors,
	);
	const prepared = preparedBatches(request, batches, checks);
	if (tensors) for (const caution of request.cautions ?? []) request.progress.note(caution);
	const log = writes
		? openEventLog(files.log, tensors ? { keep: wasSaved(start) } : {})
		: undefined;
	const board = writes
		? openTensorboard(files.tensorboard, {
				clock: Date.now,
				...(tensors && { resumeAt: start.step }),
			})
		: undefined;
	const saving = savingOf(request, learner, weights, seal);
	try {
		// Compilers of accelerators take seconds per program.
		if (runtime.queues) learner.compile(batches.plan.epoch(start.epoch), checks.plan.epoch(0));
		if (!tensors) await saving.save(start);
		const loop: Loop = {
			...request,
			options,
			batches,
			checks,
			prepared,
			learner,
			log,
			board,
			...saving,
			communicator,
			// Processes meet at every step.
			queue: runtime.queues && communicator.size === 1 ? 16 : 1,
			ahead: runtime.queues ? 30 : 0,
		};
		return summaryOf(await epochs(loop, start));
	} finally {
		await prepared.dispose();
		log?.close();
		board?.close();
		await learner.dispose();
	}
}

export type PretrainSummary = Awaited<ReturnType<typeof trainEpochs>>;

/** The start of a training: its initial weights, or the last checkpoint with its tensors. */
async function beginning(request: PretrainRequest) {
	const { folder, run, model, dataset, codes, communicator = oneProcess } = request;
	const files = runFiles(folder);
	const { seed } = run.options;
	const initial = initialWeights(model, run.config, seed);
	const drawn = codes ? startTogether(initial, codes) : initial;
	const checkpoint = request.resume ? lastCheckpoint(files) : undefined;
	const weights =
		request.hazards && !checkpoint
			? await startingHazards(drawn, request.hazards, dataset, seed)
			: drawn;
	const sealed = request.sealed ?? (existsSync(files.run) ? sealedFiles(folder) : []);
	if (checkpoint) {
		checkSameRun(checkpoint, run, initialState(weights), files.checkpoint);
		if (checkpoint.seal) checkSeal(files.checkpoint, checkpoint.seal, sealed);
	}
	const start: Position = (checkpoint?.state as SavedState | undefined)?.position ?? {
		step: 0,
		epoch: 0,
		stepInEpoch: 0,
		best: null,
		finished: false,
	};
	return {
		weights,
		start,
		tensors: checkpoint?.tensors as Map<string, ResidentValue> | undefined,
		seal: communicator.rank === 0 ? sealOf(sealed) : {},
	};
}

/** Batches as inputs of the model, prepared in threads beside an accelerator. */
function preparedBatches(
	{
		run,
		model,
		dataset,
		view = {},
		batchesOf,
		runtime,
		communicator = oneProcess,
	}: PretrainRequest,
	batches: SplitBatches,
	checks: SplitBatches,
) {
	const { options } = run;
	const { accumulate, seed } = options;
	const use = {
		config: run.config,
		objective: options,
		devices: runtime.devices ?? 1,
		share: shareOf(communicator),
	};
	// Threads need the built files, find models by name, and read only whole splits.
	const isBuilt = import.meta.url.endsWith(".js");
	if (!(runtime.queues && isBuilt && models.includes(model) && !batchesOf))
		return preparedHere({ batches, checks, accumulate, seed }, { ...use, model });
	return preparedByThreads({
		dataset: dataset.folder,
		view,
		events: dataset.sharedEvents,
		model: model.id,
		plan: batchPlan(options),
		accumulate,
		seed,
		...use,
	});
}

/** Writes checkpoints of a training, on rank 0 alone. */
function savingOf(
	{ folder, run, model, communicator = oneProcess }: PretrainRequest,
	learner: Pick<Trainer, "state">,
	weights: ReadonlyMap<string, unknown>,
	seal: Seal,
): Pick<Loop, "save" | "saveBest"> {
	const files = runFiles(folder);
	const writes = communicator.rank === 0;
	const write = (place: string, at: Position, tensors: ReadonlyMap<string, ResidentValue>) =>
		writeCheckpoint(place, {
			step: at.step,
			epoch: at.epoch,
			model: model.id,
			config: run.config,
			state: { position: at, options: run.options, dataset: run.dataset } satisfies SavedState,
			tensors: stored(tensors),
			seal,
		});
	return {
		save: async (at, state) => {
			if (writes) write(files.checkpoint, at, await (state ?? learner.state()));
		},
		saveBest: async (at) => {
			if (!writes) return;
			const state = await learner.state();
			write(files.best, at, new Map([...state].filter(([name]) => weights.has(name))));
		},
	};
}

import { existsSync } from "node:fs";
import { anyRank, type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { formatCount, type Progress } from "../../base/progress.js";
import {
	type Batch,
	type BatchOptions,
	type Dataset,
	type DatasetView,
	type Split,
	type SplitBatches,
	splitBatches,
} from "../../data/cohort/index.js";
import type { ResidentValue, Runtime } from "../../engine/runtime/index.js";
import { gainWeight } from "../hazards/head.js";
import type { HazardSettings } from "../hazards/settings.js";
import { initialWeights, type Model, models, weightCount } from "../index.js";
import { checkSeal, sealOf, writeCheckpoint } from "./checkpoint.js";
import { openEventLog } from "./event-log.js";
import { batchPlan, learningRateAt, type TrainOptions } from "./options.js";
import {
	batchesOfStep,
	preparedByThreads,
	preparedHere,
	readAhead,
	validationPlan,
} from "./prepared-batches.js";
import * as runs from "./run-folder.js";
import type { StoredTensor } from "./safetensors.js";
import { startingHazards } from "./starting-hazards.js";
import { adamWDefaults, initialState, startTogether, withEmbeddings } from "./step.js";
import { openTensorboard } from "./tensorboard.js";
import { checkDivisible, shareOf, trainer } from "./trainer.js";
import { type ByTerm, inTurn, mean, sum, validate } from "./validation.js";

export interface PretrainRequest {
	readonly folder: string;
	readonly run: Pick<runs.Run, "model" | "config" | "options" | "dataset">;
	readonly model: Model;
	readonly dataset: Dataset;
	/** The part of the stored dataset that `dataset` is. */
	readonly view?: DatasetView | undefined;
	/** What to train on; all histories of the split if left out. */
	readonly batchesOf?: (split: "train" | "valid", plan: BatchOptions) => SplitBatches;
	readonly runtime: Runtime;
	/** The processes that share the training; rank 0 alone writes. Default: this one alone. */
	readonly communicator?: Communicator | undefined;
	/** Given, a new run begins with regressions for these. */
	readonly hazards?: HazardSettings | null | undefined;
	/** A folder where these are kept for other runs on the same dataset. Default: none are kept. */
	readonly priorsIn?: string | undefined;
	/** Threads that fit these regressions; 1 by default. */
	readonly threads?: number | undefined;
	/** The number of each token's code, where some have several tokens: these start and learn together. */
	readonly codes?: Int32Array | undefined;
	/** The embeddings that a new run begins with, for all tokens: those of codes are used. Default: they are drawn. */
	readonly embeddings?: Float32Array | undefined;
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

/** Refuses a dataset with nothing to learn from or nothing to check against. */
export function checkSplits(dataset: Dataset): void {
	for (const split of ["train", "valid"] as const satisfies Split[])
		if (dataset.patients(split).length === 0)
			throw new InputError(
				`${dataset.folder} has no patients in its ${split} split; prepare it with more patients or another \`seed\``,
			);
}

/** Trains until the last epoch, until validation stops improving, or until asked to stop. */
export async function trainEpochs(request: PretrainRequest) {
	const { folder, run, model, dataset, runtime, communicator = oneProcess } = request;
	if (communicator.size > 1) checkDivisible(model, run.config);
	const plan = batchPlan(run.options);
	checkSplits(dataset);
	const batchesOf = request.batchesOf ?? ((split, how) => splitBatches(dataset, split, how));
	const batches = batchesOf("train", plan);
	const checks = batchesOf("valid", validationPlan(plan));
	const begun = await beginning(request);
	let at = begun.start;
	if (at.finished) request.progress.note(`${folder} is finished; there is nothing to go on with`);
	else {
		const training = openTraining(request, batches, checks, begun);
		try {
			// Compilers of accelerators take seconds per program.
			if (runtime.queues)
				training.learner.compile(batches.plan.epoch(at.epoch), checks.plan.epoch(0));
			if (!begun.tensors) await training.save(at);
			at = await epochs(training, at);
		} finally {
			await training.close();
		}
	}
	return {
		steps: at.step,
		epochs: at.epoch,
		parameters: weightCount(begun.weights),
		best: at.best,
		padding: batches.plan.padding,
		interrupted: !at.finished,
	};
}

export type PretrainSummary = Awaited<ReturnType<typeof trainEpochs>>;

/** The start of a training: its initial weights, or the last checkpoint with its tensors. */
async function beginning(request: PretrainRequest) {
	const { folder, run, model, dataset, codes, priorsIn, communicator = oneProcess } = request;
	const { hazards, view } = request;
	const files = runs.runFiles(folder);
	const { seed } = run.options;
	const initial = initialWeights(model, run.config, seed);
	const together = codes ? startTogether(initial, codes) : initial;
	const drawn = request.embeddings ? withEmbeddings(together, request.embeddings) : together;
	const checkpoint = request.resume ? runs.lastCheckpoint(files) : undefined;
	if (run.options.embeddings && !request.embeddings && !checkpoint)
		throw new InputError(
			`${folder} ended before its first checkpoint, which would hold the embeddings that it read; remove it and begin again, with \`embeddingsFrom\``,
		);
	const weights =
		hazards && !checkpoint
			? await startingHazards(drawn, hazards, dataset, seed, {
					threads: request.threads,
					progress: request.progress,
					kept: priorsIn
						? {
								folder: priorsIn,
								of: { regression: "lasso 1", hazards, view, dataset: run.dataset },
							}
						: undefined,
				})
			: drawn;
	const sealed = request.sealed ?? (existsSync(files.run) ? runs.sealedFiles(folder) : []);
	if (checkpoint) {
		runs.checkSameRun(checkpoint, run, initialState(weights), files.checkpoint);
		if (checkpoint.seal) checkSeal(files.checkpoint, checkpoint.seal, sealed);
	}
	const start: runs.Position = (checkpoint?.state as runs.SavedState | undefined)?.position ?? {
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

/** All that a training works with, besides what was requested. */
function openTraining(
	request: PretrainRequest,
	batches: SplitBatches,
	checks: SplitBatches,
	{ start, weights, tensors, seal }: Awaited<ReturnType<typeof beginning>>,
) {
	const { folder, run, model, dataset, runtime, progress, communicator = oneProcess } = request;
	const { options, config } = run;
	const { accumulate, seed } = options;
	const files = runs.runFiles(folder);
	const writes = communicator.rank === 0;
	const learner = trainer(
		runtime,
		{
			model,
			config,
			objective: options,
			optimizer: { ...adamWDefaults, weightDecay: options.weightDecay },
			clip: options.clip,
			accumulate: accumulate > 1,
			codes: request.codes,
			freezesEmbeddings: options.embeddings === "frozen",
			communicator,
		},
		weights,
		tensors,
	);
	const use = {
		config,
		objective: options,
		devices: runtime.devices ?? 1,
		share: shareOf(communicator),
	};
	// Threads beside an accelerator need the built files, find models by name, and read only whole splits.
	const isBuilt = import.meta.url.endsWith(".js");
	const prepared =
		runtime.queues && isBuilt && models.includes(model) && !request.batchesOf
			? preparedByThreads({
					dataset: dataset.folder,
					view: request.view ?? {},
					events: dataset.sharedEvents,
					model: model.id,
					plan: batchPlan(options),
					accumulate,
					seed,
					...use,
				})
			: preparedHere({ batches, checks, accumulate, seed }, { ...use, model });
	if (tensors) for (const caution of request.cautions ?? []) progress.note(caution);
	const log = writes
		? openEventLog(files.log, tensors ? { keep: runs.wasSaved(start) } : {})
		: undefined;
	const board = writes
		? openTensorboard(files.tensorboard, {
				clock: Date.now,
				...(tensors && { resumeAt: start.step }),
			})
		: undefined;
	const write = (place: string, at: runs.Position, values: ReadonlyMap<string, ResidentValue>) =>
		writeCheckpoint(place, {
			step: at.step,
			epoch: at.epoch,
			model: model.id,
			config,
			state: { position: at, options, dataset: run.dataset } satisfies runs.SavedState,
			tensors: new Map(
				[...values].map(([name, { shape, data }]): [string, StoredTensor] => [
					name,
					{ dtype: "F32", shape, data: data as Float32Array },
				]),
			),
			seal,
		});
	return {
		...request,
		options,
		accumulate,
		batches,
		checks,
		prepared,
		learner,
		/** The processes that share the steps. */
		communicator,
		/** Most steps that are started before the first of them is waited for: processes meet at every step. */
		queue: runtime.queues && communicator.size === 1 ? 16 : 1,
		/** Most batches that are prepared before they are needed. */
		ahead: runtime.queues ? 30 : 0,
		/** Logs values of a step; rank 0 alone does, as it alone saves. */
		record(step: number, epoch: number, kind: "train" | "valid", values: ByTerm): void {
			log?.append({ step, epoch, ...(kind === "train" ? values : { valid: values }) });
			const named = Object.entries(values).map(([name, value]) => [`${kind}/${name}`, value]);
			board?.scalars(step, Object.fromEntries(named));
		},
		async save(at: runs.Position, state?: ReturnType<typeof learner.state>): Promise<void> {
			if (writes) write(files.checkpoint, at, await (state ?? learner.state()));
		},
		/** Saves the weights, hazards with these gains of the network. */
		async saveBest(at: runs.Position, gains: Float32Array | undefined): Promise<void> {
			if (!writes) return;
			const state = await learner.state();
			const best = new Map([...state].filter(([name]) => weights.has(name)));
			if (gains) best.set(gainWeight, { shape: [gains.length], data: gains });
			write(files.best, at, best);
		},
		async close(): Promise<void> {
			await prepared.dispose();
			log?.close();
			board?.close();
			await learner.dispose();
		},
	};
}

type Training = ReturnType<typeof openTraining>;

/** The error of a loss that is not a number, and what to do about it. */
async function notFinite(
	folder: string,
	what: string,
	{ step, epoch }: Pick<runs.Position, "step" | "epoch">,
	values: ByTerm,
	inputs: readonly Promise<Batch>[],
): Promise<Error> {
	const listed = Object.entries(values).map(([name, value]) => `${name} ${value}`);
	return new Error(
		`${what} is not finite at step ${step}, epoch ${epoch + 1} (${listed.join(", ")}); ` +
			`the checkpoint in ${folder} is the last good one: ` +
			((await Promise.all(inputs)).every(hasPlausibleTimes)
				? "start a new run with a lower `learningRate`, or a lower `clip`"
				: "the dataset holds a time that is not a number, or too large for one of 32 bits; " +
					"prepare it again, which names the record"),
	);
}

/** No record is so far from the origin of its axis, in any unit of time. */
const farthestTime = 1e30;

const hasPlausibleTimes = ({ times }: Batch): boolean =>
	times.every((time) => Math.abs(time) <= farthestTime);

/** Trains from a position until the last epoch, until validation stops improving, or until asked to stop. */
async function epochs(training: Training, start: runs.Position): Promise<runs.Position> {
	const { folder, options, batches, prepared, learner, progress, clock } = training;
	const { signal, queue, communicator } = training;
	const stepsPerEpoch = Math.ceil(batches.plan.count / options.accumulate);
	const total = options.epochs * stepsPerEpoch;
	const show = ({ step, epoch }: runs.Position, fields: readonly [string, string][] = []) =>
		progress.update({
			label: `epoch ${Math.min(epoch + 1, options.epochs)}/${options.epochs}  step`,
			done: step,
			total,
			fields,
		});
	let at = start;
	/** A running mean that follows slowly, for a number people watch. */
	let shownLoss: number | undefined;
	show(at);
	const unfinished = inTurn();
	while (!at.finished) {
		const { epoch, step: stepsBefore, stepInEpoch: first } = at;
		// Losses of several steps may arrive at once: the speed is that of as many steps as the queue holds.
		const ended = [{ time: clock(), events: 0 }];
		const steps = readAhead(
			first,
			options.epochs > 0 ? stepsPerEpoch : 0,
			training.ahead,
			(stepInEpoch) =>
				prepared.ofStep({ epoch, stepInEpoch, step: stepsBefore + 1 + stepInEpoch - first }),
		);
		for await (const parts of steps) {
			if (anyRank(communicator, signal.aborted)) {
				await unfinished.downTo(0);
				await training.save(at);
				return at;
			}
			const { stepInEpoch } = at;
			const step = at.step + 1;
			const learningRate = learningRateAt(step, total, options);
			const started = await learner.start(parts, { step, learningRate });
			const events = parts.reduce((n, part) => n + part.events, 0);
			const after = { ...at, step, stepInEpoch: stepInEpoch + 1 };
			at = after;
			unfinished.push(async () => {
				const { finite, totals, targets, gradientNorm } = await started.result();
				const values = { ...mean(totals, targets), gradientNorm };
				if (!finite)
					throw await notFinite(
						folder,
						"the loss or its gradient",
						after,
						values,
						batchesOfStep(training, stepInEpoch).map((i) => batches.read(epoch, i)),
					);
				const seconds = Math.max(1e-3, (clock() - ended[0].time) / 1000); // a clock may stand still or be set back
				const tokensPerSecond =
					(events + ended.slice(1).reduce((n, step) => n + step.events, 0)) / seconds;
				training.record(step, epoch + 1, "train", { ...values, learningRate, tokensPerSecond });
				ended.push({ time: clock(), events });
				if (ended.length > queue) ended.shift();
				const loss = sum(mean(totals, targets));
				shownLoss = shownLoss === undefined ? loss : 0.95 * shownLoss + 0.05 * loss;
				show(after, [
					["loss", shownLoss.toFixed(4)],
					["tokens/s", formatCount(tokensPerSecond)],
				]);
			});
			const saves = communicator.rank === 0 && step % options.checkpointEvery === 0;
			if (saves && at.stepInEpoch < stepsPerEpoch) {
				const state = learner.state();
				state.catch(() => {}); // reported when it is its turn
				unfinished.push(() => training.save(after, state));
			}
			await unfinished.downTo(queue - 1);
		}
		await unfinished.downTo(0);
		const validated = await validate(training);
		if (!validated) {
			await training.save(at);
			return at;
		}
		const { losses, gains } = validated;
		at = afterEpoch(at, losses, options);
		const isBest = at.best?.epoch === at.epoch;
		if (!Number.isFinite(sum(losses))) {
			const { checks } = training;
			const inputs = Array.from({ length: checks.plan.count }, (_, i) => checks.read(0, i));
			throw await notFinite(folder, "the validation loss", { ...at, epoch }, losses, inputs);
		}
		training.record(at.step, at.epoch, "valid", losses);
		if (isBest) await training.saveBest(at, gains);
		await training.save(at);
		const terms = Object.entries(losses).map(([term, nats]) => `${term} ${nats.toFixed(4)} nats`);
		progress.note(
			`epoch ${at.epoch}: validation ${terms.join(", ")}${isBest ? ", the best so far" : ""}`,
		);
		if (at.finished && at.epoch < options.epochs)
			progress.note(`stopping: no better validation loss in ${options.patience} epochs`);
	}
	return at;
}

/** The position after an epoch with these losses in validation. */
function afterEpoch(
	{ step, epoch: before, best: known }: runs.Position,
	losses: ByTerm,
	{ epochs, patience }: TrainOptions,
): runs.Position {
	const epoch = Math.min(before + 1, epochs);
	const all = sum(losses);
	// First records are what people ask for; what else is learned may go on improving when these begin to be overfitted.
	const loss = losses.onset ?? all;
	const isBest =
		known === null || loss < known.loss || (loss === known.loss && all < sum(known.losses));
	const best = isBest ? { epoch, step, loss, losses } : known;
	return {
		step,
		epoch,
		stepInEpoch: 0,
		best,
		finished: epoch - best.epoch >= patience || epoch >= epochs,
	};
}

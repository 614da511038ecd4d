import { existsSync } from "node:fs";
import { InputError } from "../base/errors.js";
import { formatCount, type Progress } from "../base/progress.js";
import {
	type Batch,
	type BatchOptions,
	type Dataset,
	type Split,
	type SplitBatches,
	splitBatches,
} from "../cohort/index.js";
import type { HazardSettings } from "../models/hazards/settings.js";
import { initialWeights, type Model, models, weightCount } from "../models/index.js";
import type { ResidentValue, Runtime } from "../runtime/index.js";
import { adamWDefaults } from "./adamw.js";
import { type Checkpoint, hasCheckpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.js";
import { type SavedSettings, settingsThatDiffer, tensorMismatches } from "./compare-settings.js";
import { type EventLog, type LogEvent, openEventLog, readEventLog } from "./event-log.js";
import type { TrainOptions } from "./options.js";
import { addInto } from "./prepare-batch.js";
import {
	batchesOfStep,
	type PreparedBatches,
	preparedByThreads,
	preparedHere,
	readAhead,
	validationPlan,
} from "./prepared-batches.js";
import { type Run, runFiles, sealedFiles } from "./run-folder.js";
import type { StoredTensor } from "./safetensors.js";
import { learningRateAt } from "./schedule.js";
import { checkSeal, sealOf } from "./seal.js";
import { startTogether } from "./shared-codes.js";
import { startingHazards } from "./starting-hazards.js";
import { initialState } from "./step.js";
import { openTensorboard, type ScalarWriter } from "./tensorboard.js";
import { type Started, type StepResult, type Trainer, trainer } from "./trainer.js";

export interface PretrainRequest {
	readonly folder: string;
	readonly run: Pick<Run, "model" | "config" | "options" | "dataset">;
	readonly model: Model;
	readonly dataset: Dataset;
	/** What to train on; all histories of the split if left out. */
	readonly batchesOf?: (split: "train" | "valid", plan: BatchOptions) => SplitBatches;
	readonly runtime: Runtime;
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

/** Where a run stands between two steps; plain JSON. */
interface Position {
	readonly step: number;
	readonly epoch: number;
	readonly stepInEpoch: number;
	readonly best: Best | null;
	readonly finished: boolean;
}

/** What a checkpoint holds beside tensors: where it stands, and what run it belongs to. */
interface SavedState extends SavedSettings {
	readonly position: Position;
}

interface Best {
	readonly epoch: number;
	readonly step: number;
	readonly loss: number;
	readonly losses: Readonly<Record<string, number>>;
}

export interface PretrainSummary {
	readonly steps: number;
	readonly epochs: number;
	readonly parameters: number;
	readonly best: Best | null;
	readonly padding: number;
	readonly interrupted: boolean;
}

const stored = (values: ReadonlyMap<string, ResidentValue>): Map<string, StoredTensor> =>
	new Map(
		[...values].map(([name, { shape, data }]) => [
			name,
			{ dtype: "F32", shape, data: data as Float32Array },
		]),
	);

const mean = (
	totals: Readonly<Record<string, number>>,
	targets: Readonly<Record<string, number>>,
) =>
	Object.fromEntries(
		Object.entries(totals).map(([term, total]) => [term, total / Math.max(1, targets[term] ?? 0)]),
	);

const sum = (values: Readonly<Record<string, number>>) =>
	Object.values(values).reduce((a, b) => a + b, 0);

/** Refuses a dataset with nothing to learn from or nothing to check against. */
export function checkSplits(dataset: Dataset): void {
	for (const split of ["train", "valid"] as const satisfies Split[])
		if (dataset.patients(split).length === 0)
			throw new InputError(
				`${dataset.folder} has no patients in its ${split} split; prepare it with more patients or another \`seed\``,
			);
}

const batchPlan = (options: TrainOptions): BatchOptions => ({
	...{ maxLength: options.maxLength, cut: options.cut, size: { slots: options.batchSlots } },
	...{ seed: options.seed, passes: options.epochs, maxShapes: options.batchShapes },
});

/** To compile a program for an accelerator takes about as long as this many steps. */
const stepsPerProgram = 2000;

/** The number of shapes with which an accelerator needs the least time, to compile programs and to run them. */
export function shapesForDevice(
	options: TrainOptions,
	batchesOf: (plan: BatchOptions) => SplitBatches,
): number {
	const times = Array.from({ length: options.batchShapes }, (_, more) => {
		const { plan } = batchesOf(batchPlan({ ...options, batchShapes: more + 1 }));
		return options.epochs * plan.count + plan.shapes.length * stepsPerProgram;
	});
	return times.indexOf(Math.min(...times)) + 1;
}

/** Trains until the last epoch, until validation stops improving, or until asked to stop. */
export async function trainEpochs(request: PretrainRequest): Promise<PretrainSummary> {
	const { folder, run, model, dataset, runtime } = request;
	const { options } = run;
	const files = runFiles(folder);
	const plan = batchPlan(options);
	checkSplits(dataset);
	const batchesOf = request.batchesOf ?? ((split, how) => splitBatches(dataset, split, how));
	const batches = batchesOf("train", plan);
	const checks = batchesOf("valid", validationPlan(plan));
	const { codes } = request;
	const initial = initialWeights(model, run.config, options.seed);
	const drawn = codes ? startTogether(initial, codes) : initial;
	const checkpoint = request.resume ? lastCheckpoint(files) : undefined;
	const weights =
		request.hazards && !checkpoint
			? await startingHazards(drawn, request.hazards, dataset, options.seed)
			: drawn;
	const sealed = request.sealed ?? (existsSync(files.run) ? sealedFiles(folder) : []);
	if (checkpoint) {
		checkSameRun(checkpoint, run, initialState(weights), files.checkpoint);
		if (checkpoint.seal) checkSeal(files.checkpoint, checkpoint.seal, sealed, folder);
	}
	const seal = sealOf(sealed);
	const start: Position = (checkpoint?.state as SavedState | undefined)?.position ?? {
		step: 0,
		epoch: 0,
		stepInEpoch: 0,
		best: null,
		finished: false,
	};
	const summaryOf = (at: Position): PretrainSummary => ({
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
			codes,
		},
		weights,
		checkpoint?.tensors as Map<string, ResidentValue> | undefined,
	);
	const write = (place: string, at: Position, tensors: ReadonlyMap<string, ResidentValue>) =>
		writeCheckpoint(place, {
			step: at.step,
			epoch: at.epoch,
			model: model.id,
			config: run.config,
			state: { position: at, options, dataset: run.dataset } satisfies SavedState,
			tensors: stored(tensors),
			seal,
		});
	const save = async (at: Position, state = learner.state()) =>
		write(files.checkpoint, at, await state);
	const saveBest = async (at: Position) => {
		const state = await learner.state();
		write(files.best, at, new Map([...state].filter(([name]) => weights.has(name))));
	};
	const { accumulate, seed } = options;
	const use = { config: run.config, objective: options, devices: runtime.devices ?? 1 };
	// Threads need the built files, find models by name, and read only whole splits.
	const isBuilt = import.meta.url.endsWith(".js");
	const inThreads = runtime.queues && isBuilt && models.includes(model) && !request.batchesOf;
	const prepared = inThreads
		? preparedByThreads({
				dataset: dataset.folder,
				model: model.id,
				plan,
				accumulate,
				seed,
				...use,
			})
		: preparedHere({ batches, checks, accumulate, seed }, { ...use, model });
	if (checkpoint) for (const caution of request.cautions ?? []) request.progress.note(caution);
	const log = openEventLog(files.log, checkpoint ? { keep: wasSaved(start) } : {});
	const board = openTensorboard(files.tensorboard, {
		clock: Date.now,
		...(checkpoint && { resumeAt: start.step }),
	});
	try {
		// Compilers of accelerators take seconds per program.
		if (runtime.queues) learner.compile(batches.plan.epoch(start.epoch), checks.plan.epoch(0));
		if (!checkpoint) await save(start);
		const loop: Loop = {
			...{ ...request, options, batches, checks, prepared, learner, log, board, save, saveBest },
			queue: runtime.queues ? 16 : 1,
		};
		return summaryOf(await epochs(loop, start));
	} finally {
		await prepared.dispose();
		log.close();
		board.close();
		await learner.dispose();
	}
}

interface Loop extends PretrainRequest {
	readonly options: TrainOptions;
	readonly batches: SplitBatches;
	readonly checks: SplitBatches;
	readonly prepared: PreparedBatches;
	readonly learner: Trainer;
	readonly log: EventLog;
	readonly board: ScalarWriter;
	/** Most steps that are started before the first of them is waited for. */
	readonly queue: number;
	save(at: Position, state?: ReturnType<Trainer["state"]>): Promise<void>;
	saveBest(at: Position): Promise<void>;
}

/** Things to do in order, once the device has come so far. */
function inTurn() {
	const waiting: (() => Promise<void>)[] = [];
	return {
		push: (finish: () => Promise<void>) => waiting.push(finish),
		/** Waits until at most so many are left. */
		async downTo(count: number) {
			while (waiting.length > count) await waiting.shift()?.();
		},
	};
}

async function epochs(loop: Loop, start: Position): Promise<Position> {
	const { options, batches, prepared, learner, progress, signal, queue } = loop;
	const stepsPerEpoch = Math.ceil(batches.plan.count / options.accumulate);
	let at = start;
	const total = options.epochs * stepsPerEpoch;
	const rate = smoothed();
	const show = ({ step, epoch }: Position, loss?: number, speed?: number) =>
		progress.update({
			label: `epoch ${Math.min(epoch + 1, options.epochs)}/${options.epochs}  step`,
			done: step,
			total,
			fields: [
				...(loss === undefined ? [] : [["loss", loss.toFixed(4)] as [string, string]]),
				...(speed === undefined ? [] : [["tokens/s", formatCount(speed)] as [string, string]]),
			],
		});
	show(at);
	const unfinished = inTurn();
	while (!at.finished) {
		const { epoch, step, stepInEpoch } = at;
		// Losses of several steps may arrive at once: the speed is that of as many steps as the queue holds.
		const finished = [{ at: loop.clock(), events: 0 }];
		const steps = readAhead(stepInEpoch, stepsPerEpoch, 2 * (queue - 1), (i) =>
			prepared.ofStep({ epoch, stepInEpoch: i, step: step + 1 + i - stepInEpoch }),
		);
		for await (const parts of steps) {
			if (signal.aborted) {
				await unfinished.downTo(0);
				await loop.save(at);
				return at;
			}
			const before = at;
			const learningRate = learningRateAt(at.step + 1, total, options);
			const started = await learner.start(parts, { step: at.step + 1, learningRate });
			const events = parts.reduce((n, part) => n + part.events, 0);
			at = { ...at, step: at.step + 1, stepInEpoch: at.stepInEpoch + 1 };
			const after = at;
			unfinished.push(async () => {
				const [first, ...others] = finished as [(typeof finished)[0], ...typeof finished];
				const { loss, tokensPerSecond } = await finishStep(loop, before, {
					...{ started, learningRate, since: first.at },
					events: others.reduce((n, step) => n + step.events, events),
				});
				finished.push({ at: loop.clock(), events });
				if (finished.length > queue) finished.shift();
				show(after, rate(loss), tokensPerSecond);
			});
			if (at.step % options.checkpointEvery === 0 && at.stepInEpoch < stepsPerEpoch) {
				const state = learner.state();
				state.catch(() => {}); // reported when it is its turn
				unfinished.push(() => loop.save(after, state));
			}
			await unfinished.downTo(queue - 1);
		}
		await unfinished.downTo(0);
		const losses = await validate(loop);
		if (!losses) {
			await loop.save(at);
			return at;
		}
		const loss = sum(losses);
		if (!Number.isFinite(loss))
			throw notFinite(loop, "the validation loss", at, losses, await allOf(loop.checks));
		const better = at.best === null || loss < at.best.loss;
		at = { ...at, epoch: epoch + 1, stepInEpoch: 0 };
		loop.log.append({ step: at.step, epoch: at.epoch, valid: losses });
		loop.board.scalars(at.step, prefixed("valid", losses));
		const best = better ? { epoch: at.epoch, step: at.step, loss, losses } : at.best;
		const stale = at.epoch - (best?.epoch ?? at.epoch) >= options.patience;
		at = { ...at, best, finished: stale || at.epoch >= options.epochs };
		if (better) await loop.saveBest(at);
		await loop.save(at);
		const terms = Object.entries(losses).map(([term, nats]) => `${term} ${nats.toFixed(4)} nats`);
		progress.note(
			`epoch ${at.epoch}: validation ${terms.join(", ")}${better ? ", the best so far" : ""}`,
		);
		if (stale && at.epoch < options.epochs)
			progress.note(`stopping: no better validation loss in ${options.patience} epochs`);
	}
	return at;
}

interface StartedStep {
	readonly started: Started<StepResult>;
	readonly learningRate: number;
	/** Events without padding, of this step and those before it that ended after `since`. */
	readonly events: number;
	readonly since: number;
}

/** Waits for the step that was started at a position, and logs it. */
async function finishStep(
	loop: Loop,
	before: Position,
	{ started, learningRate, events, since }: StartedStep,
) {
	const step = before.step + 1;
	const result = await started.result();
	const losses = mean(result.totals, result.targets);
	const { gradientNorm } = result;
	if (!result.finite)
		throw notFinite(
			...([loop, "the loss or its gradient", { ...before, step }] as const),
			...([{ ...losses, gradientNorm }, await eventsOf(loop, before)] as const),
		);
	const seconds = Math.max(1e-3, (loop.clock() - since) / 1000); // a clock may stand still or be set back
	const tokensPerSecond = events / seconds;
	const values = { ...losses, gradientNorm, learningRate, tokensPerSecond };
	loop.log.append({ step, epoch: before.epoch + 1, ...values });
	loop.board.scalars(step, prefixed("train", values));
	return { loss: sum(losses), tokensPerSecond };
}

/** The batches of the step after a position. */
const eventsOf = (loop: Loop, { epoch, stepInEpoch }: Position): Promise<Batch[]> =>
	Promise.all(
		batchesOfStep({ ...loop, ...loop.options }, stepInEpoch).map((i) =>
			loop.batches.read(epoch, i),
		),
	);

const listed = (values: Readonly<Record<string, number>>) =>
	Object.entries(values)
		.map(([name, value]) => `${name} ${value}`)
		.join(", ");

const notFinite = (
	{ folder }: Loop,
	what: string,
	{ step, epoch }: Position,
	values: Readonly<Record<string, number>>,
	inputs: readonly Batch[],
): Error =>
	new Error(
		`${what} is not finite at step ${step}, epoch ${epoch + 1} (${listed(values)}); ` +
			`the checkpoint in ${folder} is the last good one: ` +
			(inputs.every(hasPlausibleTimes)
				? "start a new run with a lower `learningRate`, or a lower `clip`"
				: "the dataset holds a time that is not a number, or too large for one of 32 bits; " +
					"prepare it again, which names the record"),
	);

/** No record is so far from the origin of its axis, in any unit of time. */
const farthestTime = 1e30;

const hasPlausibleTimes = ({ times }: Batch): boolean =>
	times.every((time) => Math.abs(time) <= farthestTime);

async function allOf(batches: Loop["checks"]): Promise<Batch[]> {
	const all: Batch[] = [];
	for (let i = 0; i < batches.plan.count; i++) all.push(await batches.read(0, i));
	return all;
}

/** Mean losses over the validation patients, with the same draws every time; undefined when asked to stop. */
async function validate(loop: Loop): Promise<Record<string, number> | undefined> {
	const { checks, prepared, learner, signal, queue } = loop;
	const totals: Record<string, number> = {};
	const targets: Record<string, number> = {};
	const unfinished = inTurn();
	const all = readAhead(0, checks.plan.count, 2 * (queue - 1), prepared.ofValidation);
	for await (const batch of all) {
		if (signal.aborted) return undefined;
		const started = await learner.startLosses(batch);
		unfinished.push(async () => {
			const losses = await started.result();
			addInto(totals, losses.totals);
			addInto(targets, losses.targets);
		});
		await unfinished.downTo(queue - 1);
	}
	await unfinished.downTo(0);
	return mean(totals, targets);
}

/**
 * Whether an event of the log came before the checkpoint at a position. One written when validation
 * was cut short has the last step of its epoch, but not the validation that follows it.
 */
const wasSaved =
	(at: Position) =>
	({ step, epoch, valid }: LogEvent): boolean =>
		step <= at.step && (valid === undefined || (epoch as number) <= at.epoch);

const prefixed = (prefix: string, values: Readonly<Record<string, number>>) =>
	Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}/${name}`, value]));

/** A running mean that follows slowly, for a number people watch. */
function smoothed(): (value: number) => number {
	let level: number | undefined;
	return (value) => {
		level = level === undefined ? value : 0.95 * level + 0.05 * value;
		return level;
	};
}

/** Whether the run, or the fine-tuning, in a folder has come to its end. */
export function isTrained(folder: string): boolean {
	const { checkpoint } = runFiles(folder);
	if (!hasCheckpoint(checkpoint)) return false;
	return (readCheckpoint(checkpoint).state as SavedState).position.finished;
}

/** Steps that a run has behind it and would not do again. */
export function stepsDone(folder: string): number {
	const { checkpoint } = runFiles(folder);
	return hasCheckpoint(checkpoint) ? readCheckpoint(checkpoint).step : 0;
}

/** The checkpoint to go on from; none if the run died before its first, and so before its first step. */
function lastCheckpoint(files: ReturnType<typeof runFiles>): Checkpoint | undefined {
	const logged = existsSync(files.log) && readEventLog(files.log).length > 0;
	return hasCheckpoint(files.checkpoint) || logged ? readCheckpoint(files.checkpoint) : undefined;
}

/** Refuses the checkpoint of another run, and tensors of other sizes; nothing is overwritten. */
function checkSameRun(
	checkpoint: Checkpoint,
	run: PretrainRequest["run"],
	expected: ReadonlyMap<string, { readonly shape: readonly number[] }>,
	where: string,
): void {
	const found = [
		...settingsThatDiffer(checkpoint, run),
		...tensorMismatches(checkpoint.tensors, expected).slice(0, 1),
	];
	if (found.length > 0)
		throw new InputError(
			`${where} does not belong to this run: ${found.join(", ")}; restore the run's own checkpoint, or start a new run`,
		);
}

import { existsSync } from "node:fs";
import { InputError } from "../base/errors.js";
import { formatCount, type Progress } from "../base/progress.js";
import { random } from "../base/random.js";
import {
	type Batch,
	type BatchOptions,
	type Dataset,
	type Split,
	type SplitBatches,
	splitBatches,
} from "../cohort/index.js";
import { initialWeights, type Model, weightCount } from "../models/index.js";
import type { ResidentValue, Runtime } from "../runtime/index.js";
import { adamWDefaults } from "./adamw.js";
import { type Checkpoint, hasCheckpoint, readCheckpoint, writeCheckpoint } from "./checkpoint.js";
import { type SavedSettings, settingsThatDiffer, tensorMismatches } from "./compare-settings.js";
import { type EventLog, type LogEvent, openEventLog, readEventLog } from "./event-log.js";
import type { TrainOptions } from "./options.js";
import { type Run, runFiles, sealedFiles } from "./run-folder.js";
import type { StoredTensor } from "./safetensors.js";
import { learningRateAt } from "./schedule.js";
import { checkSeal, sealOf } from "./seal.js";
import { initialState } from "./step.js";
import { openTensorboard, type ScalarWriter } from "./tensorboard.js";
import { addInto, type Trainer, trainer } from "./trainer.js";

export interface PretrainRequest {
	readonly folder: string;
	readonly run: Pick<Run, "model" | "config" | "options" | "dataset">;
	readonly model: Model;
	readonly dataset: Dataset;
	/** What to train on; all histories of the split if left out. */
	readonly batchesOf?: (split: "train" | "valid", plan: BatchOptions) => SplitBatches;
	readonly runtime: Runtime;
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

/** Trains until the last epoch, until validation stops improving, or until asked to stop. */
export async function trainEpochs(request: PretrainRequest): Promise<PretrainSummary> {
	const { folder, run, model, dataset, runtime } = request;
	const { options } = run;
	const files = runFiles(folder);
	const plan = {
		maxLength: options.maxLength,
		cut: options.cut,
		size: { slots: options.batchSlots },
		seed: options.seed,
	};
	checkSplits(dataset);
	const batchesOf = request.batchesOf ?? ((split, how) => splitBatches(dataset, split, how));
	const batches = batchesOf("train", plan);
	const checks = batchesOf("valid", plan);
	const weights = initialWeights(model, run.config, options.seed);
	const checkpoint = request.resume ? lastCheckpoint(files) : undefined;
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
	const save = async (at: Position) => write(files.checkpoint, at, await learner.state());
	const saveBest = async (at: Position) => {
		const state = await learner.state();
		write(files.best, at, new Map([...state].filter(([name]) => weights.has(name))));
	};
	if (checkpoint) for (const caution of request.cautions ?? []) request.progress.note(caution);
	const log = openEventLog(files.log, checkpoint ? { keep: wasSaved(start) } : {});
	const board = openTensorboard(files.tensorboard, {
		clock: Date.now,
		...(checkpoint && { resumeAt: start.step }),
	});
	try {
		if (!checkpoint) await save(start);
		const loop = { ...request, options, batches, checks, learner, log, board, save, saveBest };
		return summaryOf(await epochs(loop, start));
	} finally {
		log.close();
		board.close();
		await learner.dispose();
	}
}

interface Loop extends PretrainRequest {
	readonly options: TrainOptions;
	readonly batches: SplitBatches;
	readonly checks: SplitBatches;
	readonly learner: Trainer;
	readonly log: EventLog;
	readonly board: ScalarWriter;
	save(at: Position): Promise<void>;
	saveBest(at: Position): Promise<void>;
}

async function epochs(loop: Loop, start: Position): Promise<Position> {
	const { options, batches, progress, signal } = loop;
	const stepsPerEpoch = Math.ceil(batches.plan.count / options.accumulate);
	let at = start;
	const total = options.epochs * stepsPerEpoch;
	const rate = smoothed();
	const show = (loss?: number, speed?: number) =>
		progress.update({
			label: `epoch ${Math.min(at.epoch + 1, options.epochs)}/${options.epochs}  step`,
			done: at.step,
			total,
			fields: [
				...(loss === undefined ? [] : [["loss", loss.toFixed(4)] as [string, string]]),
				...(speed === undefined ? [] : [["tokens/s", formatCount(speed)] as [string, string]]),
			],
		});
	show();
	while (!at.finished) {
		while (at.stepInEpoch < stepsPerEpoch) {
			if (signal.aborted) {
				await loop.save(at);
				return at;
			}
			const { loss, tokensPerSecond } = await oneStep(loop, at, total);
			at = { ...at, step: at.step + 1, stepInEpoch: at.stepInEpoch + 1 };
			show(rate(loss), tokensPerSecond);
			if (at.step % options.checkpointEvery === 0 && at.stepInEpoch < stepsPerEpoch)
				await loop.save(at);
		}
		const losses = await validate(loop);
		if (!losses) {
			await loop.save(at);
			return at;
		}
		const loss = sum(losses);
		if (!Number.isFinite(loss))
			throw notFinite(loop, "the validation loss", at, losses, await allOf(loop.checks));
		const better = at.best === null || loss < at.best.loss;
		const epoch = at.epoch + 1;
		loop.log.append({ step: at.step, epoch, valid: losses });
		loop.board.scalars(at.step, prefixed("valid", losses));
		const best = better ? { epoch, step: at.step, loss, losses } : at.best;
		const stale = epoch - (best?.epoch ?? epoch) >= options.patience;
		at = { ...at, epoch, stepInEpoch: 0, best, finished: stale || epoch >= options.epochs };
		if (better) await loop.saveBest(at);
		await loop.save(at);
		const terms = Object.entries(losses).map(([term, nats]) => `${term} ${nats.toFixed(4)} nats`);
		progress.note(
			`epoch ${epoch}: validation ${terms.join(", ")}${better ? ", the best so far" : ""}`,
		);
		if (stale && epoch < options.epochs)
			progress.note(`stopping: no better validation loss in ${options.patience} epochs`);
	}
	return at;
}

async function oneStep(loop: Loop, at: Position, total: number) {
	const { options, batches, learner, clock } = loop;
	const started = clock();
	const first = at.stepInEpoch * options.accumulate;
	const last = Math.min(batches.plan.count, first + options.accumulate);
	const parts: Batch[] = [];
	for (let i = first; i < last; i++) parts.push(await batches.read(at.epoch, i));
	const step = at.step + 1;
	const learningRate = learningRateAt(step, total, options);
	const result = await learner.step(parts, {
		step,
		learningRate,
		random: random(options.seed).fork("steps").fork(step),
	});
	const losses = mean(result.totals, result.targets);
	if (!result.finite)
		throw notFinite(
			loop,
			"the loss or its gradient",
			{ ...at, step },
			{ ...losses, gradientNorm: result.gradientNorm },
			parts,
		);
	const seconds = Math.max(1e-3, (clock() - started) / 1000); // a clock may stand still or be set back
	const events = parts.reduce((n, { lengths }) => n + lengths.reduce((a, b) => a + b, 0), 0);
	const tokensPerSecond = events / seconds;
	const values = { ...losses, gradientNorm: result.gradientNorm, learningRate, tokensPerSecond };
	loop.log.append({ step, epoch: at.epoch + 1, ...values });
	loop.board.scalars(step, prefixed("train", values));
	return { loss: sum(losses), tokensPerSecond };
}

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
	const { checks, learner, options, signal } = loop;
	const totals: Record<string, number> = {};
	const targets: Record<string, number> = {};
	for (let i = 0; i < checks.plan.count; i++) {
		if (signal.aborted) return undefined;
		const losses = await learner.losses(
			await checks.read(0, i),
			random(options.seed).fork("valid").fork(i),
		);
		addInto(totals, losses.totals);
		addInto(targets, losses.targets);
	}
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

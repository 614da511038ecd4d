import { allGathered, anyRank, type Communicator } from "../../base/communicator.js";
import { formatCount, type Progress } from "../../base/progress.js";
import type { Batch, SplitBatches } from "../../data/cohort/index.js";
import type { EventLog } from "./event-log.js";
import type { TrainOptions } from "./options.js";
import { addInto, batchesOfStep, type PreparedBatches, readAhead } from "./prepared-batches.js";
import type { Position } from "./run-folder.js";
import type { ScalarWriter } from "./tensorboard.js";
import type { Started, StepResult, Trainer } from "./trainer.js";

/** The learning rate of a step (from 1): a straight rise, then a half cosine down to a tenth. */
export function learningRateAt(
	step: number,
	total: number,
	{ learningRate, warmup }: { readonly learningRate: number; readonly warmup: number },
): number {
	const rise = Math.round(total * warmup);
	if (step <= rise) return (learningRate * step) / rise;
	const progress = Math.min(1, (step - rise) / Math.max(1, total - rise));
	return learningRate * (0.1 + 0.45 * (1 + Math.cos(Math.PI * progress)));
}

const listed = (values: Readonly<Record<string, number>>) =>
	Object.entries(values)
		.map(([name, value]) => `${name} ${value}`)
		.join(", ");

/** The error of a loss that is not a number, and what to do about it. */
const notFinite = (
	{ folder }: { readonly folder: string },
	what: string,
	{ step, epoch }: Pick<Position, "step" | "epoch">,
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

export interface Loop {
	readonly folder: string;
	readonly progress: Progress;
	readonly clock: () => number;
	readonly signal: AbortSignal;
	readonly options: TrainOptions;
	readonly batches: SplitBatches;
	readonly checks: SplitBatches;
	readonly prepared: PreparedBatches;
	readonly learner: Trainer;
	/** On rank 0 alone. */
	readonly log: EventLog | undefined;
	readonly board: ScalarWriter | undefined;
	/** Most steps that are started before the first of them is waited for. */
	readonly queue: number;
	/** Most batches that are prepared before they are needed. */
	readonly ahead: number;
	/** The processes that share the steps; rank 0 alone saves. */
	readonly communicator: Communicator;
	save(at: Position, state?: ReturnType<Trainer["state"]>): Promise<void>;
	saveBest(at: Position): Promise<void>;
}

const mean = (
	totals: Readonly<Record<string, number>>,
	targets: Readonly<Record<string, number>>,
) =>
	Object.fromEntries(
		Object.entries(totals).map(([term, total]) => [term, total / Math.max(1, targets[term] ?? 0)]),
	);

const sum = (values: Readonly<Record<string, number>>) =>
	Object.values(values).reduce((a, b) => a + b, 0);

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

/** Trains from a position until the last epoch, until validation stops improving, or until asked to stop. */
export async function epochs(loop: Loop, start: Position): Promise<Position> {
	const { options, batches, prepared, learner, progress, signal, queue, communicator } = loop;
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
		const steps = readAhead(stepInEpoch, stepsPerEpoch, loop.ahead, (i) =>
			prepared.ofStep({ epoch, stepInEpoch: i, step: step + 1 + i - stepInEpoch }),
		);
		for await (const parts of steps) {
			if (anyRank(communicator, signal.aborted)) {
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
					started,
					learningRate,
					since: first.at,
					events: others.reduce((n, step) => n + step.events, events),
				});
				finished.push({ at: loop.clock(), events });
				if (finished.length > queue) finished.shift();
				show(after, rate(loss), tokensPerSecond);
			});
			const saves = communicator.rank === 0 && at.step % options.checkpointEvery === 0;
			if (saves && at.stepInEpoch < stepsPerEpoch) {
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
		loop.log?.append({ step: at.step, epoch: at.epoch, valid: losses });
		loop.board?.scalars(at.step, prefixed("valid", losses));
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
			loop,
			"the loss or its gradient",
			{ ...before, step },
			{ ...losses, gradientNorm },
			await eventsOf(loop, before),
		);
	const seconds = Math.max(1e-3, (loop.clock() - since) / 1000); // a clock may stand still or be set back
	const tokensPerSecond = events / seconds;
	const values = { ...losses, gradientNorm, learningRate, tokensPerSecond };
	loop.log?.append({ step, epoch: before.epoch + 1, ...values });
	loop.board?.scalars(step, prefixed("train", values));
	return { loss: sum(losses), tokensPerSecond };
}

/** The batches of the step after a position. */
const eventsOf = (loop: Loop, { epoch, stepInEpoch }: Position): Promise<Batch[]> =>
	Promise.all(
		batchesOfStep({ ...loop, ...loop.options }, stepInEpoch).map((i) =>
			loop.batches.read(epoch, i),
		),
	);

async function allOf(batches: Loop["checks"]): Promise<Batch[]> {
	const all: Batch[] = [];
	for (let i = 0; i < batches.plan.count; i++) all.push(await batches.read(0, i));
	return all;
}

/** Mean losses over the validation patients, with the same draws every time; undefined when asked to stop. */
async function validate(loop: Loop): Promise<Record<string, number> | undefined> {
	const { checks, prepared, learner, signal, queue, communicator } = loop;
	const { rank, size } = communicator;
	const totals: Record<string, number> = {};
	const targets: Record<string, number> = {};
	const unfinished = inTurn();
	const shareCount = Math.ceil((checks.plan.count - rank) / size);
	const all = readAhead(0, shareCount, loop.ahead, (i) => prepared.ofValidation(rank + i * size));
	for await (const batch of all) {
		if (signal.aborted) break;
		const started = await learner.startLosses(batch);
		unfinished.push(async () => {
			const losses = await started.result();
			addInto(totals, losses.totals);
			addInto(targets, losses.targets);
		});
		await unfinished.downTo(queue - 1);
	}
	await unfinished.downTo(0);
	if (anyRank(communicator, signal.aborted)) return undefined;
	return mean(overRanks(communicator, totals), overRanks(communicator, targets));
}

/** Sums by term over all ranks; some may have no batch, and so no terms. */
function overRanks(communicator: Communicator, terms: Record<string, number>) {
	if (communicator.size === 1) return terms;
	const names = [...new Set(allGathered(communicator, Object.keys(terms)).flat())];
	const sums = Float64Array.from(names, (name) => terms[name] ?? 0);
	communicator.sum(sums);
	return Object.fromEntries(names.map((name, i) => [name, sums[i]]));
}

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

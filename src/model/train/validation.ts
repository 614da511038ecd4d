import { allGathered, anyRank, type Communicator } from "../../base/communicator.js";
import type { SplitBatches } from "../../data/cohort/index.js";
import { chosenGains } from "../hazards/gains.js";
import { addInto, type PreparedBatches, readAhead } from "./prepared-batches.js";
import type { Trainer } from "./trainer.js";

/** Numbers by the terms of the loss. */
export type ByTerm = Readonly<Record<string, number>>;

export const mean = (totals: ByTerm, targets: ByTerm) =>
	Object.fromEntries(
		Object.entries(totals).map(([term, total]) => [term, total / Math.max(1, targets[term] ?? 0)]),
	);

export const sum = (values: ByTerm) => Object.values(values).reduce((a, b) => a + b, 0);

/** Things to do in order, once the device has come so far. */
export function inTurn() {
	const waiting: (() => Promise<void>)[] = [];
	return {
		push: (finish: () => Promise<void>) => waiting.push(finish),
		/** Waits until at most so many are left. */
		async downTo(count: number) {
			while (waiting.length > count) await waiting.shift()?.();
		},
	};
}

interface Validation {
	readonly checks: SplitBatches;
	readonly prepared: PreparedBatches;
	readonly learner: Trainer;
	readonly signal: AbortSignal;
	/** Most batches that are started before the first of them is waited for. */
	readonly queue: number;
	/** Most batches that are prepared before they are needed. */
	readonly ahead: number;
	readonly communicator: Communicator;
}

interface Validated {
	/** Means; that of first records is with the gains. */
	readonly losses: ByTerm;
	/** Of models with hazards: how much of the network suits each output. */
	readonly gains?: Float32Array;
}

/** The losses of the validation patients, with the same draws every time; undefined when asked to stop. */
export async function validate(validation: Validation): Promise<Validated | undefined> {
	const { checks, prepared, learner, signal, queue, ahead, communicator } = validation;
	const { rank, size } = communicator;
	const totals: Record<string, number> = {};
	const targets: Record<string, number> = {};
	let onsets = new Float64Array();
	const unfinished = inTurn();
	const shareCount = Math.ceil((checks.plan.count - rank) / size);
	const all = readAhead(0, shareCount, ahead, (i) => prepared.ofValidation(rank + i * size));
	for await (const batch of all) {
		if (signal.aborted) break;
		const started = await learner.startLosses(batch);
		unfinished.push(async () => {
			const losses = await started.result();
			addInto(totals, losses.totals);
			addInto(targets, losses.targets);
			const { onsetsByGain = [] } = losses;
			onsets = Float64Array.from(onsetsByGain, (value, i) => value + (onsets[i] ?? 0));
		});
		await unfinished.downTo(queue - 1);
	}
	await unfinished.downTo(0);
	if (anyRank(communicator, signal.aborted)) return undefined;
	const allTargets = overRanks(communicator, targets);
	const losses = mean(overRanks(communicator, totals), allTargets);
	const allOnsets = arrayOverRanks(communicator, onsets);
	if (allOnsets.length === 0) return { losses };
	const { gains, loss } = chosenGains(allOnsets);
	return { losses: { ...losses, onset: loss / Math.max(1, allTargets.onset) }, gains };
}

/** Sums over all ranks; some may have no batch, and so no array. */
function arrayOverRanks(communicator: Communicator, values: Float64Array): Float64Array {
	if (communicator.size === 1) return values;
	const length = Math.max(...allGathered(communicator, values.length));
	const sums = new Float64Array(length);
	sums.set(values);
	communicator.sum(sums);
	return sums;
}

/** Sums by term over all ranks; some may have no batch, and so no terms. */
function overRanks(communicator: Communicator, terms: ByTerm) {
	if (communicator.size === 1) return terms;
	const names = [...new Set(allGathered(communicator, Object.keys(terms)).flat())];
	const sums = Float64Array.from(names, (name) => terms[name] ?? 0);
	communicator.sum(sums);
	return Object.fromEntries(names.map((name, i) => [name, sums[i]]));
}

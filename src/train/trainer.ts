import type { Random } from "../base/random.js";
import type { EventBatch, Model, ObjectiveName } from "../models/index.js";
import { lossFeeds } from "../models/objective.js";
import {
	type Data,
	type Program,
	programs,
	type ResidentValue,
	type Runtime,
} from "../runtime/index.js";
import { type AdamWOptions, adamWScalars } from "./adamw.js";
import {
	accumulateGraph,
	applyGraph,
	gradientNorm,
	gradientSums,
	initialState,
	lossGraph,
	lossOf,
	type StepPlan,
	scaleFeeds,
	stepGraph,
} from "./step.js";

/** The next event alone (the paper), or also one further ahead, up to `horizon` events. */
export interface ChosenObjective {
	readonly objective: ObjectiveName;
	readonly horizon: number;
}

export interface TrainerOptions {
	readonly model: Model;
	readonly config: unknown;
	readonly objective: ChosenObjective;
	readonly optimizer: AdamWOptions;
	readonly clip: number;
	/** Whether steps are made of several batches. */
	readonly accumulate: boolean;
}

export interface Losses {
	/** Σ −log p by term. */
	readonly totals: Readonly<Record<string, number>>;
	readonly targets: Readonly<Record<string, number>>;
}

export interface StepResult extends Losses {
	readonly gradientNorm: number;
	/** False when the loss or the gradient was not finite; the weights are then as before. */
	readonly finite: boolean;
}

/** Weights, moments and the programs that move them. State goes in at the start and comes out by `state`. */
export interface Trainer {
	/** One update from one batch or several. */
	step(batches: readonly EventBatch[], at: StepAt): Promise<StepResult>;
	/** Losses of a batch, with nothing learned from it. */
	losses(batch: EventBatch, random: Random): Promise<Losses>;
	state(): Promise<Map<string, ResidentValue>>;
	dispose(): Promise<void>;
}

export interface StepAt {
	/** From 1. */
	readonly step: number;
	readonly learningRate: number;
	readonly random: Random;
}

const keyText = ({ rows, length }: { rows: number; length: number }) => `${rows}x${length}`;

/** Adds to sums by term. */
export const addInto = (sums: Record<string, number>, more: Readonly<Record<string, number>>) => {
	for (const [name, value] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + value;
};

export function trainer(
	runtime: Runtime,
	options: TrainerOptions,
	weights: ReadonlyMap<string, ResidentValue>,
	/** Weights and moments to go on from, as `state` gave them. */
	saved?: ReadonlyMap<string, ResidentValue>,
): Trainer {
	const { model, config, accumulate } = options;
	const { horizon } = options.objective;
	const objectives = model.objectives[options.objective.objective];
	const plan: StepPlan = {
		...options,
		objectives,
		shapes: new Map([...weights].map(([name, { shape }]) => [name, shape])),
	};
	const start = saved ?? initialState(weights);
	const resident = runtime.resident(
		accumulate ? new Map([...start, ...gradientSums(weights)]) : start,
	);
	const build = accumulate ? accumulateGraph : stepGraph;
	const steps = programs(runtime, (shape: EventBatch) => build(plan, shape), { keyText });
	const checks = programs(runtime, (shape: EventBatch) => lossGraph(plan, shape), { keyText });
	let applying: Promise<Program> | undefined;

	const feedsOf = (batch: EventBatch, random: Random, learning: boolean) =>
		lossFeeds(model, config, objectives, batch, { random, horizon }, learning);

	const readLosses = (outputs: Record<string, Data>, targets: Readonly<Record<string, number>>) =>
		Object.fromEntries(
			Object.keys(targets).map((term) => [term, outputs[lossOf(term)]?.[0] as number]),
		);

	return {
		async step(batches, { step, learningRate, random }) {
			const fed = batches.map((batch, i) => feedsOf(batch, random.fork(i), true));
			const targets: Record<string, number> = {};
			for (const part of fed) addInto(targets, part.targets);
			const scalars = Object.fromEntries(
				Object.entries(adamWScalars(step, learningRate, options.optimizer)).map(([name, x]) => [
					name,
					Float32Array.of(x),
				]),
			);
			const scales = scaleFeeds(targets);
			const totals: Record<string, number> = {};
			let finite = true;
			let norm = Number.NaN;
			const accept = (outputs: Record<string, Data>) => {
				for (const values of Object.values(outputs))
					if (!Number.isFinite(values[0])) finite = false;
				norm = outputs[gradientNorm]?.[0] ?? norm;
				return finite;
			};
			for (const [i, batch] of batches.entries()) {
				const { feeds, targets: own } = fed[i] as (typeof fed)[0];
				const more = accumulate ? { goesOn: Uint8Array.of(Number(i > 0)) } : scalars;
				const inputs = { ...feeds, ...scales, ...more };
				const outputs = await steps.run(batch, inputs, resident, { accept });
				addInto(totals, readLosses(outputs, own));
				if (!finite) break;
			}
			if (accumulate && finite) {
				applying ??= runtime.compile(applyGraph(plan, batches[0] as EventBatch));
				await (await applying).run(scalars, resident, { accept });
			}
			return { totals, targets, gradientNorm: norm, finite };
		},
		async losses(batch, random) {
			const { feeds, targets } = feedsOf(batch, random, false);
			const outputs = await checks.run(batch, feeds, resident);
			return { totals: readLosses(outputs, targets), targets };
		},
		async state() {
			const held = await resident.read();
			return new Map([...start.keys()].map((name) => [name, held.get(name) as ResidentValue]));
		},
		async dispose() {
			resident.dispose();
			await steps.dispose();
			await checks.dispose();
			if (applying) await (await applying).dispose();
		},
	};
}

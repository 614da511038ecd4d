import { type Communicator, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Random } from "../../base/random.js";
import {
	type Data,
	type Pending,
	type Program,
	programs,
	type ResidentValue,
	type Runtime,
	started,
} from "../../engine/runtime/index.js";
import type { BatchShape, EventBatch, Model } from "../index.js";
import {
	addInto,
	type ChosenObjective,
	type PreparedBatch,
	perDevice,
	prepareBatch,
	type Share,
} from "./prepared-batches.js";
import * as graphs from "./step.js";

/** Refuses models whose rows depend on each other in training: a part of a batch would teach them something else. */
export function checkDivisible(model: Model, config: unknown): void {
	const moves = Object.values(model.weights(config)).some(({ moving }) => moving);
	if (!moves && !model.penalties?.length) return;
	throw new InputError(
		`${model.name} is trained on each batch as a whole, which processes cannot share; start its training without a launcher`,
	);
}

/** One array for all gradients, and the part of it that belongs to each weight. */
function spaceFor(outputs: Readonly<Record<string, Data>>) {
	const gradientOutputs = Object.entries(outputs).filter(([name]) => graphs.isGradient(name));
	const all = new Float32Array(gradientOutputs.reduce((sum, [, { length }]) => sum + length, 0));
	let from = 0;
	const views = gradientOutputs.map(([name, { length }]) => {
		from += length;
		return [name, all.subarray(from - length, from)] as const;
	});
	return { all, views: Object.fromEntries(views) as Record<string, Data> };
}

/** Adds values to those of earlier batches, or replaces them. */
function keep(view: Float32Array, values: Float32Array, adds: boolean): void {
	if (adds) for (let i = 0; i < view.length; i++) view[i] += values[i];
	else if (values !== view) view.set(values);
}

export interface TrainerOptions {
	readonly model: Model;
	readonly config: unknown;
	readonly objective: ChosenObjective;
	readonly optimizer: graphs.AdamWOptions;
	readonly clip: number;
	/** Whether steps are made of several batches. */
	readonly accumulate: boolean;
	/** The number of each token's code, where some have several tokens: these learn together. */
	readonly codes?: Int32Array | undefined;
	/** Whether the embeddings of codes stay as they are. Default: they are learned. */
	readonly freezesEmbeddings?: boolean | undefined;
	/** The processes that share each step. Default: this one alone. */
	readonly communicator?: Communicator | undefined;
}

export interface Losses {
	/** Σ −log p by term. */
	readonly totals: Readonly<Record<string, number>>;
	readonly targets: Readonly<Record<string, number>>;
}

export interface ValidationLosses extends Losses {
	/** Of models with hazards: what `chosenGains` needs. */
	readonly onsetsByGain: Float32Array | undefined;
}

export interface StepResult extends Losses {
	readonly gradientNorm: number;
	/** False when the loss or the gradient was not finite; the weights are then as before, or useless on a device that queues. */
	readonly finite: boolean;
}

export interface Started<R> {
	result(): Promise<R>;
}

interface StepAt {
	/** From 1. */
	readonly step: number;
	readonly learningRate: number;
}

/** The rows of each batch that a process computes; undefined for all. */
export const shareOf = ({ rank, size }: Communicator): Share | undefined =>
	size > 1 ? { part: rank, of: size } : undefined;

/** Weights, moments and the programs that move them. State goes in at the start and comes out by `state`. */
export type Trainer = ReturnType<typeof trainer>;

const keyText = ({ rows, length }: BatchShape) => `${rows}x${length}`;

export function trainer(
	runtime: Runtime,
	options: TrainerOptions,
	weights: ReadonlyMap<string, ResidentValue>,
	/** Weights and moments to go on from, as `state` gave them. */
	saved?: ReadonlyMap<string, ResidentValue>,
) {
	const { model, config, communicator = oneProcess } = options;
	const { devices = 1 } = runtime;
	const divides = communicator.size > 1;
	const accumulate = options.accumulate && !divides;
	const plan: graphs.StepPlan = {
		...options,
		devices,
		objectives: model.objectives[options.objective.objective],
		shapes: new Map([...weights].map(([name, { shape }]) => [name, shape])),
	};
	const initial = saved ?? graphs.initialState(weights);
	const resident = runtime.resident(
		accumulate ? new Map([...initial, ...graphs.gradientSums(weights)]) : initial,
	);
	const build = divides
		? graphs.gradientGraph
		: accumulate
			? graphs.accumulateGraph
			: graphs.stepGraph;
	const steps = programs(runtime, (shape: BatchShape) => build(plan, shape), { keyText });
	const checks = programs(runtime, (shape: BatchShape) => graphs.lossGraph(plan, shape), {
		keyText,
	});
	let applying: Promise<Program> | undefined;
	/** The update from gradients that were kept or are fed. */
	const applied = ([first]: readonly PreparedBatch[]) => {
		applying ??= runtime.compile(graphs.applyGraph(plan, first.shape));
		return applying;
	};

	const use = { model, config, objective: options.objective, devices };
	const share = shareOf(communicator);
	/** Computes a batch's feeds; `learning` for a step, not for its losses alone. */
	const prepare = (batch: EventBatch, random: Random, learning: boolean): PreparedBatch =>
		prepareBatch(learning ? { ...use, share } : use, batch, random, learning);

	const readLosses = (outputs: Record<string, Data>, targets: Readonly<Record<string, number>>) =>
		Object.fromEntries(
			Object.keys(targets).map((term) => [term, outputs[graphs.lossOf(term)]?.[0]]),
		);

	const normOf = (outputs: Record<string, Data> | undefined) =>
		outputs?.[graphs.gradientNorm]?.[0] ?? Number.NaN;

	/** What the batches of a step are fed beside their own values. */
	const stepFeeds = (batches: readonly PreparedBatch[], { step, learningRate }: StepAt) => {
		const targets: Record<string, number> = {};
		for (const batch of batches) addInto(targets, batch.targets);
		const scalars = graphs.scalarFeeds(step, learningRate, options.optimizer);
		return { targets, scales: graphs.scaleFeeds(targets), scalars };
	};

	const startAlone = async (
		batches: readonly PreparedBatch[],
		at: StepAt,
	): Promise<Started<StepResult>> => {
		const { targets, scales, scalars } = stepFeeds(batches, at);
		let finite = true;
		const accept = (outputs: Record<string, Data>) => {
			for (const values of Object.values(outputs)) if (!Number.isFinite(values[0])) finite = false;
			return finite;
		};
		const runs: Pending[] = [];
		for (const [i, { shape, feeds }] of batches.entries()) {
			const more = accumulate ? { goesOn: Uint8Array.of(Number(i > 0)) } : scalars;
			const inputs = feeds.map((feed) => ({ ...feed, ...scales, ...more }));
			runs.push(await steps.enqueue(shape, inputs, resident, { accept }));
			if (!finite) break;
		}
		if (accumulate && finite)
			runs.push(await started(await applied(batches), scalars, resident, { accept }));
		return {
			async result() {
				const outputs = await Promise.all(runs.map((run) => run.read()));
				const totals: Record<string, number> = {};
				for (const [i, batch] of batches.entries())
					if (outputs[i]) addInto(totals, readLosses(outputs[i], batch.targets));
				return {
					totals,
					targets,
					gradientNorm: normOf(outputs.at(-1)),
					finite: outputs.every(accept),
				};
			},
		};
	};

	let summed: ReturnType<typeof spaceFor> | undefined;
	/**
	 * A step whose batches several processes share: each computes the gradient of its rows, the gradients are summed, and
	 * each takes the same step. The loss is scaled by the targets of all rows, so that the sum is the gradient of one
	 * process.
	 */
	const stepTogether = async (
		batches: readonly PreparedBatch[],
		at: StepAt,
	): Promise<StepResult> => {
		const { targets, scales, scalars } = stepFeeds(batches, at);
		const terms = Object.keys(targets);
		const losses = new Float64Array(terms.length);
		for (const [i, { shape, feeds }] of batches.entries()) {
			const into = i === 0 && summed ? { into: summed.views } : {};
			const outputs = await steps.run(shape, { ...feeds[0], ...scales }, resident, into);
			summed ??= spaceFor(outputs);
			for (const [name, view] of Object.entries(summed.views))
				keep(view as Float32Array, outputs[name] as Float32Array, i > 0);
			for (const [at, term] of terms.entries())
				losses[at] = (losses[at] ?? 0) + (outputs[graphs.lossOf(term)]?.[0] ?? Number.NaN);
		}
		const { all, views } = summed as NonNullable<typeof summed>;
		communicator.sum(losses);
		communicator.sum(all);
		const totals = Object.fromEntries(terms.map((term, i) => [term, losses[i]]));
		if (!losses.every(Number.isFinite))
			return { totals, targets, gradientNorm: Number.NaN, finite: false };
		const accept = (outputs: Record<string, Data>) => Number.isFinite(normOf(outputs));
		const program = await applied(batches);
		const outputs = await program.run({ ...views, ...scalars }, resident, { accept });
		return { totals, targets, gradientNorm: normOf(outputs), finite: accept(outputs) };
	};

	/** Starts one update from one batch or several. Steps end in the order in which they were started. */
	const start: typeof startAlone = divides
		? async (batches, at) => {
				const result = await stepTogether(batches, at);
				return { result: async () => result };
			}
		: startAlone;

	/** Starts to compute the losses of a batch, with nothing learned from it. */
	const startLosses = async ({
		shape,
		feeds,
		targets,
	}: PreparedBatch): Promise<Started<ValidationLosses>> => {
		const run = await checks.enqueue(shape, feeds, resident);
		return {
			async result() {
				const outputs = await run.read();
				const onsetsByGain = outputs[graphs.onsetsByGain] as Float32Array | undefined;
				return { totals: readLosses(outputs, targets), targets, onsetsByGain };
			},
		};
	};

	return {
		/** Starts to compile the programs of steps, then of losses, for batches of these shapes. */
		compile(ofSteps: readonly BatchShape[], ofLosses: readonly BatchShape[]): void {
			const parts = share?.of ?? devices;
			for (const shape of ofSteps) steps.compile(perDevice(shape, parts));
			for (const shape of ofLosses) checks.compile(perDevice(shape, devices));
		},
		prepare,
		start,
		/** One update, to its end. */
		async step(
			batches: readonly EventBatch[],
			at: StepAt & { readonly random: Random },
		): Promise<StepResult> {
			const prepared = batches.map((batch, i) => prepare(batch, at.random.fork(i), true));
			return (await start(prepared, at)).result();
		},
		startLosses,
		/** The losses of a batch. */
		losses: async (batch: EventBatch, random: Random): Promise<ValidationLosses> =>
			(await startLosses(prepare(batch, random, false))).result(),
		/** Of the steps started so far. */
		async state(): Promise<Map<string, ResidentValue>> {
			const held = await resident.read();
			return new Map([...initial.keys()].map((name) => [name, held.get(name) as ResidentValue]));
		},
		async dispose(): Promise<void> {
			resident.dispose();
			await steps.dispose();
			await checks.dispose();
			if (applying) await (await applying).dispose();
		},
	};
}

import type { Communicator } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Data, Program, programs, Resident, Runtime } from "../../engine/runtime/index.js";
import type { BatchShape, Model } from "../index.js";
import type { PreparedBatch } from "./prepare-batch.js";
import { addInto } from "./prepare-batch.js";
import {
	applyGraph,
	gradientNorm,
	isGradient,
	lossOf,
	type StepPlan,
	scalarFeeds,
	scaleFeeds,
} from "./step.js";
import type { StepAt, StepResult } from "./trainer.js";

/** Refuses models whose rows depend on each other in training: a part of a batch would teach them something else. */
export function checkDivisible(model: Model, config: unknown): void {
	const moves = Object.values(model.weights(config)).some(({ moving }) => moving);
	if (!moves && !model.penalties?.length) return;
	throw new InputError(
		`${model.name} is trained on each batch as a whole, which processes cannot share; start its training without a launcher`,
	);
}

interface Divided {
	readonly runtime: Runtime;
	readonly communicator: Communicator;
	readonly plan: StepPlan;
	readonly resident: Resident;
	/** `gradientGraph` of each shape. */
	readonly gradients: ReturnType<typeof programs<BatchShape>>;
}

/**
 * Steps whose batches several processes share: each computes the gradient of its rows, the gradients are summed, and
 * each takes the same step. The loss is scaled by the targets of all rows, so that the sum is the gradient of one
 * process.
 */
export function dividedSteps({ runtime, communicator, plan, resident, gradients }: Divided) {
	let applying: Promise<Program> | undefined;
	/** One array, and the part of it that belongs to each weight. */
	let summed: { readonly all: Float32Array; readonly views: Record<string, Data> } | undefined;

	async function step(
		batches: readonly PreparedBatch[],
		{ step, learningRate }: StepAt,
	): Promise<StepResult> {
		const targets: Record<string, number> = {};
		for (const batch of batches) addInto(targets, batch.targets);
		const terms = Object.keys(targets);
		const scales = scaleFeeds(targets);
		const losses = new Float64Array(terms.length);
		for (const [i, { shape, feeds }] of batches.entries()) {
			const into = i === 0 && summed ? { into: summed.views } : {};
			const outputs = await gradients.run(shape, { ...feeds[0], ...scales }, resident, into);
			summed ??= spaceFor(outputs);
			for (const [name, view] of Object.entries(summed.views))
				keep(view as Float32Array, outputs[name] as Float32Array, i > 0);
			for (const [at, term] of terms.entries())
				losses[at] = (losses[at] ?? 0) + (outputs[lossOf(term)]?.[0] ?? Number.NaN);
		}
		const { all, views } = summed as NonNullable<typeof summed>;
		communicator.sum(losses);
		communicator.sum(all);
		const totals = Object.fromEntries(terms.map((term, i) => [term, losses[i] as number]));
		if (!losses.every(Number.isFinite))
			return { totals, targets, gradientNorm: Number.NaN, finite: false };
		applying ??= runtime.compile(applyGraph(plan, batches[0]?.shape as BatchShape));
		const scalars = scalarFeeds(step, learningRate, plan.optimizer);
		const normOf = (outputs: Record<string, Data>) => outputs[gradientNorm]?.[0] ?? Number.NaN;
		const accept = (outputs: Record<string, Data>) => Number.isFinite(normOf(outputs));
		const program = await applying;
		const outputs = await program.run({ ...views, ...scalars }, resident, { accept });
		return { totals, targets, gradientNorm: normOf(outputs), finite: accept(outputs) };
	}

	return {
		async start(batches: readonly PreparedBatch[], at: StepAt) {
			const result = await step(batches, at);
			return { result: async () => result };
		},
		async dispose() {
			if (applying) await (await applying).dispose();
		},
	};
}

function spaceFor(outputs: Readonly<Record<string, Data>>) {
	const own = Object.entries(outputs).filter(([name]) => isGradient(name));
	const all = new Float32Array(own.reduce((sum, [, { length }]) => sum + length, 0));
	let from = 0;
	const views = own.map(([name, { length }]) => {
		from += length;
		return [name, all.subarray(from - length, from)] as const;
	});
	return { all, views: Object.fromEntries(views) as Record<string, Data> };
}

/** Adds values to those of earlier batches, or replaces them. */
function keep(view: Float32Array, values: Float32Array, adds: boolean): void {
	if (adds) for (let i = 0; i < view.length; i++) view[i]! += values[i]!;
	else if (values !== view) view.set(values);
}

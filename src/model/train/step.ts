import { codeKey, specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { next, type ResidentValue } from "../../engine/runtime/index.js";
import type { FixedShape, Graph, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import type { BatchShape, Model, Objective, Parameters, ParameterValues } from "../index.js";
import { type LossTerm, lossTerms } from "../model.js";

/** Everything a step needs to know but the shape of its batch. */
export interface StepPlan<C = unknown> {
	readonly model: Model<C>;
	readonly config: C;
	readonly objectives: readonly Objective<C>[];
	readonly optimizer: AdamWOptions;
	readonly clip: number;
	readonly shapes: ReadonlyMap<string, FixedShape>;
	/** The number of each token's code, where some have several tokens: these learn together. */
	readonly codes?: Int32Array | undefined;
	/** Whether the embeddings of codes stay as they are; special tokens learn theirs. */
	readonly freezesEmbeddings?: boolean | undefined;
	/** Devices that share the rows of a batch; sums over rows are then taken over all of them. Default: 1. */
	readonly devices?: number;
}

export const firstOf = (name: string): string => `first/${name}`;
const secondOf = (name: string) => `second/${name}`;
const gradientPrefix = "gradient/";
const gradientOf = (name: string) => gradientPrefix + name;
export const isGradient = (output: string): boolean => output.startsWith(gradientPrefix);
const scaleOf = (term: string) => `scale.${term}`;
export const lossOf = (term: string): string => `loss.${term}`;
export const gradientNorm = "gradientNorm";
export const onsetsByGain = "onsetsByGain";
/** One input for all scalars of AdamW: each copy to a device has its price, however small. */
const scalars = "adamW";

const symbols = (shapes: ReadonlyMap<string, FixedShape>): Parameters =>
	Object.fromEntries([...shapes].map(([name, shape]) => [name, graph.parameter(name, shape)]));

const zeros = ({ shape, data }: ResidentValue): ResidentValue => ({
	shape,
	data: new Float32Array(data.length),
});

/** Weights with fresh moments: what a run goes on from. */
export function initialState(
	weights: ReadonlyMap<string, ResidentValue>,
): Map<string, ResidentValue> {
	const state = new Map(weights);
	for (const [name, value] of weights)
		state.set(firstOf(name), zeros(value)).set(secondOf(name), zeros(value));
	return state;
}

/** Room for the sums of gradients while batches are accumulated; no part of the state between steps. */
export const gradientSums = (
	weights: ReadonlyMap<string, ResidentValue>,
): Map<string, ResidentValue> =>
	new Map([...weights].map(([name, value]) => [gradientOf(name), zeros(value)]));

/** Sums over the devices that share a batch. */
const overDevices = ({ devices = 1 }: StepPlan, x: Tensor): Tensor =>
	devices > 1 ? graph.allReduceSum(x) : x;

const losses = (plan: StepPlan, terms: readonly LossTerm[]) =>
	Object.fromEntries(terms.map(({ name, total }) => [lossOf(name), overDevices(plan, total)]));

/** The loss of a batch, term by term, the weighted sum that is differentiated, and what moves beside it. */
function objectiveOf(plan: StepPlan, shape: BatchShape) {
	const parameters = symbols(plan.shapes);
	const { model, config, objectives, devices = 1 } = plan;
	const { terms, moving } = lossTerms(model, config, objectives, parameters, shape, true);
	const parts = terms.map(({ name, total }) => total.mul(graph.input(scaleOf(name), [])));
	return {
		parameters,
		outputs: losses(plan, terms),
		total: parts.reduce((a, b) => a.add(b)),
		moving: Object.fromEntries(
			Object.entries(moving).map(([name, value]) => [
				next(name),
				devices > 1 ? graph.allReduceSum(value).mul(1 / devices) : value,
			]),
		),
	};
}

/**
 * Names of the weights that are learned by gradient. One that the loss does not depend on, as what
 * only fine-tuning uses, is left as it is: not even shrunk.
 */
function learned({ model, config }: StepPlan, total: Tensor, parameters: Parameters): string[] {
	const specs = model.weights(config);
	const used = new Set(graph.inOrder([total]));
	const isLearned = (name: string) => !specs[name]?.moving && !specs[name]?.fixed;
	return Object.entries(parameters).flatMap(([name, { node }]) =>
		used.has(node) && isLearned(name) ? [name] : [],
	);
}

const isFrozen = ({ freezesEmbeddings }: StepPlan, name: string): boolean =>
	freezesEmbeddings === true && name === "embedding";

const zerosLike = ({ shape, dtype }: Tensor) => graph.filled(0, shape, dtype);

/** Embeddings with the rows of codes taken from others. */
const withCodesOf = (embeddings: Tensor, others: Tensor): Tensor =>
	graph.concat([embeddings.slice(0, 0, specialCount), others.slice(0, specialCount)], 0);

/** An objective with the gradients of the learned weights, by name. */
function backward(plan: StepPlan, shape: BatchShape) {
	const { total, parameters, ...objective } = objectiveOf(plan, shape);
	const names = learned(plan, total, parameters);
	const slopes = graph.gradients(
		total,
		names.map((name) => parameters[name]),
	);
	const { codes } = plan;
	const gradient: Parameters = Object.fromEntries(
		names.map((name, i) => {
			const slope = overDevices(plan, slopes[i]);
			const ofCodes = codes ? learnTogether(name, slope, codes) : slope;
			return [name, isFrozen(plan, name) ? withCodesOf(ofCodes, zerosLike(ofCodes)) : ofCodes];
		}),
	);
	return { ...objective, parameters, gradient };
}

/** Losses alone, and those of first records by the gain of the network, for validation. */
export function lossGraph(plan: StepPlan, shape: BatchShape): Graph {
	const { model, config, objectives, shapes } = plan;
	const { terms } = lossTerms(model, config, objectives, symbols(shapes), shape, false);
	const byGain = terms.flatMap(({ onsetsByGain }) =>
		onsetsByGain ? [overDevices(plan, onsetsByGain())] : [],
	);
	return {
		outputs: { ...losses(plan, terms), ...(byGain.length > 0 && { [onsetsByGain]: byGain[0] }) },
	};
}

/** Of weights that are learned from rare events. */
const rareOptions = (options: AdamWOptions): AdamWOptions => ({
	...options,
	beta2: options.rareBeta2,
});

/**
 * AdamW on every parameter, gradients shortened to the longest allowed. Gradients of rare events are not: a step with such
 * an event has a longer gradient, and would count less than the steps without.
 */
function updates(plan: StepPlan, parameters: Parameters, gradient: Parameters) {
	const names = Object.keys(gradient);
	const squares = names.map((name) => gradient[name].sumSquares());
	const norm = squares.reduce((a, b) => a.add(b)).sqrt();
	const factor = graph.div(plan.clip, norm.add(1e-6)).minimum(1);
	const [rate, epsilon, shrink, rareRate, rareEpsilon] = graph
		.input(scalars, [5])
		.split(0, [1, 1, 1, 1, 1])
		.map((x) => x.reshape([])) as [Tensor, Tensor, Tensor, Tensor, Tensor];
	const usual = { scalars: { rate, epsilon, shrink }, options: plan.optimizer };
	const rare = {
		scalars: { rate: rareRate, epsilon: rareEpsilon, shrink },
		options: rareOptions(plan.optimizer),
	};
	const specs = plan.model.weights(plan.config);
	const outputs: Record<string, Tensor> = { [gradientNorm]: norm };
	for (const name of names) {
		const weights = parameters[name];
		const kind = specs[name]?.rare ? rare : usual;
		const after = adamW(
			{
				parameter: weights,
				first: graph.parameter(firstOf(name), weights.shape),
				second: graph.parameter(secondOf(name), weights.shape),
			},
			kind === rare ? gradient[name] : gradient[name].mul(factor),
			kind.scalars,
			kind.options,
			specs[name]?.decays ?? weights.shape.length > 1,
		);
		outputs[next(name)] = isFrozen(plan, name)
			? withCodesOf(after.parameter, weights)
			: after.parameter;
		outputs[next(firstOf(name))] = after.first;
		outputs[next(secondOf(name))] = after.second;
	}
	return outputs;
}

/** Forward, backward and update in one graph. */
export function stepGraph(plan: StepPlan, shape: BatchShape): Graph {
	const { parameters, outputs, gradient, moving } = backward(plan, shape);
	return { outputs: { ...outputs, ...updates(plan, parameters, gradient), ...moving } };
}

/** Forward and backward; the gradients are added to those kept so far, if `goesOn`, or start anew. */
export function accumulateGraph(plan: StepPlan, shape: BatchShape): Graph {
	const { outputs, gradient, moving } = backward(plan, shape);
	const goesOn = graph.input("goesOn", [], "bool");
	const sums = Object.entries(gradient).map(([name, slope]) => {
		const kept = graph.parameter(gradientOf(name), plan.shapes.get(name) as FixedShape);
		return [next(gradientOf(name)), graph.where(goesOn, kept, 0).add(slope)] as const;
	});
	return { outputs: { ...outputs, ...Object.fromEntries(sums), ...moving } };
}

/** Forward and backward, with the gradients as outputs: processes that share a batch add them up. */
export function gradientGraph(plan: StepPlan, shape: BatchShape): Graph {
	const { outputs, gradient } = backward(plan, shape);
	const named = Object.entries(gradient).map(([name, slope]) => [gradientOf(name), slope] as const);
	return { outputs: { ...outputs, ...Object.fromEntries(named) } };
}

/** The update from gradients of batches of any shape, which were kept or are fed. */
export function applyGraph(plan: StepPlan, shape: BatchShape): Graph {
	const { parameters, total } = objectiveOf(plan, shape);
	const kept = Object.fromEntries(
		learned(plan, total, parameters).map((name) => [
			name,
			graph.parameter(gradientOf(name), plan.shapes.get(name) as FixedShape),
		]),
	);
	return { outputs: updates(plan, parameters, kept) };
}

/** The scalars of AdamW at a step. */
export function scalarFeeds(step: number, learningRate: number, optimizer: AdamWOptions) {
	const { rate, epsilon, shrink } = adamWScalars(step, learningRate, optimizer);
	const rare = adamWScalars(step, learningRate, rareOptions(optimizer));
	return { [scalars]: Float32Array.of(rate, epsilon, shrink, rare.rate, rare.epsilon) };
}

/** What scales each term, so that the step minimises the mean over its own targets. */
export const scaleFeeds = (targets: Readonly<Record<string, number>>) =>
	Object.fromEntries(
		Object.entries(targets).map(([term, count]) => [
			scaleOf(term),
			Float32Array.of(1 / Math.max(1, count)),
		]),
	);

export interface AdamWOptions {
	readonly beta1: number;
	readonly beta2: number;
	/**
	 * The same for weights that are learned from rare events. A short memory of squares forgets between two of them:
	 * each step without one would then count as much as a step with one, and the weights settle in the wrong place.
	 */
	readonly rareBeta2: number;
	readonly epsilon: number;
	readonly weightDecay: number;
}

export const adamWDefaults: AdamWOptions = {
	beta1: 0.9,
	beta2: 0.95,
	rareBeta2: 0.999,
	epsilon: 1e-8,
	weightDecay: 0.1,
};

/** What changes from step to step, as scalars of the graph. */
export type AdamWScalars = Readonly<Record<"rate" | "epsilon" | "shrink", Tensor>>;

/**
 * The scalars of step `step` (from 1). The moments are kept without their factors (1 − β), which
 * are folded in here with the corrections for their start at zero: two passes less over every weight.
 */
export function adamWScalars(
	step: number,
	learningRate: number,
	{ beta1, beta2, epsilon, weightDecay }: Omit<AdamWOptions, "rareBeta2">,
): { rate: number; epsilon: number; shrink: number } {
	const first = (1 - beta1) / (1 - beta1 ** step);
	const second = Math.sqrt((1 - beta2) / (1 - beta2 ** step));
	return {
		rate: (learningRate * first) / second,
		epsilon: epsilon / second,
		shrink: 1 - learningRate * weightDecay,
	};
}

export interface AdamWState {
	readonly parameter: Tensor;
	/** Σ β1ⁱ g, newest first. */
	readonly first: Tensor;
	/** Σ β2ⁱ g². */
	readonly second: Tensor;
}

/** One AdamW update with decoupled weight decay (Loshchilov & Hutter 2019). */
export function adamW(
	{ parameter, first, second }: AdamWState,
	gradient: Tensor,
	scalars: AdamWScalars,
	{ beta1, beta2 }: Pick<AdamWOptions, "beta1" | "beta2">,
	decays: boolean,
): AdamWState {
	const m = first.mul(beta1).add(gradient);
	const v = second.mul(beta2).add(gradient.mul(gradient));
	const kept = decays ? parameter.mul(scalars.shrink) : parameter;
	const update = m.div(v.sqrt().add(scalars.epsilon)).mul(scalars.rate);
	return { parameter: kept.sub(update), first: m, second: v };
}

/*
 * Tokens of one code, the ranges of its values, share what they learn. Otherwise ten ranges of a code would each have
 * to learn what the code means from a tenth of its records.
 */

/** Weights with a row per token. */
const ofTokens: readonly string[] = ["embedding", "head"];

/** How far the rows of one code lie apart at the start, as a part of the distance of two codes. */
const apart = 0.3;

/** The number of each token's code, from 0; undefined if every code has one token. */
export function codeNumbers({ tokens }: Vocabulary): Int32Array | undefined {
	const numbers = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token) => {
		const key = codeKey(token);
		if (!numbers.has(key)) numbers.set(key, numbers.size);
		return numbers.get(key) as number;
	});
	return numbers.size < tokens.length ? codes : undefined;
}

/** Weights in which the rows of a code's tokens begin near to that of the first. */
export function startTogether(weights: ParameterValues, codes: Int32Array): ParameterValues {
	return new Map(
		Array.from(weights, ([name, value]) => {
			if (!ofTokens.includes(name)) return [name, value];
			const width = value.shape[1];
			const first = new Map<number, number>();
			const data = value.data.map((draw, at) => {
				const token = Math.floor(at / width);
				const code = codes[token];
				if (!first.has(code)) first.set(code, token);
				const of = first.get(code) as number;
				return of === token ? draw : value.data[of * width + (at % width)] + apart * draw;
			});
			return [name, { ...value, data }];
		}),
	);
}

/** The weights with other embeddings of codes; special tokens keep theirs. */
export function withEmbeddings(
	weights: ParameterValues,
	embeddings: Float32Array,
): ParameterValues {
	const drawn = weights.get("embedding");
	if (!drawn) throw new Error("the model has no embeddings");
	const { shape, data } = drawn;
	const special = specialCount * (shape[1] as number);
	const values = Float32Array.from(embeddings);
	values.set(data.subarray(0, special));
	return new Map([...weights, ["embedding", { shape, data: values }]]);
}

/**
 * Adds to the gradient of a token's row those of all tokens of its code. A token's row then moves as if it were the
 * sum of a row of its code and one of its own.
 */
export function learnTogether(name: string, gradient: Tensor, codes: Int32Array): Tensor {
	if (!ofTokens.includes(name)) return gradient;
	const numbers = graph.constant(codes, [codes.length], "int32");
	const count = codes.reduce((most, code) => Math.max(most, code), 0) + 1;
	return gradient.add(graph.gather(graph.scatterAdd(gradient, numbers, count), numbers));
}

import type { z } from "zod";
import type { Random } from "../base/random.js";
import type { FixedShape, Tensor } from "../graph/index.js";
import type { Feeds, Runtime } from "../runtime/index.js";
import type { Predictor } from "./predictor.js";

/** Histories in rows of one length; what lies past a row's own length is padding. */
export interface EventBatch {
	readonly rows: number;
	readonly length: number;
	readonly tokens: Int32Array; // [rows, length]
	readonly times: Float64Array; // [rows, length]
	readonly lengths: Int32Array; // [rows]
}

export interface BatchShape {
	readonly rows: number;
	readonly length: number;
}

export interface Objective {
	/** The next event alone (the paper), or also one further ahead, up to `horizon` events. */
	readonly objective: "next" | "horizon";
	readonly horizon: number;
	/** Whether it is learned from: some models then behave otherwise than when they are asked. */
	readonly learning?: boolean;
}

/**
 * How a later event is reached: asked about at its time, by how many events ahead it is, or by steps
 * that feed back what they foretold.
 */
export const forecastMethods = ["time-specific", "by-order", "auto-regressive"] as const;
export type ForecastMethod = (typeof forecastMethods)[number];

export type ParameterValues = Map<
	string,
	{ readonly shape: FixedShape; readonly data: Float32Array }
>;
export type Parameters = Readonly<Record<string, Tensor>>;

/**
 * One part of the objective: Σ −log p over its targets, which are fed as weights; or a penalty of the
 * weights, which is there only while learning.
 */
export interface LossTerm {
	readonly name: string;
	readonly total: Tensor; // scalar
	/** New values of weights that are not learned by gradient, as running averages; only while learning. */
	readonly moving?: Readonly<Record<string, Tensor>>;
}

/** What a network leaves beside its views while it is learned from: see `LossTerm`. */
export interface SideOutputs {
	readonly moving: Record<string, Tensor>;
	readonly penalties: Record<string, Tensor>;
}

/** The values of a loss's inputs for one batch, and how many targets each term has. */
export interface LossFeeds {
	readonly feeds: Feeds;
	readonly targets: Readonly<Record<string, number>>;
}

/** The weights by which one head tells from a token how long to remember: a vector beside the token's own. */
export interface DecayVector {
	/** From 1, as is `head`. */
	readonly layer: number;
	readonly head: number;
	readonly vector: Float32Array; // [dim]
}

/** How its heads forget. */
export interface Forgetting<C> {
	/** Whether what a head holds fades with time, or with each further event. */
	per(config: C): "time" | "event";
	/** log γ at each slot, of one unit of time or of one event; fed by `viewFeeds`. */
	rates(config: C, parameters: Parameters, shape: BatchShape): Tensor; // [layers, rows, heads, length]
	/** Of the layer that reads the tokens' vectors themselves; none where tokens have no say. */
	vectors(config: C, weights: ParameterValues): readonly DecayVector[];
}

/** A model is a value: whoever trains or runs it never asks which one it holds. */
export interface Model<C = unknown> {
	readonly id: string;
	readonly name: string;
	readonly cite: string;
	/** Sizes and choices: defaults, help texts and the checkpoint's header come from it. */
	readonly config: z.ZodType<C>;
	readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	/** What it learns without labels; "none": the original is trained on each task from scratch. */
	readonly pretraining: "next" | "masked" | "none";
	readonly forecasting: {
		/** The first is its usual one. */
		readonly methods: readonly ForecastMethod[];
		/** What its weights have been through before it can. */
		readonly after: "pretraining" | "fine-tuning";
		/** Whether an answer also depends on the times of the questions put with it, later ones too. */
		readonly together?: boolean;
	};
	/** Whether an answer depends on the time asked about alone, not on how many events ahead it is. */
	readonly knowsTimes: boolean;
	/** Most events of a history that it can read at once; any number if left out. */
	context?(config: C): number;
	/** The setting that should be as long as the rows it is trained on. */
	readonly rowSetting?: string;
	/** The highest learning rate it likes, where that is not the usual. */
	readonly learningRate?: number;
	init(config: C, random: Random): ParameterValues;
	/**
	 * Of the event of each slot, from the events before it and its own time; fed by `viewFeeds`. Left
	 * out by models that do not foretell every event in one pass.
	 */
	logits?(config: C, parameters: Parameters, shape: BatchShape): Tensor; // [rows, length, vocab]
	/**
	 * What the head reads at each slot: the model's view of the history before it. Fed likewise. Whoever
	 * learns from it gives a place for side outputs.
	 */
	hidden(config: C, parameters: Parameters, shape: BatchShape, sideOutputs?: SideOutputs): Tensor; // [rows, length, dim]
	/** Names of the penalties it notes while it is learned from. */
	readonly penalties?: readonly string[];
	viewFeeds(config: C, batch: EventBatch): Feeds;
	loss(config: C, parameters: Parameters, shape: BatchShape, objective: Objective): LossTerm[];
	lossFeeds(config: C, batch: EventBatch, objective: Objective, random: Random): LossFeeds;
	/** How it learns to forecast, where that needs fine-tuning. */
	readonly ahead?: Pick<Model<C>, "loss" | "lossFeeds">;
	/** Weights that are not learned by gradient. */
	moving?(config: C): ReadonlySet<string>;
	/** Answers questions from histories; the caller disposes of it. */
	predictor(runtime: Runtime, config: C, weights: ParameterValues): Predictor;
	/** Of models whose heads forget at a rate. */
	readonly forgetting?: Forgetting<C>;
}

import type { z } from "zod";
import type { Random } from "../base/random.js";
import type { RowSource } from "../data/cohort/batches.js";
import type { Feeds, Runtime } from "../engine/runtime/index.js";
import type { FixedShape, Tensor } from "../engine/tensor/index.js";
import type { WeightSpecs, Weights } from "./nn/weights.js";
import type { FutureSteps, Predictor } from "./predictor.js";

/** Histories in rows of one length; what lies past a row's own length is padding. */
export interface EventBatch {
	readonly rows: number;
	readonly length: number;
	readonly tokens: Int32Array; // [rows, length]
	readonly times: Float64Array; // [rows, length]
	readonly lengths: Int32Array; // [rows]
	/** The patients the rows are of; left out where nobody needs to know more than the rows. */
	readonly sources?: readonly (RowSource | undefined)[]; // [rows]
}

export type BatchShape = Pick<EventBatch, "rows" | "length">;

/**
 * How a later event is reached: asked about at its time, by how many events ahead it is, or by steps
 * that feed back what they foretold.
 */
export const forecastMethods = ["time-specific", "by-order", "auto-regressive"] as const;
export type ForecastMethod = (typeof forecastMethods)[number];

/** The objectives that a user can choose. */
export const objectiveNames = ["next", "horizon", "visits"] as const;
export type ObjectiveName = (typeof objectiveNames)[number];

export type ParameterValues = Map<
	string,
	{ readonly shape: FixedShape; readonly data: Float32Array }
>;
export type Parameters = Readonly<Record<string, Tensor>>;

/**
 * Hidden states that an objective needs of a batch:
 * - "slots": one per event, from the events before it and its own time;
 * - queries at later times, from what is known at landmarks: one per slot, one at the end of each row
 *   (which knows all but the row's last event), or so many per row;
 * - places of windows that are read as a whole, in one of the views that the network has of them.
 */
export type Stream = "slots" | QueryStream | PositionStream;

/** The name is the prefix of its inputs. */
export interface QueryStream {
	readonly name: string;
	readonly landmarks: "each slot" | "end" | number;
	/** Per landmark. */
	readonly queries: number;
	/** Whether only their hidden states are read: their logits need not be computed. */
	readonly hiddenOnly?: true;
}

export const landmarksPerRow = ({ landmarks }: QueryStream, length: number): number =>
	landmarks === "each slot" ? length : landmarks === "end" ? 1 : landmarks;

export interface PositionStream {
	readonly name: string;
	/** Per row. */
	readonly windows: number;
	readonly view: string;
}

/** Where a history is cut: how many of its events are known, and the times of the queries that follow them. */
export interface Landmark {
	readonly known: number;
	readonly times: readonly number[];
}

/** What a network makes of a stream, in order of rows, landmarks and queries (or places). */
export interface States {
	readonly hidden: Tensor; // [a, b, dim]
	/** Of the next code; not to be read of streams that are `hiddenOnly`. */
	readonly logits: Tensor; // [a, b, vocab]
}

/** Reads hidden states with weights of its own. */
export interface Head<C> {
	weights(config: C): WeightSpecs;
	outputs(p: Weights, hidden: Tensor): Tensor; // [any, dim] → [any, outputs]
}

/** Gives the values of a stream's inputs; `landmarks` are those of each row, and of slots none. */
type Fill = (stream: Stream, landmarks?: readonly (readonly Landmark[])[]) => Feeds;

/** What a network leaves beside its states while it learns. */
export interface SideOutputs {
	/** New values of weights that are not learned by gradient, as running averages. */
	readonly moving: Record<string, Tensor>;
	/** Further terms of the loss, scalars that are no −log p; left out of validation. */
	readonly penalties: Record<string, Tensor>;
}

/** The weights by which one head tells from a token how long to remember: a vector beside the token's own. */
export interface DecayVector {
	/** From 1, as is `head`. */
	readonly layer: number;
	readonly head: number;
	readonly vector: Float32Array; // [dim]
}

interface HeadDecay<C> {
	/** Whether what a head holds fades with time, or with each further event. */
	per(config: C): "time" | "event";
	/** log γ at each slot, of one unit of time or of one event; fed as the slots are. */
	rates(config: C, parameters: Parameters, shape: BatchShape): Tensor; // [layers, rows, heads, length]
	/** Of the layer that reads the tokens' vectors themselves; none where tokens have no say. */
	vectors(config: C, weights: ParameterValues): readonly DecayVector[];
}

export interface Description<C> {
	readonly id: string;
	readonly name: string;
	readonly cite: string;
	/** Sizes and choices: defaults, help texts and the checkpoint's header come from it. */
	readonly config: z.ZodType<C>;
	readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	/** The highest learning rate, where it is not the usual one. */
	readonly learningRate?: number;
	/** By preset, where it differs from `learningRate`. */
	readonly learningRates?: Readonly<Record<string, number>>;
	/** Presets from small to large, each with the number of training patients from which it is suggested. */
	readonly suggestedFrom?: Readonly<Record<string, number>>;
}

/** What reads histories: hidden states for training, and a predictor. */
export interface Network<C = unknown> extends Description<C> {
	/** What it learns without labels; "none": the original is trained on each task from scratch. */
	readonly pretraining: "next" | "masked" | "none";
	readonly forecasting: {
		/** The first is its usual one. */
		readonly methods: readonly ForecastMethod[];
		/** What its weights have been through before it can. */
		readonly after: "pretraining" | "fine-tuning";
		/** Whether a prediction also depends on the times of the other queries, later ones too. */
		readonly queriesInteract?: boolean;
	};
	/** Whether a prediction depends on the query time alone, not on how many events ahead it is. */
	readonly usesQueryTime: boolean;
	/** Whether "slots" predict: each event from those before it, in one pass. */
	readonly predictsEachEvent: boolean;
	/** Most events of a history that it can read at once; any number if left out. */
	context?(config: C): number;
	/** The setting that should be as long as the rows it is trained on. */
	readonly lengthSetting?: string;
	/** Names of the penalties it notes while it learns. */
	readonly penalties?: readonly string[];
	/** What it is trained on, by the objective that the user chose. */
	readonly objectives: Readonly<Record<ObjectiveName, readonly Objective<C>[]>>;
	/** What it is fine-tuned on to forecast. */
	readonly ahead?: readonly Objective<C>[];
	/** Its own, and those of the next-code head. */
	weights(config: C): WeightSpecs;
	/** All streams in one pass; side outputs are noted where there is a place for them. */
	states(
		config: C,
		parameters: Parameters,
		shape: BatchShape,
		streams: readonly Stream[],
		side?: SideOutputs,
	): readonly States[];
	/** The values of the inputs of `states`, whose rows have so many places: as many as those of the batch. */
	filler(config: C, batch: EventBatch, places?: number): Fill;
	/** Queries that are answered at once, where their number is fixed. */
	queriesAtOnce?(config: C): number;
	/** Answers queries from histories; the caller disposes of it. If left out, each query reads the history anew. */
	predictor?(runtime: Runtime, config: C, weights: ParameterValues): Predictor;
	/** Moves the states of sampled futures on; the caller disposes of it. For networks with a state, if they have hazards. */
	futureSteps?(runtime: Runtime, config: C, weights: ParameterValues): FutureSteps;
	/**
	 * Hidden states so many days after index days, from states of the predictor that are followed by events of any
	 * number, in a program of open sizes: inputs are the memory of the states, their `last.token` and `last.time`
	 * [batch, 1], the events as `tokens`, `times` and `mask` [batch, length], and the index days `at` [batch].
	 * Undefined where the settings need fixed sizes.
	 */
	statesAfterMore?(
		config: C,
		parameters: Parameters,
		days: readonly number[],
	): StatesAfterMore | undefined;
	/** Of networks whose heads forget at a rate. */
	readonly decay?: HeadDecay<C>;
}

export interface StatesAfterMore {
	readonly hidden: Tensor; // [batch, days, dim]
	readonly memory: readonly MemoryPart[];
}

/** An array of a state's memory, with so many numbers per patient. */
export interface MemoryPart {
	readonly name: string;
	readonly width: number;
}

/** A model is a value: whoever trains or runs it never asks which one it holds. */
export interface Model<C = unknown> extends Network<C> {
	init(config: C, random: Random): ParameterValues;
	predictor(runtime: Runtime, config: C, weights: ParameterValues): Predictor;
}

/** One part of the loss: Σ −log p over its targets, which are fed as weights; or a penalty. */
export interface LossTerm {
	readonly name: string;
	readonly total: Tensor; // scalar
	/** Of first records: what `chosenGains` needs. */
	readonly onsetsByGain?: () => Tensor; // [outputs, gains + 1]
}

/** The values of a loss's inputs for one batch, and how many targets each term has. */
interface LossFeeds {
	readonly feeds: Feeds;
	readonly targets: Readonly<Record<string, number>>;
}

export interface Draw {
	readonly random: Random;
	/** Farthest event ahead that is predicted. */
	readonly horizon: number;
}

/** Something to learn, by any network that has the streams it needs. */
export interface Objective<C = unknown> {
	streams(config: C, shape: BatchShape): readonly Stream[];
	/** Of the states of its streams, in their order. */
	terms(
		config: C,
		parameters: Parameters,
		states: readonly States[],
		shape: BatchShape,
	): readonly LossTerm[];
	feeds(config: C, batch: EventBatch, draw: Draw, fill: Fill): LossFeeds;
}

/** The same objective with draws of its own. */
export const forked = <C>(name: string, objective: Objective<C>): Objective<C> => ({
	...objective,
	feeds: (config, batch, { horizon, random }, fill) =>
		objective.feeds(config, batch, { horizon, random: random.fork(name) }, fill),
});

/** All terms of the objectives in one pass; while learning, also penalties and what moves by other means than gradients. */
export function lossTerms<C>(
	network: Network<C>,
	config: C,
	objectives: readonly Objective<C>[],
	parameters: Parameters,
	shape: BatchShape,
	learning: boolean,
): { readonly terms: readonly LossTerm[]; readonly moving: SideOutputs["moving"] } {
	const side: SideOutputs = { moving: {}, penalties: {} };
	const streams = objectives.map((objective) => objective.streams(config, shape));
	const states = [
		...network.states(config, parameters, shape, streams.flat(), learning ? side : undefined),
	];
	const terms = objectives.flatMap((objective, i) =>
		objective.terms(config, parameters, states.splice(0, streams[i]?.length), shape),
	);
	const penalties = Object.entries(side.penalties).map(([name, total]) => ({ name, total }));
	return { terms: [...terms, ...penalties], moving: side.moving };
}

/** What `lossTerms` is fed. */
export function lossFeeds<C>(
	network: Network<C>,
	config: C,
	objectives: readonly Objective<C>[],
	batch: EventBatch,
	draw: Draw,
	learning: boolean,
): LossFeeds {
	const fill = network.filler(config, batch);
	const parts = objectives.map((objective) => objective.feeds(config, batch, draw, fill));
	// One of each per batch.
	const penalties = learning ? (network.penalties ?? []).map((name) => [name, 1] as const) : [];
	return {
		feeds: Object.assign({}, ...parts.map(({ feeds }) => feeds)),
		targets: Object.assign(
			{},
			...parts.map(({ targets }) => targets),
			Object.fromEntries(penalties),
		),
	};
}

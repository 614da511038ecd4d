import type { Random } from "../base/random.js";
import type { Feeds } from "../engine/runtime/index.js";
import type { Tensor } from "../engine/tensor/index.js";
import type {
	BatchShape,
	EventBatch,
	Fill,
	Network,
	Parameters,
	SideOutputs,
	States,
	Stream,
} from "./model.js";

/** One part of the loss: Σ −log p over its targets, which are fed as weights; or a penalty. */
export interface LossTerm {
	readonly name: string;
	readonly total: Tensor; // scalar
}

/** The values of a loss's inputs for one batch, and how many targets each term has. */
export interface LossFeeds {
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

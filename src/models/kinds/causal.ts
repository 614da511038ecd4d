import type { z } from "zod";
import type { Random } from "../../base/random.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { expand, gather, input, reshape, type Tensor } from "../../graph/index.js";
import { drawWeights, type WeightSpecs, type Weights, weightsOf } from "../../nn/weights.js";
import type { BatchShape, EventBatch, Model, Parameters } from "../model.js";
import { emptyTargets, type HeadConfig, logitsOf, lossTerm, tokenWeights } from "./head.js";
import { historyPredictor } from "./history-predictor.js";
import {
	type Asked,
	askedInputs,
	butLast,
	emptyRows,
	eventsOf,
	type Observed,
	observedInputs,
	type Rows,
	type Seen,
} from "./observed.js";

export interface CausalConfig extends HeadConfig {
	readonly positions?: number;
}

/** The places that questions are asked from: each has one of its own, or the last of a row has all. */
export interface From {
	readonly each: boolean;
	/** Of what there is at every place, what is at that of each question. */
	at(x: Tensor): Tensor; // [rows, places, any] → [rows, questions, any]
}

/** A network that reads a history event by event, and knows something after each. */
interface Described<C extends CausalConfig> {
	readonly id: string;
	readonly name: string;
	readonly cite: string;
	readonly config: z.ZodType<C>;
	readonly presets: Model["presets"];
	/** "none": the original is trained on each task from scratch. */
	readonly pretraining: "next" | "none";
	/** The setting that says how many events it can read; any number if left out. */
	readonly context?: "positions";
	readonly learningRate?: number;
	/** Given, the output reads the tokens' own vectors, which start with this deviation. */
	readonly tied?: { readonly deviation: number };
	/** Its own weights; `embedding` and `head` are added. */
	weights(config: C): WeightSpecs;
}

/** It does not know of the times asked about. */
interface Timeless<C extends CausalConfig> extends Described<C> {
	/** What the head reads after each place, from it and from those before it alone. */
	observe(config: C, p: Weights, observed: Observed): Tensor; // [rows, places, dim]
	readonly ask?: undefined;
}

interface Timely<C extends CausalConfig, K> extends Described<C> {
	/** What is known after each place, from it and from those before it alone. */
	observe(config: C, p: Weights, observed: Observed): K;
	/** What the head reads when it is asked about a time. */
	ask(config: C, p: Weights, known: K, asked: Asked, from: From): Tensor; // [rows, questions, dim]
}

export type CausalNetwork<C extends CausalConfig, K> = Timeless<C> | Timely<C, K>;

/** Reads places once, for questions of any number. */
function reader<C extends CausalConfig, K>(
	network: CausalNetwork<C, K>,
	config: C,
	p: Weights,
	observed: Observed,
): (asked: Asked, from: From) => Tensor {
	if (!network.ask) {
		const known = network.observe(config, p, observed);
		return (_, from) => from.at(known);
	}
	const { ask } = network;
	const known = network.observe(config, p, observed);
	return (asked, from) => ask(config, p, known, asked, from);
}

const fromEach: From = { each: true, at: (x) => x };

/** `ends`: row · places + its last real place. */
const fromLast = (ends: Tensor, questions: number): From => ({
	each: false,
	at(x) {
		const [rows, places, width] = x.shape as [number, number, number];
		const last = gather(reshape(x, [rows * places, width]), ends); // [rows, width]
		return expand(reshape(last, [rows, 1, width]), [rows, questions, width]);
	},
});

/** Makes a model of a causal network: trained by the next event and, where it knows of times, by events further ahead. */
export function causalModel<C extends CausalConfig, K = Tensor>(
	network: CausalNetwork<C, K>,
): Model<C> {
	const tied = network.tied !== undefined;
	const weightsFor = (config: C) => ({
		...tokenWeights(config, network.tied),
		...network.weights(config),
	});
	const dtypeOf = (parameters: Parameters) => parameters.embedding?.dtype ?? "float32";
	/** What the head reads for streams of questions, one from each place. */
	const views = (config: C, parameters: Parameters, { rows, length }: BatchShape) => {
		const dtype = dtypeOf(parameters);
		const observed = observedInputs("seen", rows, length, dtype);
		const read = reader(network, config, weightsOf(parameters), observed);
		return (stream: "next" | "horizon") => read(askedInputs(stream, rows, length, dtype), fromEach);
	};
	const readable = ({ positions }: C) => positions ?? Number.POSITIVE_INFINITY;
	const looksAhead = (objective: string) => objective === "horizon" && network.ask !== undefined;

	/** Fills the places of a batch, and asks from place n about the event `ahead` places further on. */
	function fill(batch: EventBatch, streams: readonly Stream[]) {
		const { rows, length } = batch;
		const shape = { rows, places: length, padding: "after" } as const;
		const seen = emptyRows("seen", { ...shape, questions: 0 });
		const questions = streams.map(({ name }) =>
			emptyRows(name, { ...shape, places: 0, questions: length }),
		);
		const targets = streams.map(({ name }) => emptyTargets(name, rows * length));
		for (let row = 0; row < rows; row++) {
			const events = eventsOf(batch, row);
			const all = events.tokens.length;
			const { origin } = seen.see(row, butLast(events), events.times[0] ?? 0);
			for (let n = 0; n < all; n++) {
				const last = (n === 0 ? events.times[0] : events.times[n - 1]) as number;
				for (const [i, { ahead }] of streams.entries()) {
					const asked = n + ahead(all - 1 - n);
					const token = events.tokens[asked] as number;
					const from: Seen = { origin, last, start: 0, count: n + 1 };
					(questions[i] as Rows).ask(row, n, events.times[asked] as number, from);
					if (token >= specialCount) targets[i]?.expect(row * length + n, token);
				}
			}
		}
		const asks = network.ask ? questions.map(({ feeds }) => askedOnly(feeds)) : [];
		return {
			feeds: Object.assign({}, seen.feeds, ...asks, ...targets.map(({ feeds }) => feeds)),
			targets: Object.fromEntries(streams.map(({ name }, i) => [name, targets[i]?.count() ?? 0])),
		};
	}

	return {
		id: network.id,
		name: network.name,
		cite: network.cite,
		config: network.config,
		presets: network.presets,
		pretraining: network.pretraining,
		forecasting: {
			methods: network.ask ? ["time-specific", "auto-regressive"] : ["auto-regressive"],
			after: "pretraining",
		},
		knowsTimes: network.ask !== undefined,
		...(network.learningRate !== undefined && { learningRate: network.learningRate }),
		...(network.context && { context: readable, rowSetting: network.context }),
		init: (config, random) => drawWeights(weightsFor(config), random),
		hidden: (config, parameters, shape) => views(config, parameters, shape)("next"),
		logits: (config, parameters, shape) =>
			logitsOf(weightsOf(parameters), views(config, parameters, shape)("next"), tied),
		viewFeeds: (_config, batch) => fill(batch, [nextEvent]).feeds,
		loss(config, parameters, shape, { objective }) {
			const view = views(config, parameters, shape);
			const term = (stream: "next" | "horizon") =>
				lossTerm(stream, logitsOf(weightsOf(parameters), view(stream), tied));
			return looksAhead(objective) ? [term("next"), term("horizon")] : [term("next")];
		},
		lossFeeds(_config, batch, { objective, horizon }, random) {
			if (!looksAhead(objective)) return fill(batch, [nextEvent]);
			return fill(batch, [nextEvent, { name: "horizon", ahead: farAhead(horizon, random) }]);
		},
		predictor: (runtime, config, weights) =>
			historyPredictor(runtime, weights, {
				vocab: config.vocab,
				padding: "after",
				places: network.context ? { most: readable(config) } : {},
				knowsTimes: network.ask !== undefined,
				logits(parameters, observed, asked) {
					const p = weightsOf(parameters);
					const ends = input("ends", [observed.tokens.shape[0] as number], "int32");
					const questions = network.ask ? (asked.days.shape[1] as number) : 1;
					const read = reader(network, config, p, observed);
					return logitsOf(p, read(asked, fromLast(ends, questions)), tied);
				},
				more: (seen, places) => ({
					ends: Int32Array.from(seen, ({ count }, row) => row * places + count - 1),
				}),
			}),
	};
}

interface Stream {
	readonly name: "next" | "horizon";
	/** How many events further on, of those that are left. */
	ahead(left: number): number;
}

const nextEvent: Stream = { name: "next", ahead: () => 0 };

const farAhead = (horizon: number, random: Random) => (left: number) =>
	random.integer(Math.min(horizon, left) + 1);

const askedOnly = (feeds: Rows["feeds"]): Rows["feeds"] =>
	Object.fromEntries(Object.entries(feeds).filter(([name]) => name.includes(".asked")));

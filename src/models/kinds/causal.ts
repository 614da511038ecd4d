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
	readonly unitDays: number;
	readonly positions?: number;
}

/** A network that reads a history event by event, and knows something after each. */
export interface CausalNetwork<C extends CausalConfig> {
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
	/** What is known after each place, from it and from those before it alone. */
	observe(config: C, p: Weights, observed: Observed): Tensor; // [rows, places, any]
	/**
	 * What the head reads when, with something known, it is asked about a time: question i of a row
	 * from `known` i. Without it a network does not know of the times asked about: the head reads
	 * what is known.
	 */
	ask?(config: C, p: Weights, known: Tensor, asked: Asked): Tensor; // [rows, questions, dim]
}

/** Makes a model of a causal network: trained by the next event and, where it knows of times, by events further ahead. */
export function causalModel<C extends CausalConfig>(network: CausalNetwork<C>): Model<C> {
	const tied = network.tied !== undefined;
	const weightsFor = (config: C) => ({
		...tokenWeights(config, network.tied),
		...network.weights(config),
	});
	const dtypeOf = (parameters: Parameters) => parameters.embedding?.dtype ?? "float32";
	const known = (config: C, parameters: Parameters, { rows, length }: BatchShape) =>
		network.observe(
			config,
			weightsOf(parameters),
			observedInputs("seen", rows, length, dtypeOf(parameters)),
		);
	/** The views of one stream of questions, one from each place. */
	const viewed = (
		config: C,
		parameters: Parameters,
		{ rows, length }: BatchShape,
		stream: "next" | "horizon",
		from: Tensor,
	) =>
		network.ask
			? network.ask(
					config,
					weightsOf(parameters),
					from,
					askedInputs(stream, rows, length, dtypeOf(parameters)),
				)
			: from;
	const readable = ({ positions }: C) => positions ?? Number.POSITIVE_INFINITY;
	const looksAhead = (objective: string) => objective === "horizon" && network.ask !== undefined;

	/** Fills the places of a batch, and asks from place n about the event `ahead` places further on. */
	function fill(batch: EventBatch, config: C, streams: readonly Stream[]) {
		const { rows, length } = batch;
		const shape = { rows, places: length, unitDays: config.unitDays, padding: "after" } as const;
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
		hidden: (config, parameters, shape) =>
			viewed(config, parameters, shape, "next", known(config, parameters, shape)),
		logits: (config, parameters, shape) =>
			logitsOf(
				weightsOf(parameters),
				viewed(config, parameters, shape, "next", known(config, parameters, shape)),
				tied,
			),
		viewFeeds: (config, batch) => fill(batch, config, [nextEvent]).feeds,
		loss(config, parameters, shape, { objective }) {
			const from = known(config, parameters, shape);
			const term = (stream: "next" | "horizon") =>
				lossTerm(
					stream,
					logitsOf(weightsOf(parameters), viewed(config, parameters, shape, stream, from), tied),
				);
			return looksAhead(objective) ? [term("next"), term("horizon")] : [term("next")];
		},
		lossFeeds(config, batch, { objective, horizon }, random) {
			if (!looksAhead(objective)) return fill(batch, config, [nextEvent]);
			return fill(batch, config, [
				nextEvent,
				{ name: "horizon", ahead: farAhead(horizon, random) },
			]);
		},
		predictor: (runtime, config, weights) =>
			historyPredictor(runtime, weights, {
				vocab: config.vocab,
				unitDays: config.unitDays,
				padding: "after",
				places: network.context ? { most: readable(config) } : {},
				knowsTimes: network.ask !== undefined,
				logits(parameters, observed, asked) {
					const p = weightsOf(parameters);
					const found = network.observe(config, p, observed); // [rows, places, any]
					const [rows, places, width] = found.shape as [number, number, number];
					const ends = input("ends", [rows], "int32"); // row · places + its last real place
					const last = reshape(gather(reshape(found, [rows * places, width]), ends), [
						rows,
						1,
						width,
					]);
					if (!network.ask) return logitsOf(p, last, tied);
					const questions = asked.days.shape[1] as number;
					const from = expand(last, [rows, questions, width]);
					return logitsOf(p, network.ask(config, p, from, asked), tied);
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

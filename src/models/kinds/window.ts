import type { z } from "zod";
import type { Random } from "../../base/random.js";
import { specialCount } from "../../cohort/vocabulary.js";
import { gather, input, mul, reshape, type Tensor } from "../../graph/index.js";
import { drawWeights, type WeightSpecs, type Weights, weightsOf } from "../../nn/weights.js";
import type { BatchShape, EventBatch, LossTerm, Model, Parameters } from "../model.js";
import { emptyTargets, type HeadConfig, logitsOf, lossTerm, tokenWeights } from "./head.js";
import { historyPredictor } from "./history-predictor.js";
import {
	type Asked,
	askedInputs,
	butLast,
	emptyRows,
	eventsOf,
	firstOf,
	type Observed,
	observedInputs,
} from "./observed.js";

export interface WindowConfig extends HeadConfig {
	/** Places it reads. */
	readonly window: number;
	/** Questions it answers at once. */
	readonly ahead: number;
	/** Windows drawn from a row in training, for each that fits into it; 1 if left out. */
	readonly windows?: number;
}

/** Views of places that are held against the tokens beside them. */
export interface Neighbours<C> {
	/** By the name of a view: which token it foretells at each place. */
	readonly predicts: Readonly<Record<string, "next" | "previous">>;
	views(config: C, p: Weights, window: Window): Readonly<Record<string, Tensor>>; // [rows, window, dim]
}

/** New values of weights that are not learned by gradient; noted while learning. */
export type Moving = Record<string, Tensor>;

/** Further terms of the loss, scalars that are no −log p; noted while learning, and left out of validation. */
export type Penalties = Record<string, Tensor>;

/**
 * A network that reads a window of events at once, the last of them at its last place, and answers
 * questions about what comes after it.
 */
export interface WindowNetwork<C extends WindowConfig> {
	readonly id: string;
	readonly name: string;
	readonly cite: string;
	readonly config: z.ZodType<C>;
	readonly presets: Model["presets"];
	/**
	 * What it learns without labels: the tokens of places that were masked, views of its own, or
	 * nothing (it is trained on each task from scratch).
	 */
	readonly pretraining: "masked" | "none" | Neighbours<C>;
	/** How many neighbouring places are masked as one, counted from the window's end; 1 if left out. */
	maskBy?(config: C): number;
	/** Whether it learns to answer beside that, or only when it is fine-tuned to it. */
	readonly forecasts: "after pretraining" | "after fine-tuning";
	readonly learningRate?: number;
	/** Whether its answers depend on the times asked about, or on how many events ahead they are. */
	readonly knowsTimes: boolean;
	/** Whether an answer also depends on the times of the other questions. */
	readonly together?: boolean;
	/** Its own weights; `embedding` and `head` are added. */
	weights(config: C): WeightSpecs;
	/** Names of the penalties that `encode` notes of windows that are asked about, weighted as they are to count. */
	readonly penalties?: readonly string[];
	/**
	 * A view of each place. Where a place is masked or not real its embedding must be 0: begin with
	 * `embedded`. `moving` and `penalties` are there while it is learned from.
	 */
	encode(config: C, p: Weights, window: Window, moving?: Moving, penalties?: Penalties): Tensor; // [rows, window, dim]
	/** What the head reads of each place to say what was masked there; the views if left out. */
	restore?(config: C, p: Weights, encoded: Tensor): Tensor; // [rows, window, dim]
	/** What the head reads for each question; question i is about the i-th event ahead, at its time. */
	ask(
		config: C,
		p: Weights,
		encoded: Tensor,
		window: Window,
		asked: Asked,
		moving?: Moving,
	): Tensor; // [rows, ahead, dim]
}

export interface Window extends Observed {
	/** 1 where a place may be looked at, 0 where it is masked or not real. */
	readonly shown: Tensor; // [rows, window]
}

/** The vectors of the tokens, 0 where a place is not shown. */
export function embedded(p: Weights, { tokens, shown }: Window): Tensor {
	return mul(gather(p("embedding"), tokens), reshape(shown, [...shown.shape, 1]));
}

/** The part of the places that masked pre-training hides. */
const masked = 0.4;

/** Windows that are drawn from each row of a batch: with `windows` 1, about as many places as the row has. */
const windowsOf = (length: number, { window, windows = 1 }: WindowConfig) =>
	windows * Math.max(1, Math.round(length / window));

export function windowModel<C extends WindowConfig>(network: WindowNetwork<C>): Model<C> {
	const { pretraining, knowsTimes } = network;
	const weightsFor = (config: C): WeightSpecs => ({
		...tokenWeights(config, undefined),
		...network.weights(config),
	});
	const dtypeOf = (parameters: Parameters) => parameters.embedding?.dtype ?? "float32";
	/** The windows of a stream; only masking makes `shown` differ from `real`. */
	const windowInputs = (
		stream: string,
		rows: number,
		config: C,
		parameters: Parameters,
	): Window => {
		const observed = observedInputs(stream, rows, config.window, dtypeOf(parameters));
		if (stream !== "masked") return { ...observed, shown: observed.real };
		return {
			...observed,
			shown: input(`${stream}.shown`, [rows, config.window], dtypeOf(parameters)),
		};
	};
	const drawn = ({ rows, length }: BatchShape, config: C) => rows * windowsOf(length, config);

	const ahead: NonNullable<Model<C>["ahead"]> = {
		loss(config, parameters, shape, { learning }) {
			const moving: Moving | undefined = learning ? {} : undefined;
			const penalties: Penalties | undefined = learning ? {} : undefined;
			const p = weightsOf(parameters);
			const rows = drawn(shape, config);
			const window = windowInputs("ahead", rows, config, parameters);
			const asked = askedInputs("ahead", rows, config.ahead, dtypeOf(parameters));
			const encoded = network.encode(config, p, window, moving, penalties);
			const views = network.ask(config, p, encoded, window, asked, moving);
			return [
				{ ...lossTerm("ahead", logitsOf(p, views, false)), ...(moving && { moving }) },
				...Object.entries(penalties ?? {}).map(([name, total]) => ({ name, total })),
			];
		},
		lossFeeds(config, batch, { horizon, learning }, random) {
			const rows = drawn(batch, config);
			const each = rows / batch.rows;
			const { window, ahead: questions } = config;
			const seen = emptyRows("ahead", {
				...{ rows, places: window, questions, padding: "before" },
			});
			const targets = emptyTargets("ahead", rows * questions);
			for (let row = 0; row < rows; row++) {
				const events = eventsOf(batch, Math.floor(row / each));
				const all = events.tokens.length;
				const cut = all < 2 ? 0 : 1 + random.integer(all - 1);
				const own = seen.see(row, firstOf(events, cut), events.times[0] ?? 0);
				const places = knowsTimes
					? someAhead(Math.min(Math.max(horizon, questions), all - cut), questions, random)
					: Array.from({ length: Math.min(questions, all - cut) }, (_, i) => i);
				for (let i = 0; i < questions; i++) {
					// Past the row's end a question is asked again, and does not count.
					const at = cut + (places[Math.min(i, places.length - 1)] ?? 0);
					seen.ask(row, i, events.times[Math.min(at, all - 1)] ?? 0, own);
					const token = events.tokens[at];
					if (i < places.length && token !== undefined && token >= specialCount)
						targets.expect(row * questions + i, token);
				}
			}
			return {
				feeds: { ...seen.feeds, ...targets.feeds },
				targets: {
					ahead: targets.count(),
					// One of each a batch.
					...(learning && Object.fromEntries((network.penalties ?? []).map((name) => [name, 1]))),
				},
			};
		},
	};

	/** The terms of what is learned without labels, from windows anywhere in a history. */
	const unlabelled = (
		config: C,
		parameters: Parameters,
		shape: BatchShape,
		learning: boolean | undefined,
	): LossTerm[] => {
		if (pretraining === "none") return [];
		const p = weightsOf(parameters);
		const rows = drawn(shape, config);
		if (pretraining !== "masked") {
			const window = windowInputs("read", rows, config, parameters);
			return Object.entries(pretraining.views(config, p, window)).map(([name, hidden]) =>
				lossTerm(name, logitsOf(p, hidden, false)),
			);
		}
		const moving: Moving | undefined = learning ? {} : undefined;
		const window = windowInputs("masked", rows, config, parameters);
		const encoded = network.encode(config, p, window, moving);
		const views = network.restore?.(config, p, encoded) ?? encoded;
		return [{ ...lossTerm("masked", logitsOf(p, views, false)), ...(moving && { moving }) }];
	};

	const unlabelledFeeds = (config: C, batch: EventBatch, random: Random) => {
		if (pretraining === "none") return { feeds: {}, targets: {} };
		const rows = drawn(batch, config);
		const each = rows / batch.rows;
		const { window } = config;
		const stream = pretraining === "masked" ? "masked" : "read";
		const seen = emptyRows(stream, {
			...{ rows, places: window, questions: 0, padding: "before" },
		});
		const tokens = seen.feeds[`${stream}.tokens`] as Int32Array;
		const real = seen.feeds[`${stream}.real`] as Float32Array;
		for (let row = 0; row < rows; row++) {
			const events = eventsOf(batch, Math.floor(row / each));
			// Windows that end anywhere after the first is full, or with the history.
			const least = Math.min(events.tokens.length, window - 1);
			const end = least + random.integer(events.tokens.length - least + 1);
			seen.see(row, firstOf(events, end), events.times[0] ?? 0);
		}
		const isCode = (cell: number) => real[cell] === 1 && (tokens[cell] as number) >= specialCount;
		if (pretraining === "masked") {
			const shown = real.slice();
			const targets = emptyTargets("masked", rows * window);
			const together = network.maskBy?.(config) ?? 1;
			for (let row = 0; row < rows; row++)
				for (let to = window % together || together; to <= window; to += together) {
					const [from, until] = [Math.max(0, to - together), to].map((n) => row * window + n);
					const cells = cellsBetween(from as number, until as number).filter(isCode);
					if (cells.length === 0 || random.uniform() >= masked) continue;
					for (const cell of cells) targets.expect(cell, tokens[cell] as number);
					shown.fill(0, from, until);
				}
			return {
				feeds: { ...seen.feeds, ...targets.feeds, "masked.shown": shown },
				targets: { masked: targets.count() },
			};
		}
		const feeds = { ...seen.feeds };
		const counts: Record<string, number> = {};
		for (const [name, predicts] of Object.entries(pretraining.predicts)) {
			const targets = emptyTargets(name, rows * window);
			for (let cell = 0; cell < rows * window; cell++) {
				const beside = cell + (predicts === "next" ? 1 : -1);
				const sameRow = Math.floor(beside / window) === Math.floor(cell / window);
				if (sameRow && real[cell] === 1 && isCode(beside))
					targets.expect(cell, tokens[beside] as number);
			}
			Object.assign(feeds, targets.feeds);
			counts[name] = targets.count();
		}
		return { feeds, targets: counts };
	};

	const forecastsAtOnce = network.forecasts === "after pretraining";
	const moves = (config: C) =>
		new Set(
			Object.entries(weightsFor(config)).flatMap(([name, { moving }]) => (moving ? [name] : [])),
		);

	return {
		id: network.id,
		name: network.name,
		cite: network.cite,
		config: network.config,
		presets: network.presets,
		pretraining: typeof pretraining === "string" ? pretraining : "next",
		forecasting: {
			methods: [knowsTimes ? "time-specific" : "by-order"],
			after: forecastsAtOnce ? "pretraining" : "fine-tuning",
			...(network.together && { together: true }),
		},
		knowsTimes,
		...(network.learningRate !== undefined && { learningRate: network.learningRate }),
		context: (config) => config.window,
		init: (config, random) => drawWeights(weightsFor(config), random),
		moving: moves,
		...(network.penalties && { penalties: network.penalties }),
		hidden(config, parameters, { rows, length }, sideOutputs) {
			const window = windowInputs("viewed", rows, config, parameters);
			const p = weightsOf(parameters);
			const encoded = network.encode(
				config,
				p,
				window,
				sideOutputs?.moving,
				sideOutputs?.penalties,
			);
			const views = network.restore?.(config, p, encoded) ?? encoded;
			// Back to rows that begin with their first place.
			const order = input("viewed.order", [rows, length], "int32");
			return gather(reshape(views, [rows * config.window, -1]), order); // [rows, length, dim]
		},
		viewFeeds(config, batch) {
			const { rows, length } = batch;
			const { window } = config;
			const seen = emptyRows("viewed", {
				...{ rows, places: window, questions: 0, padding: "before" },
			});
			const order = new Int32Array(rows * length);
			for (let row = 0; row < rows; row++) {
				const events = eventsOf(batch, row);
				const { start, count } = seen.see(row, butLast(events), events.times[0] ?? 0);
				for (let n = 0; n < length; n++)
					order[row * length + n] = row * window + start + Math.min(n, count - 1);
			}
			return { ...seen.feeds, "viewed.order": order };
		},
		loss(config, parameters, shape, objective) {
			const terms = unlabelled(config, parameters, shape, objective.learning);
			return forecastsAtOnce
				? [...terms, ...ahead.loss(config, parameters, shape, objective)]
				: terms;
		},
		lossFeeds(config, batch, objective, random) {
			const own = unlabelledFeeds(config, batch, random.fork("unlabelled"));
			if (!forecastsAtOnce) return own;
			const further = ahead.lossFeeds(config, batch, objective, random.fork("ahead"));
			return {
				feeds: { ...own.feeds, ...further.feeds },
				targets: { ...own.targets, ...further.targets },
			};
		},
		ahead,
		predictor: (runtime, config, weights) =>
			historyPredictor(runtime, weights, {
				vocab: config.vocab,
				padding: "before",
				places: { always: config.window },
				questions: config.ahead,
				knowsTimes,
				logits(parameters, observed, asked) {
					const p = weightsOf(parameters);
					const window = { ...observed, shown: observed.real };
					const encoded = network.encode(config, p, window);
					return logitsOf(p, network.ask(config, p, encoded, window, asked), false);
				},
			}),
	};
}

const cellsBetween = (from: number, to: number): number[] =>
	Array.from({ length: to - from }, (_, i) => from + i);

/** At most `count` of the next `events`, in order. */
function someAhead(events: number, count: number, random: Random): number[] {
	const all = Array.from({ length: events }, (_, i) => i);
	return events <= count
		? all
		: random
				.shuffle(all)
				.slice(0, count)
				.sort((a, b) => a - b);
}

import { gather, input, type Tensor } from "../../engine/tensor/index.js";
import { codeHead } from "../heads.js";
import {
	type Description,
	forked,
	landmarksPerRow,
	type Model,
	type Objective,
	type PositionStream,
	type QueryStream,
	type SideOutputs,
	type Stream,
} from "../model.js";
import { modelFromNetwork } from "../model-from-network.js";
import { type WeightSpecs, type Weights, weightsOf } from "../nn/weights.js";
import { ahead, masked, neighbours, type WindowConfig } from "../objectives/events.js";
import { fields, integer } from "./fields.js";
import {
	eventsOf,
	firstOf,
	type Observed,
	observedInputs,
	observedRows,
	type Queries,
	queryInputs,
	queryRows,
	withoutLast,
} from "./observed.js";

export type { WindowConfig } from "../objectives/events.js";

/** Views of places that predict the tokens beside them. */
interface Neighbours<C> {
	/** By the name of a view: which token it predicts at each place. */
	readonly predicts: Readonly<Record<string, "next" | "previous">>;
	views(config: C, p: Weights, window: Window): Readonly<Record<string, Tensor>>; // [rows, window, dim]
}

/**
 * A network that reads a window of events at once, the last of them at its last place, and answers
 * queries about what comes after it.
 */
interface WindowNetwork<C extends WindowConfig> extends Description<C> {
	/**
	 * What it learns without labels: the tokens of places that were masked, views of its own, or
	 * nothing (it is trained on each task from scratch).
	 */
	readonly pretraining: "masked" | "none" | Neighbours<C>;
	/** How many neighbouring places are masked as one, counted from the window's end; 1 if left out. */
	maskBy?(config: C): number;
	/** Whether it learns to answer beside that, or only when it is fine-tuned to it. */
	readonly forecasts: "after pretraining" | "after fine-tuning";
	/** Whether predictions depend on the query times, or on how many events ahead they are. */
	readonly usesQueryTime: boolean;
	/** Whether a prediction also depends on the times of the other queries. */
	readonly queriesInteract?: boolean;
	/** Its own weights; `embedding` and `head` are added. */
	weights(config: C): WeightSpecs;
	/** Names of the penalties that `encode` notes, weighted as they are to count. */
	readonly penalties?: readonly string[];
	/**
	 * A hidden state for each place. Where a place is masked or padding its embedding must be 0: begin with
	 * `embedded`. Side outputs are noted while it learns.
	 */
	encode(config: C, p: Weights, window: Window, side?: SideOutputs): Tensor; // [rows, window, dim]
	/** What the head reads of each place to say what was masked there; its hidden state if left out. */
	restore?(config: C, p: Weights, encoded: Tensor): Tensor; // [rows, window, dim]
	/** The hidden state of each query; query i is about the i-th event ahead, at its time. */
	query(config: C, p: Weights, encoded: Tensor, window: Window, queries: Queries): Tensor; // [rows, ahead, dim]
}

export interface Window extends Observed {
	/** 1 where a position is visible, 0 where it is masked or padding. */
	readonly shown: Tensor; // [rows, window]
}

/** The vectors of the tokens, 0 where a place is not shown. */
export function embedded(p: Weights, { tokens, shown }: Window): Tensor {
	return gather(p("embedding"), tokens).mul(shown.reshape([...shown.shape, 1]));
}

export function windowModel<C extends WindowConfig>(network: WindowNetwork<C>): Model<C> {
	const { pretraining, usesQueryTime } = network;
	const head = codeHead();
	const forecastsAtOnce = network.forecasts === "after pretraining";
	const unlabelled: Objective<C>[] =
		pretraining === "none"
			? []
			: [pretraining === "masked" ? masked(network.maskBy) : neighbours(pretraining.predicts)];
	const objectives = [
		...unlabelled.map((objective) => forked("unlabelled", objective)),
		...(forecastsAtOnce ? [forked("ahead", ahead<C>(usesQueryTime))] : []),
	];
	/** Where predictions are by order there are always as many. */
	const queriesAtOnce = ({ queries }: QueryStream, config: C) =>
		usesQueryTime ? queries : config.ahead;
	const restored = (config: C, p: Weights, window: Window, side: SideOutputs | undefined) => {
		const encoded = network.encode(config, p, window, side);
		return network.restore?.(config, p, encoded) ?? encoded;
	};

	return modelFromNetwork<C>({
		...network,
		pretraining: typeof pretraining === "string" ? pretraining : "next",
		forecasting: {
			methods: [usesQueryTime ? "time-specific" : "by-order"],
			after: forecastsAtOnce ? "pretraining" : "fine-tuning",
			...(network.queriesInteract && { queriesInteract: true }),
		},
		usesQueryTime,
		predictsEachEvent: false,
		queriesAtOnce: (config) => config.ahead,
		context: (config) => config.window,
		objectives: { next: objectives, horizon: objectives, visits: objectives },
		ahead: [ahead(usesQueryTime)],
		weights: (config) => ({ ...head.weights(config), ...network.weights(config) }),
		states(config, parameters, { rows, length }, streams, side) {
			const p = weightsOf(parameters);
			const { dtype } = p("embedding");
			const inputs = (name: string, windows: number): Window => {
				const observed = observedInputs(name, windows, config.window, dtype);
				return { ...observed, shown: observed.mask };
			};
			const views = new Map<string, Readonly<Record<string, Tensor>>>();
			const viewsOf = ({ name, windows }: PositionStream) => {
				const window = inputs(name, rows * windows);
				const shown = () => input(`${name}.shown`, window.mask.shape, dtype);
				const made =
					views.get(name) ??
					(typeof pretraining === "object"
						? pretraining.views(config, p, window)
						: { masked: restored(config, p, { ...window, shown: shown() }, side) });
				views.set(name, made);
				return made;
			};
			const hiddenOf = (stream: Stream): Tensor => {
				if (stream === "slots") {
					const hidden = restored(config, p, inputs("viewed", rows), side);
					// Back to rows that begin with their first place.
					const order = input("viewed.order", [rows, length], "int32");
					return gather(hidden.reshape([rows * config.window, -1]), order); // [rows, length, dim]
				}
				if ("view" in stream) return viewsOf(stream)[stream.view];
				const windows = rows * landmarksPerRow(stream, length);
				const window = inputs(stream.name, windows);
				const queries = queryInputs(stream.name, windows, queriesAtOnce(stream, config), dtype);
				const encoded = network.encode(config, p, window, side);
				const hidden = network.query(config, p, encoded, window, queries);
				return hidden.slice(1, 0, stream.queries);
			};
			return streams.map((stream) => {
				const hidden = hiddenOf(stream);
				return { hidden, logits: head.outputs(p, hidden) };
			});
		},
		filler(config, batch) {
			const { window } = config;
			const { rows, length } = batch;
			return (stream, landmarks) => {
				if (stream === "slots") {
					const seen = observedRows("viewed", rows, window, "before");
					const order = new Int32Array(rows * length);
					for (let row = 0; row < rows; row++) {
						const events = eventsOf(batch, row);
						const { start, count } = seen.fillRow(row, withoutLast(events), events.times[0] ?? 0);
						for (let n = 0; n < length; n++)
							order[row * length + n] = row * window + start + Math.min(n, count - 1);
					}
					return { ...seen.feeds, "viewed.order": order };
				}
				const { name } = stream;
				const places = "view" in stream;
				const windows = places ? stream.windows : landmarksPerRow(stream, length);
				const queries = places ? 0 : queriesAtOnce(stream, config);
				const seen = observedRows(name, rows * windows, window, "before");
				const put = queryRows(name, rows * windows, queries);
				for (let at = 0; at < rows * windows; at++) {
					const row = Math.floor(at / windows);
					const events = eventsOf(batch, row);
					const { known = 0, times = [] } = landmarks?.[row]?.[at % windows] ?? {};
					const filled = seen.fillRow(at, firstOf(events, known), events.times[0] ?? 0);
					for (let i = 0; i < queries; i++)
						put.fillQuery(at, i, times[Math.min(i, times.length - 1)] ?? 0, filled);
				}
				return { ...seen.feeds, ...put.feeds };
			};
		},
	});
}

/** Settings of models whose decoder predicts all queries at once. */
export const encoderDecoderFields = {
	window: fields.window,
	ahead: fields.ahead,
	layers: fields.layers(2).describe("layers of the encoder"),
	decoderLayers: fields.layers(2).describe("layers of the decoder"),
	heads: fields.heads(4),
	dim: fields.dim(96),
	ff: fields.ff(384),
	start: integer(
		1,
		4096,
		26,
		"last places of the window that the decoder begins with; at most the window",
	),
};

export interface EncoderDecoderConfig extends WindowConfig {
	readonly layers: number;
	readonly decoderLayers: number;
	readonly heads: number;
	readonly ff: number;
	readonly start: number;
}

const presets = {
	tiny: { layers: 2, decoderLayers: 1, dim: 64, ff: 256 },
	default: {},
	paper: { layers: 4, decoderLayers: 4, dim: 200, ff: 400 },
};

/** A network whose decoder predicts all queries at once from the encoded window. */
interface EncoderDecoder<C extends WindowConfig, E>
	extends Pick<WindowNetwork<C>, "id" | "name" | "cite" | "config" | "learningRates"> {
	weights(config: C): WeightSpecs;
	encoder(config: C, p: Weights, window: Window): E;
	/** Of each place. */
	views(p: Weights, encoded: E): Tensor; // [rows, window, dim]
	/** The hidden state of each query. */
	decoder(config: C, p: Weights, encoded: E, window: Window, queries: Queries): Tensor; // [rows, ahead, dim]
}

export const encoderDecoderModel = <C extends WindowConfig, E>({
	encoder,
	views,
	decoder,
	...described
}: EncoderDecoder<C, E>): Model<C> =>
	windowModel<C>({
		...described,
		presets,
		pretraining: "masked",
		forecasts: "after pretraining",
		// Query times are inputs, but each query is about the event after that of the query before.
		usesQueryTime: false,
		// Delays, modes and the queries that attend are chosen by all places.
		queriesInteract: true,
		encode: (config, p, window) => views(p, encoder(config, p, window)),
		// Views of places are not what the decoder looks at.
		query: (config, p, _, window, queries) =>
			decoder(config, p, encoder(config, p, window), window, queries),
	});

import { gather, input, type Tensor } from "../../engine/tensor/index.js";
import { type CodeConfig, codeHead, type Tied } from "../heads.js";
import {
	type Description,
	landmarksPerRow,
	type Model,
	type QueryStream,
	type Stream,
} from "../model.js";
import { modelFromNetwork } from "../model-from-network.js";
import { type WeightSpecs, type Weights, weightsOf } from "../nn/weights.js";
import { horizon, next, visits } from "../objectives/events.js";
import {
	eventsOf,
	type Observed,
	observedInputs,
	observedRows,
	type Queries,
	queryInputs,
	queryRows,
	withoutLast,
} from "./observed.js";

interface CausalConfig extends CodeConfig {
	readonly positions?: number;
}

/** The places that queries read from: each has one of its own, they name theirs, or all have a row's last. */
interface From {
	readonly each: boolean;
	/** How many places come up to that of each query. */
	readonly positions?: Tensor; // [rows, queries], int32
	/** Of what there is at every place, what is at that of each query. */
	at(x: Tensor): Tensor; // [rows, places, any] → [rows, queries, any]
}

/** A network that reads a history event by event, and knows something after each. */
interface CausalNetwork<C extends CausalConfig, K> extends Description<C> {
	/** "none": the original is trained on each task from scratch. */
	readonly pretraining: "next" | "none";
	/** The setting that says how many events it can read; any number if left out. */
	readonly lengthSetting?: "positions";
	/** Given, the output reads the tokens' own vectors. */
	readonly tied?: Tied;
	/** Its own weights; `embedding` and `head` are added. */
	weights(config: C): WeightSpecs;
	/** What is known after each position, from it and the positions before it: a hidden state, if there is no `query`. */
	observe(config: C, p: Weights, observed: Observed): K; // [rows, places, dim]
	/** The hidden state at query times; left out if it does not use them. */
	query?(config: C, p: Weights, known: K, queries: Queries, from: From): Tensor; // [rows, queries, dim]
}

const fromEach: From = { each: true, at: (x) => x };

/** So many queries from each of some places: `ends` are row · places + place. */
const fromPlaces = (ends: Tensor, queries: number): From => ({
	each: false,
	at(x) {
		const [rows, places, width] = x.shape as [number, number, number];
		const landmarks = ends.shape[0] as number;
		const known = gather(x.reshape([rows * places, width]), ends); // [landmarks, width]
		const each = known.reshape([landmarks, 1, width]).expand([landmarks, queries, width]);
		return landmarks === rows ? each : each.reshape([rows, -1, width]);
	},
});

/** A slot is a query from its place, at the time of its event. */
const queriesOf = (stream: Stream): QueryStream =>
	stream === "slots"
		? { name: "next", landmarks: "each slot", queries: 1 }
		: (stream as QueryStream);

/** Makes a model of a causal network: trained by the next event and, where it knows of times, by events further ahead. */
export function causalModel<C extends CausalConfig, K = Tensor>(
	network: CausalNetwork<C, K>,
): Model<C> {
	const head = codeHead(network.tied);
	const usesQueryTime = network.query !== undefined;
	return modelFromNetwork<C>({
		...network,
		forecasting: {
			methods: usesQueryTime ? ["time-specific", "auto-regressive"] : ["auto-regressive"],
			after: "pretraining",
		},
		usesQueryTime,
		predictsEachEvent: true,
		...(network.lengthSetting && {
			context: ({ positions }: C) => positions ?? Number.POSITIVE_INFINITY,
		}),
		objectives: {
			next: [next],
			horizon: usesQueryTime ? [next, horizon] : [next],
			visits: [next, visits],
		},
		weights: (config) => ({ ...head.weights(config), ...network.weights(config) }),
		states(config, parameters, { rows, length }, streams) {
			const p = weightsOf(parameters);
			const { dtype } = p("embedding");
			const known = network.observe(config, p, observedInputs("seen", rows, length, dtype));
			return streams.map((stream) => {
				const queried = queriesOf(stream);
				const { name, landmarks, queries } = queried;
				const perRow = landmarksPerRow(queried, length);
				const ends = input(`${name}.ends`, [rows * perRow], "int32");
				const places = input(`${name}.places`, [rows, perRow * queries], "int32");
				const from = {
					...(landmarks === "each slot" ? fromEach : fromPlaces(ends, queries)),
					...(landmarks !== "end" && { positions: places }),
				};
				const hidden = network.query
					? network.query(config, p, known, queryInputs(name, rows, perRow * queries, dtype), from)
					: from.at(known as Tensor);
				return { hidden, logits: head.outputs(p, hidden) };
			});
		},
		filler(_config, batch, places = batch.length) {
			const { rows, length } = batch;
			const seen = observedRows("seen", rows, places, "after");
			const filled = Array.from({ length: rows }, (_, row) => {
				const events = eventsOf(batch, row);
				return { events, ...seen.fillRow(row, withoutLast(events), events.times[0] ?? 0) };
			});
			return (stream, landmarks) => {
				const queried = queriesOf(stream);
				const { name, queries } = queried;
				const perRow = landmarksPerRow(queried, length);
				const put = queryRows(name, rows, perRow * queries);
				const ends = new Int32Array(rows * perRow);
				const upTo = new Int32Array(rows * perRow * queries);
				for (const [row, { events, origin, count }] of filled.entries()) {
					const slots = () => Array.from(events.times, (time, known) => ({ known, times: [time] }));
					for (const [i, { known, times }] of (landmarks?.[row] ?? slots()).entries()) {
						const last = events.times[Math.max(0, known - 1)] ?? origin;
						ends[row * perRow + i] = row * places + Math.min(known, count - 1);
						for (const [n, time] of times.entries()) {
							upTo[(row * perRow + i) * queries + n] = known + 1;
							put.fillQuery(row, i * queries + n, time, { origin, last });
						}
					}
				}
				const more = { [`${name}.ends`]: ends, [`${name}.places`]: upTo };
				return { ...seen.feeds, ...put.feeds, ...more };
			};
		},
	});
}

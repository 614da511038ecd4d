import { specialTokens } from "../../data/cohort/vocabulary.js";
import { concat, type DType, input, stack, type Tensor } from "../../engine/tensor/index.js";
import {
	type EventBatch,
	type Landmark,
	landmarksPerRow,
	type Parameters,
	type QueryStream,
} from "../model.js";
import { modelFromNetwork } from "../model-from-network.js";
import { nested } from "../nn/weights.js";
import { horizon, next, visits } from "../objectives/events.js";
import { presets, suggestedFrom, type TrajgptConfig, trajgptConfig } from "./config.js";
import { decaysPer, decayVectors } from "./decay.js";
import { futureSteps } from "./future-steps.js";
import { type NetworkInputs, network, type Slots, trajgptWeights } from "./network.js";
import { statesAfterMore } from "./open-histories.js";
import { predictor } from "./state.js";

/** Slot n holds the token before event n and the time of event n; a query is a slot at a time of its own. */
type SlotValues = {
	readonly tokens: Int32Array;
	readonly times: Float64Array;
	/** Time since the event before. */
	readonly gaps: Float32Array;
};

/** The slots of a batch. */
export function slotValues({ rows, length, tokens, times }: EventBatch): SlotValues {
	const slots = {
		tokens: new Int32Array(rows * length),
		times,
		gaps: new Float32Array(rows * length),
	};
	for (let at = 0; at < rows * length; at++) {
		const isFirst = at % length === 0;
		slots.tokens[at] = isFirst ? specialTokens.sos : tokens[at - 1];
		slots.gaps[at] = isFirst ? 0 : times[at] - times[at - 1];
	}
	return slots;
}

/** Queries from landmarks of the rows; where there is one per slot, those past a row's end are its slots. */
function queryValues(
	{ rows, length, tokens, times }: EventBatch,
	slots: SlotValues,
	stream: QueryStream,
	given: readonly (readonly Landmark[])[],
): SlotValues & { readonly places: Int32Array } {
	const { queries } = stream;
	const each = stream.landmarks === "each slot";
	const perRow = landmarksPerRow(stream, length) * queries;
	const cells = rows * perRow;
	const values = {
		tokens: each ? slots.tokens.slice() : new Int32Array(cells),
		times: each ? slots.times.slice() : new Float64Array(cells),
		gaps: each ? slots.gaps.slice() : new Float32Array(cells),
		/** How many slots come before. */
		places: new Int32Array(cells),
	};
	for (const [row, landmarks] of given.entries())
		for (const [i, { known, times: queryTimes }] of landmarks.entries())
			for (const [n, time] of queryTimes.entries()) {
				const at = row * perRow + i * queries + n;
				const last = row * length + known - 1;
				values.tokens[at] = known === 0 ? specialTokens.sos : tokens[last];
				values.times[at] = time;
				values.gaps[at] = known === 0 ? 0 : time - times[last];
				values.places[at] = known;
			}
	return values;
}

const dtypeOf = (parameters: Parameters): DType => parameters.embedding?.dtype ?? "float32";

/** Inputs of so many slots per row, under a prefix. */
function slotInputs(prefix: string, rows: number, count: number, dtype: DType): Slots {
	const shape = [rows, count];
	return {
		tokens: input(`${prefix}.tokens`, shape, "int32"),
		times: input(`${prefix}.times`, shape, "float64"),
		gaps: input(`${prefix}.gaps`, shape, dtype),
	};
}

/** Queries of streams, one after the other. */
function queryInputs(
	streams: readonly QueryStream[],
	rows: number,
	counts: readonly number[],
	dtype: DType,
): NetworkInputs["queries"] {
	const [first] = streams;
	if (!first) return undefined;
	const all = (inputOf: (name: string, count: number) => Tensor) =>
		concat(
			streams.map(({ name }, i) => inputOf(name, counts[i])),
			1,
		);
	const field = (of: keyof Slots) => all((name, n) => slotInputs(name, rows, n, dtype)[of]);
	return {
		tokens: field("tokens"),
		times: field("times"),
		gaps: field("gaps"),
		read:
			streams.length === 1 && first.landmarks === "each slot"
				? "before"
				: { positions: all((name, n) => input(`${name}.places`, [rows, n], "int32")) },
	};
}

/** Selective recurrent attention over irregular event histories (Song et al. 2025). */
export const trajgpt = modelFromNetwork<TrajgptConfig>({
	id: "trajgpt",
	name: "TrajGPT",
	cite: "Song, Lu, Zhu, Buckeridge, Li: TrajGPT, 2025",
	config: trajgptConfig,
	presets,
	learningRate: 5e-3,
	learningRates: { default: 3e-3, large: 3e-3, paper: 3e-3, "paper-7m": 3e-3 },
	suggestedFrom,
	pretraining: "next",
	forecasting: { methods: ["time-specific", "auto-regressive"], after: "pretraining" },
	usesQueryTime: true,
	predictsEachEvent: true,
	context: ({ position, positions }) =>
		position === "absolute" ? positions : Number.POSITIVE_INFINITY,
	objectives: { next: [next], horizon: [next, horizon], visits: [next, visits] },
	weights: trajgptWeights,
	states(config, parameters, { rows, length }, streams) {
		const dtype = dtypeOf(parameters);
		const asked = streams.filter((stream) => stream !== "slots") as QueryStream[];
		// Those that predict codes come first.
		const queries = [
			...asked.filter(({ hiddenOnly }) => !hiddenOnly),
			...asked.filter(({ hiddenOnly }) => hiddenOnly),
		];
		const counts = queries.map((query) => landmarksPerRow(query, length) * query.queries);
		const predicting = counts.reduce((sum, n, i) => sum + (queries[i]?.hiddenOnly ? 0 : n), 0);
		const out = network(config, parameters, {
			slots: slotInputs("next", rows, length, dtype),
			queries: queryInputs(queries, rows, counts, dtype),
			...(queries.length > 0 && { predicting }),
		});
		return streams.map((stream) => {
			if (stream === "slots") return { hidden: out.hidden as Tensor, logits: out.logits as Tensor };
			if ("view" in stream) throw new Error("TrajGPT does not read windows");
			const at = queries.indexOf(stream);
			const start = counts.slice(0, at).reduce((a, b) => a + b, 0);
			const partOf = (all: Tensor | undefined) =>
				(all as Tensor).slice(1, start, start + counts[at]);
			const hidden = partOf(out.queryHidden);
			return {
				hidden,
				get logits() {
					if (stream.hiddenOnly) throw new Error(`stream "${stream.name}" has no logits`);
					return partOf(out.queryLogits);
				},
			};
		});
	},
	filler(_config, batch) {
		const slots = slotValues(batch);
		return (stream, landmarks = []) => ({
			...nested("next", slots),
			...(stream !== "slots" &&
				nested(stream.name, queryValues(batch, slots, stream as QueryStream, landmarks))),
		});
	},
	predictor,
	futureSteps,
	statesAfterMore,
	decay: {
		per: decaysPer,
		rates(config, parameters, { rows, length }) {
			const slots = slotInputs("next", rows, length, dtypeOf(parameters));
			return stack(network(config, parameters, { slots }).decayRates, 0);
		},
		vectors: decayVectors,
	},
});

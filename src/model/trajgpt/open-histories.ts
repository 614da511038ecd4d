import { specialTokens } from "../../data/cohort/vocabulary.js";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import type { Parameters, StatesAfterMore } from "../model.js";
import { anyLength } from "../nn/sra.js";
import type { TrajgptConfig } from "./config.js";
import { memoryParts } from "./inference-graph.js";
import { network } from "./network.js";

/** Open sizes: patients, and events of the longest history. */
const [batch, length] = ["batch", "length"] as const;

/** The time since the last event; 0 before the first. */
export const since = (time: Tensor, last: Tensor): Tensor =>
	graph.where(last.equal(last), time.sub(last), graph.scalar(0, "float64")).cast("float32");

/** The event before the first one that is read. */
interface LastEvent {
	readonly token: Tensor; // [batch, 1], int32
	readonly time: Tensor; // [batch, 1], float64; NaN if there is none
}

const noEvent = (): LastEvent => ({
	token: graph.constant([specialTokens.sos], [1, 1], "int32"),
	time: graph.constant([Number.NaN], [1, 1], "float64"),
});

/** The inputs that hold histories, of any number and length: whole ones, unless they follow an event. */
export function historyInputs(following?: LastEvent) {
	const before = following ?? noEvent();
	const isEvent = graph.input("mask", [batch, length], "bool");
	const mask = isEvent.cast("float32");
	// Padding must not become NaN, whatever it holds.
	const tokens = graph.where(
		isEvent,
		graph.input("tokens", [batch, length], "int32"),
		graph.scalar(0, "int32"),
	);
	const times = graph.where(
		isEvent,
		graph.input("times", [batch, length], "float64"),
		graph.scalar(0, "float64"),
	);
	const behind = (first: Tensor, rest: Tensor) => graph.concat([first.expand([batch, 1]), rest], 1); // [batch, places]
	const shifted = (x: Tensor) => x.slice(1, 0, length);

	const allTokens = behind(before.token, tokens);
	const counted = mask.sum(1, true); // [batch, 1]
	const end = counted.cast("int32");
	const token = graph.pick(allTokens, end, 1);
	const time = graph.pick(behind(before.time, times), end, 1);
	const first = times.slice(1, 0, 1);
	const start = following ? graph.where(before.time.equal(before.time), before.time, first) : first;
	const slots = {
		tokens: shifted(allTokens),
		times,
		gaps: times.sub(shifted(behind(start, times))).cast("float32"),
	};
	/** Queries after the histories, at these times. */
	const queriesAt = (at: Tensor) => ({
		tokens: token.expand(at.shape),
		times: at,
		gaps: since(at, time),
		read: "after" as const,
	});
	return { isEvent, tokens, times, mask, counted, slots, last: { token, time }, queriesAt };
}

/** Histories, and a day of each. */
export const indexedHistories = (following?: LastEvent) => ({
	...historyInputs(following),
	/** Index days: [batch, 1]. */
	days: graph.input("at", [batch], "float64").floor().reshape([batch, 1]),
});

/** Hidden states at some times after the index days, or after the last event where that is later: [batch, after, dim]. */
export function statesAfter(
	config: TrajgptConfig,
	parameters: Parameters,
	after: readonly number[],
	{ slots, mask, last, queriesAt, days } = indexedHistories(),
	states?: readonly Tensor[],
): Tensor {
	// Where a history is empty, the time of its last event is NaN.
	const from = graph.where(days.less(last.time), last.time, days);
	const times = from.add(graph.constant(Float64Array.from(after), [1, after.length], "float64"));
	const { queryHidden } = network(config, parameters, {
		slots,
		mask,
		states,
		queries: queriesAt(times),
		form: anyLength,
		queriesOnly: true,
		predicting: 0,
	});
	return queryHidden as Tensor;
}

/** The same from states of the predictor on, each followed by further events; undefined where slots are counted. */
export function statesAfterMore(
	config: TrajgptConfig,
	parameters: Parameters,
	after: readonly number[],
): StatesAfterMore | undefined {
	if (config.position !== "time") return undefined;
	const memory = memoryParts(config).slice(0, config.layers);
	const histories = indexedHistories({
		token: graph.input("last.token", [batch, 1], "int32"),
		time: graph.input("last.time", [batch, 1], "float64"),
	});
	const states = memory.map(({ name, heads, key, value }) =>
		graph.input(name, [batch, heads, key, value]),
	);
	return { hidden: statesAfter(config, parameters, after, histories, states), memory };
}

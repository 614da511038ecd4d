import { specialTokens } from "../../data/cohort/vocabulary.js";
import {
	add,
	cast,
	concat,
	constant,
	equal,
	expand,
	floor,
	input,
	less,
	pick,
	reshape,
	scalar,
	slice,
	sub,
	sum,
	type Tensor,
	where,
} from "../../engine/tensor/index.js";
import type { MemoryPart, Parameters } from "../model.js";
import { anyLength } from "../nn/sra.js";
import type { TrajgptConfig } from "./config.js";
import { stateOf } from "./inference-graph.js";
import { network } from "./network.js";

/** Open sizes: patients, and events of the longest history. */
const [batch, length] = ["batch", "length"] as const;

/** The time since the last event; 0 before the first. */
export const since = (time: Tensor, last: Tensor): Tensor =>
	cast(where(equal(last, last), sub(time, last), scalar(0, "float64")), "float32");

/** The event before the first one that is read. */
interface LastEvent {
	readonly token: Tensor; // [batch, 1], int32
	readonly time: Tensor; // [batch, 1], float64; NaN if there is none
}

const noEvent = (): LastEvent => ({
	token: constant([specialTokens.sos], [1, 1], "int32"),
	time: constant([Number.NaN], [1, 1], "float64"),
});

/** The inputs that hold histories, of any number and length: whole ones, unless they follow an event. */
export function historyInputs(following?: LastEvent) {
	const before = following ?? noEvent();
	const isEvent = input("mask", [batch, length], "bool");
	const mask = cast(isEvent, "float32");
	// Padding must not become NaN, whatever it holds.
	const tokens = where(isEvent, input("tokens", [batch, length], "int32"), scalar(0, "int32"));
	const times = where(isEvent, input("times", [batch, length], "float64"), scalar(0, "float64"));
	const behind = (first: Tensor, rest: Tensor) => concat([expand(first, [batch, 1]), rest], 1); // [batch, places]
	const shifted = (x: Tensor) => slice(x, 1, 0, length);

	const allTokens = behind(before.token, tokens);
	const counted = sum(mask, 1, true); // [batch, 1]
	const end = cast(counted, "int32");
	const token = pick(allTokens, end, 1);
	const time = pick(behind(before.time, times), end, 1);
	const first = slice(times, 1, 0, 1);
	const start = following ? where(equal(before.time, before.time), before.time, first) : first;
	const slots = {
		tokens: shifted(allTokens),
		times,
		gaps: cast(sub(times, shifted(behind(start, times))), "float32"),
	};
	/** Queries after the histories, at these times. */
	const queriesAt = (at: Tensor) => ({
		tokens: expand(token, at.shape),
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
	days: reshape(floor(input("at", [batch], "float64")), [batch, 1]),
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
	const from = where(less(days, last.time), last.time, days);
	const times = add(from, constant(Float64Array.from(after), [1, after.length], "float64"));
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

/** The same from states of the predictor on, each followed by further events. */
export function statesAfterMore(
	config: TrajgptConfig,
	parameters: Parameters,
	after: readonly number[],
): { readonly hidden: Tensor; readonly memory: readonly MemoryPart[] } {
	const { layers, heads, key, value } = config;
	const perHead = [key / heads, value / heads] as const;
	const names = Array.from({ length: layers }, (_, layer) => stateOf(layer));
	const histories = indexedHistories({
		token: input("last.token", [batch, 1], "int32"),
		time: input("last.time", [batch, 1], "float64"),
	});
	const states = names.map((name) => input(name, [batch, heads, ...perHead]));
	return {
		hidden: statesAfter(config, parameters, after, histories, states),
		memory: names.map((name) => ({ name, width: heads * perHead[0] * perHead[1] })),
	};
}

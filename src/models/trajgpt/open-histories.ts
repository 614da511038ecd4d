import { specialTokens } from "../../cohort/vocabulary.js";
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
} from "../../graph/index.js";
import { anyLength } from "../../nn/sra/any-length.js";
import type { Parameters } from "../model.js";
import type { TrajgptConfig } from "./config.js";
import { network } from "./network.js";

/** Open sizes: patients, and events of the longest history. */
const [batch, length] = ["batch", "length"] as const;

/** The time since the last event; 0 before the first. */
export const since = (time: Tensor, last: Tensor): Tensor =>
	cast(where(equal(last, last), sub(time, last), scalar(0, "float64")), "float32");

/** The inputs that hold whole histories, of any number and length. */
export function historyInputs() {
	const isEvent = input("mask", [batch, length], "bool");
	const mask = cast(isEvent, "float32");
	// Padding must not become NaN, whatever it holds.
	const tokens = where(isEvent, input("tokens", [batch, length], "int32"), scalar(0, "int32"));
	const times = where(isEvent, input("times", [batch, length], "float64"), scalar(0, "float64"));
	const behind = (first: Tensor, rest: Tensor) => concat([expand(first, [batch, 1]), rest], 1); // [batch, places]
	const shifted = (x: Tensor) => slice(x, 1, 0, length);

	const allTokens = behind(constant([specialTokens.sos], [1, 1], "int32"), tokens);
	const counted = sum(mask, 1, true); // [batch, 1]
	const end = cast(counted, "int32");
	const token = pick(allTokens, end, 1);
	const time = pick(behind(constant([Number.NaN], [1, 1], "float64"), times), end, 1);
	const slots = {
		tokens: shifted(allTokens),
		times,
		gaps: cast(sub(times, shifted(behind(slice(times, 1, 0, 1), times))), "float32"),
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

/** Whole histories, and a day of each. */
export const indexedHistories = () => ({
	...historyInputs(),
	/** Index days: [batch, 1]. */
	days: reshape(floor(input("at", [batch], "float64")), [batch, 1]),
});

/** Hidden states at some times after the index days, or after the last event where that is later: [batch, after, dim]. */
export function statesAfter(
	config: TrajgptConfig,
	parameters: Parameters,
	after: readonly number[],
	{ slots, mask, last, queriesAt, days } = indexedHistories(),
): Tensor {
	// Where a history is empty, the time of its last event is NaN.
	const from = where(less(days, last.time), last.time, days);
	const times = add(from, constant(Float64Array.from(after), [1, after.length], "float64"));
	const { queryHidden } = network(config, parameters, {
		...{ slots, mask, queries: queriesAt(times), form: anyLength },
		...{ queriesOnly: true, predicting: 0 },
	});
	return queryHidden as Tensor;
}

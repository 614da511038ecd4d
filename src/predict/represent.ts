import { specialCount } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import { pooled, pooledFeeds } from "../model/heads.js";
import type { Events } from "../model/index.js";
import type { Trained } from "../model/train/index.js";
import { rowPrograms } from "./history-rows.js";

/** A history, and the time of its representation: that of its last event if left out. */
export interface ViewedHistory extends Events {
	readonly at?: number;
}

/** Computes representations; programs stay compiled until it is disposed of. */
export function representer(
	runtime: Runtime,
	{ model, config, weights }: Pick<Trained, "model" | "config" | "weights">,
) {
	const rows = rowPrograms(runtime, {
		weights,
		build: (parameters, shape) => pooled(model, config, parameters, shape),
		feeds: (batch) => pooledFeeds(model, config, batch),
	});
	return {
		/**
		 * A vector for each history, [histories, dim]: the mean of the hidden states at every event and,
		 * after the last of them, at the time of the representation. Of histories longer than `maxLength`, or than the
		 * model can read, the last events are seen.
		 */
		represent: (
			histories: readonly ViewedHistory[],
			maxLength = Number.POSITIVE_INFINITY,
		): Promise<Float32Array> =>
			rows.run(histories.map(withView), {
				maxLength: Math.min(maxLength, model.context?.(config) ?? maxLength),
			}),
		dispose: rows.dispose,
	};
}

/** The same, for one call. */
export async function representations(
	runtime: Runtime,
	trained: Pick<Trained, "model" | "config" | "weights">,
	histories: readonly ViewedHistory[],
	maxLength?: number,
): Promise<Float32Array> {
	const { represent, dispose } = representer(runtime, trained);
	try {
		return await represent(histories, maxLength);
	} finally {
		await dispose();
	}
}

/** Slot n holds the token before event n: the view of all events is the slot of one more, whose own token nothing reads. */
export function withView({ tokens, times, at }: ViewedHistory) {
	const events = tokens.length;
	const longer = {
		tokens: new Int32Array(events + 1),
		times: new Float64Array(events + 1),
		// A birth stays where a history is longer than can be read.
		birthEvents: (tokens[0] ?? specialCount) < specialCount ? (1 as const) : (0 as const),
	};
	longer.tokens.set(tokens);
	longer.times.set(times);
	longer.times[events] = at ?? times[events - 1] ?? 0;
	return longer;
}

import { specialTokens } from "../../data/cohort/vocabulary.js";
import { type EventBatch, type Landmark, landmarksPerRow, type QueryStream } from "../model.js";

/** Slot n holds the token before event n and the time of event n; a query is a slot at a time of its own. */
export interface SlotValues {
	readonly tokens: Int32Array;
	readonly times: Float64Array;
	/** Time since the event before. */
	readonly gaps: Float32Array;
}

/** The slots of a batch. */
export function slotValues({ rows, length, tokens, times }: EventBatch): SlotValues {
	const slots = {
		tokens: new Int32Array(rows * length),
		times,
		gaps: new Float32Array(rows * length),
	};
	for (let at = 0; at < rows * length; at++) {
		const isFirst = at % length === 0;
		slots.tokens[at] = isFirst ? specialTokens.sos : (tokens[at - 1] as number);
		slots.gaps[at] = isFirst ? 0 : (times[at] as number) - (times[at - 1] as number);
	}
	return slots;
}

/** Queries from landmarks of the rows; where there is one per slot, those past a row's end are its slots. */
export function queryValues(
	{ rows, length, tokens, times }: EventBatch,
	slots: SlotValues,
	stream: QueryStream,
	given: readonly (readonly Landmark[])[],
): SlotValues & { readonly places: Int32Array } {
	const { queries } = stream;
	const each = stream.landmarks === "each slot";
	const perRow = landmarksPerRow(stream, length) * queries;
	const cells = rows * perRow;
	const own = {
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
				own.tokens[at] = known === 0 ? specialTokens.sos : (tokens[last] as number);
				own.times[at] = time;
				own.gaps[at] = known === 0 ? 0 : time - (times[last] as number);
				own.places[at] = known;
			}
	return own;
}

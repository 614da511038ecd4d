import type { Feeds } from "../../engine/runtime/index.js";
import type { Query } from "../queries.js";
import { type Pass, positionIn, type Row } from "./passes.js";

/**
 * A query at the time of an event is predicted by that event's slot, so it needs only the last layer.
 * Returns the queries that remain, and the inputs that select the outputs of all of them.
 */
export function reuseSlotPredictions(
	rows: readonly Row[],
	paddedRows: number,
	pass: Pass,
): {
	readonly remaining: readonly (readonly Query[])[];
	readonly remainingCount: number;
	readonly feeds: Feeds;
} {
	const { from, slots, queries, queryCount } = pass;
	const isSlot = (row: number, { position, time }: Query) =>
		position < from + slots && rows[row]?.events.times[position] === time;
	// One always remains: a pass without queries is another kind of program.
	const remaining = queries.map((own, row) =>
		own.filter((query, at) => at === own.length - 1 || !isSlot(row, query)),
	);
	const remainingCount = Math.max(...remaining.map(({ length }) => length));
	const stream = new Int32Array(paddedRows * (slots + queryCount));
	const positions = new Int32Array(paddedRows * queryCount);
	for (let row = 0; row < paddedRows; row++) {
		const first = row * (slots + remainingCount);
		const own = stream.subarray(row * (slots + queryCount));
		for (let n = 0; n < slots; n++) own[n] = first + n;
		let next = slots;
		for (const [i, query] of (queries[row] ?? []).entries()) {
			const position = positionIn(pass, (rows[row] as Row).events, query.position);
			const remains = remaining[row]?.[next - slots] === query;
			own[slots + i] = first + (remains ? next++ : position);
			positions[row * queryCount + i] = position;
		}
	}
	return {
		remaining,
		remainingCount,
		feeds: { "selected.stream": stream, "selected.positions": positions },
	};
}

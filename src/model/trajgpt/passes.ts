import type { Data, Feeds } from "../../engine/runtime/index.js";
import { anglesOf } from "../nn/positions.js";
import { nested } from "../nn/weights.js";
import type { Events, Query, State } from "../predictor.js";
import type { TrajgptConfig } from "./config.js";
import { rotaryOf } from "./network.js";

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** Rounds up to one of `lengths` sizes between two powers of two. */
function rounded(n: number, lengths: number): number {
	if (n === 0) return 0;
	const step = Math.max(1, powerOfTwo(n) / 2 / lengths);
	return Math.ceil(n / step) * step;
}

/** Pads numbers of rows, slots and queries. */
interface Padding {
	rows(n: number): number;
	slots(n: number): number;
	queries(n: number): number;
}

/**
 * Each length compiles anew, so there are few. Histories come in all lengths; short ones are padded
 * up to twice, longer ones by a fifth. The number of queries seldom changes, and is met closely.
 */
export const fewShapes: Padding = {
	rows: powerOfTwo,
	slots: (n) => rounded(n, n <= 16 ? 1 : 4),
	queries: (n) => rounded(n, 8),
};

/** For programs that take any size. */
export const noPadding: Padding = { rows: (n) => n, slots: (n) => n, queries: (n) => n };

/** Longest run of slots in one pass; longer histories take several, and carry the state. */
const longest = 512;
/** Most queries per patient in one pass. */
const mostQueries = 256;
/** Most patients in one pass, and most slots and queries in total; more are no faster. */
const mostRows = 32;
const mostCells = 4096;

/** A patient's part in a block of passes. */
export interface Row {
	readonly patient: number;
	readonly events: Events;
	readonly queries: readonly Query[];
}

/** A run of slots and the queries of the same pass. */
interface Pass {
	/** The first event, and the padded number of events. */
	readonly from: number;
	readonly slots: number;
	/** The queries of each row, and their padded number. */
	readonly queries: readonly (readonly Query[])[];
	readonly queryCount: number;
	/** Whether its slots are read again for further queries. */
	readonly again: boolean;
}

/** Whether a query comes after all events of its row. */
const atEnd = ({ events }: Row, { position }: Query) => position === events.times.length;

/** How many rows fit in one pass; rows are sorted by falling length. */
export function rowsOfPass(rows: readonly Row[], padded: Padding): number {
	const first = rows[0];
	const slots = padded.slots(Math.min(longest, first.events.times.length));
	const queries = padded.queries(Math.min(mostQueries, first.queries.length));
	const fit = 2 ** Math.floor(Math.log2(mostCells / Math.max(1, slots + queries)));
	return Math.min(mostRows, fit, rows.length);
}

/**
 * All events of some patients, in passes of at most `longest`. A query goes with the slots
 * around its position; one at the end of its row, where nothing changes the state, with the last pass.
 */
export function passesOver(rows: readonly Row[], padded: Padding): Pass[] {
	const total = Math.max(0, ...rows.map((row) => row.events.times.length));
	const passes: Pass[] = [];
	const push = (from: number, slots: number, queries: Query[][], again: boolean) => {
		const most = queries.reduce((most, list) => Math.max(most, list.length), 0);
		passes.push({ from, slots, queries, queryCount: padded.queries(most), again });
	};
	const ends = rows.map((row) => row.queries.filter((q) => atEnd(row, q)));
	for (let from = 0; from < total; from += longest) {
		const end = from + longest;
		const between = rows.map((row) =>
			row.queries.filter((q) => !atEnd(row, q) && q.position >= from && q.position < end),
		);
		const slots = padded.slots(Math.min(longest, total - from));
		let again = true;
		while (again) {
			const queries = between.map((list) => list.splice(0, mostQueries));
			again = between.some((list) => list.length > 0);
			if (!again && end >= total)
				for (const [row, list] of queries.entries())
					list.push(...ends[row].splice(0, mostQueries - list.length));
			push(from, slots, queries, again);
		}
	}
	while (ends.some((list) => list.length > 0))
		push(
			total,
			0,
			ends.map((list) => list.splice(0, mostQueries)),
			false,
		);
	return passes;
}

const stream = (cells: number) => ({
	tokens: new Int32Array(cells),
	times: new Float64Array(cells),
	gaps: new Float32Array(cells),
});

/** The same inputs with angles instead of times. */
export function withAngles(config: TrajgptConfig, feeds: Feeds): Feeds {
	const { half, range } = rotaryOf(config);
	const given = Object.entries(feeds).map(([name, data]): [string, Data] =>
		data instanceof Float64Array
			? [name.replace(/times$/, "angles"), anglesOf(data, half, range)]
			: [name, data],
	);
	return Object.fromEntries(given);
}

/** A position among a row's events as one among the slots of a pass. Past the row's end slots change nothing: its last position is any of them. */
const positionIn = ({ from, slots }: Pass, events: Events, position: number): number =>
	position >= events.times.length ? slots : position - from;

/** The inputs of one pass from a state, in a number of rows of which the last may be empty. */
export function passFeeds(state: State, rows: readonly Row[], paddedRows: number, pass: Pass) {
	const { from, slots, queries, queryCount } = pass;
	const slot = stream(paddedRows * slots);
	const query = stream(paddedRows * queryCount);
	const mask = new Float32Array(paddedRows * slots);
	const positions = new Int32Array(paddedRows * queryCount);
	// Runs of slots mostly end early somewhere; one program for all of them compiles but once.
	let [ragged, between, backwards] = [slots > 1, false, false];
	for (const [row, { patient, events }] of rows.entries()) {
		const end = Math.min(slots, Math.max(0, events.times.length - from));
		if (end < slots) ragged = true;
		mask.fill(1, row * slots, row * slots + end);
		for (let n = 0; n < end; n++) {
			const [at, event] = [row * slots + n, from + n];
			const time = events.times[event];
			const last = event === 0 ? state.times[patient] : events.times[event - 1];
			const token = event === 0 ? state.tokens[patient] : events.tokens[event - 1];
			slot.tokens[at] = token;
			slot.times[at] = time;
			slot.gaps[at] = Number.isNaN(last) ? 0 : time - last;
		}
		for (const [i, { token, time, gap, position }] of (queries[row] ?? []).entries()) {
			const at = row * queryCount + i;
			query.tokens[at] = token;
			query.times[at] = time;
			query.gaps[at] = gap;
			positions[at] = positionIn(pass, events, position);
			if (position < events.times.length) between = true;
			if (gap < 0) backwards = true;
		}
	}
	return {
		/** Whether some row may end early. */
		ragged,
		/** Whether some query comes before a row's last slot in the pass. */
		between,
		backwards,
		/** All values; a program takes those that it has inputs for. */
		feeds: {
			...nested<Data>("slots", slot),
			...nested<Data>("queries", { ...query, positions }),
			mask,
		},
	};
}

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
	const remaining = queries.map((list, row) =>
		list.filter((query, at) => at === list.length - 1 || !isSlot(row, query)),
	);
	const remainingCount = Math.max(...remaining.map(({ length }) => length));
	const stream = new Int32Array(paddedRows * (slots + queryCount));
	const positions = new Int32Array(paddedRows * queryCount);
	for (let row = 0; row < paddedRows; row++) {
		const first = row * (slots + remainingCount);
		const cells = stream.subarray(row * (slots + queryCount));
		for (let n = 0; n < slots; n++) cells[n] = first + n;
		let next = slots;
		for (const [i, query] of (queries[row] ?? []).entries()) {
			const position = positionIn(pass, rows[row].events, query.position);
			const remains = remaining[row]?.[next - slots] === query;
			cells[slots + i] = first + (remains ? next++ : position);
			positions[row * queryCount + i] = position;
		}
	}
	return {
		remaining,
		remainingCount,
		feeds: { "selected.stream": stream, "selected.positions": positions },
	};
}

import { anglesOf } from "../../nn/rotary-time.js";
import type { Data, Feeds } from "../../runtime/index.js";
import type { Events, State } from "../predictor.js";
import type { Query } from "../queries.js";
import type { TrajgptConfig } from "./config.js";
import { rotaryOf } from "./network.js";

/** Longest run of slots in one pass; longer histories take several, and carry the state. */
const longest = 512;
/** Most questions a patient in one pass. */
const mostQuestions = 256;
/** Most patients in one pass, and most slots and questions of all of them: more are no faster. */
const mostRows = 32;
const mostCells = 4096;

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** The next of the lengths that passes have: so many between one power of two and the next. */
function rounded(n: number, lengths: number): number {
	if (n === 0) return 0;
	const step = Math.max(1, powerOfTwo(n) / 2 / lengths);
	return Math.ceil(n / step) * step;
}

/** What numbers of rows, slots and questions are filled up to. */
export interface Padding {
	rows(n: number): number;
	slots(n: number): number;
	questions(n: number): number;
}

/**
 * Each length compiles anew, so there are few. Histories come in all lengths; short ones are padded
 * up to twice, longer ones by a fifth. The number of questions seldom changes, and is met closely.
 */
export const fewShapes: Padding = {
	rows: powerOfTwo,
	slots: (n) => rounded(n, n <= 16 ? 1 : 4),
	questions: (n) => rounded(n, 8),
};

/** Where one program takes any number. */
export const noPadding: Padding = { rows: (n) => n, slots: (n) => n, questions: (n) => n };

/** A patient's part in a block of passes. */
export interface Row {
	readonly patient: number;
	readonly events: Events;
	readonly questions: readonly Query[];
}

/** A run of slots, and the questions that are asked with it. */
export interface Pass {
	/** The first event, and room for how many. */
	readonly from: number;
	readonly slots: number;
	/** The questions of each row, and room for how many. */
	readonly asked: readonly (readonly Query[])[];
	readonly questions: number;
	/** Whether its slots are passed again, for further questions. */
	readonly again: boolean;
}

/** Whether a question comes after all events of its row. */
const atEnd = ({ events }: Row, { place }: Query) => place === events.times.length;

/** How many of the rows, which come in falling order of their lengths, one pass takes. */
export function rowsOfPass(rows: readonly Row[], padded: Padding): number {
	const first = rows[0] as Row;
	const slots = padded.slots(Math.min(longest, first.events.times.length));
	const questions = padded.questions(Math.min(mostQuestions, first.questions.length));
	const fit = 2 ** Math.floor(Math.log2(mostCells / Math.max(1, slots + questions)));
	return Math.min(mostRows, fit, rows.length);
}

/**
 * All events of some patients, in passes of at most `longest`. A question goes with the slots
 * around its place; one at the end of its row, where nothing changes the state, with the last pass.
 */
export function passesOver(rows: readonly Row[], padded: Padding): Pass[] {
	const total = Math.max(0, ...rows.map((row) => row.events.times.length));
	const passes: Pass[] = [];
	const push = (from: number, slots: number, asked: Query[][], again: boolean) => {
		const most = asked.reduce((most, own) => Math.max(most, own.length), 0);
		passes.push({ from, slots, asked, questions: padded.questions(most), again });
	};
	const ends = rows.map((row) => row.questions.filter((q) => atEnd(row, q)));
	for (let from = 0; from < total; from += longest) {
		const end = from + longest;
		const between = rows.map((row) =>
			row.questions.filter((q) => !atEnd(row, q) && q.place >= from && q.place < end),
		);
		const slots = padded.slots(Math.min(longest, total - from));
		let again = true;
		while (again) {
			const asked = between.map((own) => own.splice(0, mostQuestions));
			again = between.some((own) => own.length > 0);
			if (!again && end >= total)
				for (const [row, own] of asked.entries())
					own.push(...(ends[row] as Query[]).splice(0, mostQuestions - own.length));
			push(from, slots, asked, again);
		}
	}
	while (ends.some((own) => own.length > 0))
		push(
			total,
			0,
			ends.map((own) => own.splice(0, mostQuestions)),
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

/** A place among a row's events as one among the slots of a pass. Past the row's end slots change nothing: its last place is any of them. */
export const placeIn = ({ from, slots }: Pass, events: Events, place: number): number =>
	place >= events.times.length ? slots : place - from;

interface PassFeeds {
	/** All there are: a program takes those that it has inputs for. */
	readonly feeds: Feeds;
	/** Whether some row may end early. */
	readonly ragged: boolean;
	/** Whether some question comes before a row's last slot in the pass. */
	readonly between: boolean;
	readonly backwards: boolean;
}

/** The inputs of one pass from a state, in a number of rows of which the last may be empty. */
export function passFeeds(
	state: State,
	rows: readonly Row[],
	paddedRows: number,
	pass: Pass,
): PassFeeds {
	const { from, slots, asked, questions } = pass;
	const slot = stream(paddedRows * slots);
	const question = stream(paddedRows * questions);
	const real = new Float32Array(paddedRows * slots);
	const places = new Int32Array(paddedRows * questions);
	// Runs of slots mostly end early somewhere; one program for all of them compiles but once.
	let [ragged, between, backwards] = [slots > 1, false, false];
	for (const [row, { patient, events }] of rows.entries()) {
		const end = Math.min(slots, Math.max(0, events.times.length - from));
		if (end < slots) ragged = true;
		real.fill(1, row * slots, row * slots + end);
		for (let n = 0; n < end; n++) {
			const [at, event] = [row * slots + n, from + n];
			const time = events.times[event] as number;
			const last = event === 0 ? state.times[patient] : events.times[event - 1];
			const token = event === 0 ? state.tokens[patient] : events.tokens[event - 1];
			slot.tokens[at] = token as number;
			slot.times[at] = time;
			slot.gaps[at] = Number.isNaN(last) ? 0 : time - (last as number);
		}
		for (const [i, { token, time, gap, place }] of (asked[row] ?? []).entries()) {
			const at = row * questions + i;
			question.tokens[at] = token;
			question.times[at] = time;
			question.gaps[at] = gap;
			places[at] = placeIn(pass, events, place);
			if (place < events.times.length) between = true;
			if (gap < 0) backwards = true;
		}
	}
	const named = (prefix: string, values: Record<string, Data>) =>
		Object.fromEntries(Object.entries(values).map(([name, data]) => [`${prefix}.${name}`, data]));
	return {
		ragged,
		between,
		backwards,
		feeds: {
			...named("slots", slot),
			...named("questions", { ...question, places }),
			real,
		},
	};
}

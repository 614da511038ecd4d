import type { Feeds } from "../../runtime/index.js";
import type { Query } from "../queries.js";
import { type Pass, placeIn, type Row } from "./passes.js";

/**
 * A question about the time of an event is what that event's slot answers: it is not put, and costs
 * but the last layer. What is left of the questions, and who answers.
 */
export function slotAnswers(
	rows: readonly Row[],
	paddedRows: number,
	pass: Pass,
): {
	readonly put: readonly (readonly Query[])[];
	readonly count: number;
	readonly feeds: Feeds;
} {
	const { from, slots, asked, questions } = pass;
	const isSlot = (row: number, { place, time }: Query) =>
		place < from + slots && rows[row]?.events.times[place] === time;
	// One is always put: none at all would be another kind of program.
	const put = asked.map((own, row) =>
		own.filter((question, at) => at === own.length - 1 || !isSlot(row, question)),
	);
	const count = Math.max(...put.map(({ length }) => length));
	const stream = new Int32Array(paddedRows * (slots + questions));
	const places = new Int32Array(paddedRows * questions);
	for (let row = 0; row < paddedRows; row++) {
		const first = row * (slots + count);
		const own = stream.subarray(row * (slots + questions));
		for (let n = 0; n < slots; n++) own[n] = first + n;
		let next = slots;
		for (const [i, question] of (asked[row] ?? []).entries()) {
			const place = placeIn(pass, (rows[row] as Row).events, question.place);
			const isPut = put[row]?.[next - slots] === question;
			own[slots + i] = first + (isPut ? next++ : place);
			places[row * questions + i] = place;
		}
	}
	return { put, count, feeds: { "answers.stream": stream, "answers.places": places } };
}

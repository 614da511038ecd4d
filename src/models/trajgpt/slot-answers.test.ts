import { expect, test } from "vitest";
import { slotAnswers } from "./slot-answers.js";

const question = (index: number, time: number, place: number) => ({
	...{ index, time, place, token: 5, gap: 0 },
});

test("questions about the times of events are left to their slots", () => {
	const events = { tokens: [3, 5, 6, 7], times: [0, 10, 10, 20] };
	const asked = [question(0, 10, 1), question(1, 15, 3), question(2, 20, 3), question(3, 30, 4)];
	const rows = [
		{ patient: 0, events, questions: asked },
		{ patient: 1, events, questions: asked.slice(0, 1) },
	];
	const { put, count, feeds } = slotAnswers(rows, 2, {
		...{ from: 0, slots: 4, questions: 4, again: false },
		asked: rows.map(({ questions }) => questions),
	});
	// The last of a row is always put.
	expect(put).toEqual([[asked[1], asked[3]], [asked[0]]]);
	expect(count).toBe(2);
	// Six to a row: four slots and two questions.
	const [first, second] = [
		[...[0, 1, 2, 3], ...[1, 4, 3, 5]],
		[...[6, 7, 8, 9], ...[10, 0, 0, 0]],
	];
	expect([...(feeds["answers.stream"] ?? [])]).toEqual([...first, ...second]);
	expect([...(feeds["answers.places"] ?? [])]).toEqual([1, 3, 3, 4, 1, 0, 0, 0]);
});

import { expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { marks, marksAfter, marksBefore } from "./time-marks.js";

const level = (days: number) => Math.log1p(Math.max(0, days)) / Math.log1p(36525);

test("places that go before the last and those that follow are marked in one way", async () => {
	const [days, gaps] = [
		[0, 3, 3, 40],
		[0, 3, 0, 37],
	];
	const before = marksBefore({ days: input("days", [1, 4]), gaps: input("gaps", [1, 4]) });
	const after = marksAfter({ days: input("asked", [1, 3]), gaps: input("since", [1, 3]) });
	expect(before.shape).toEqual([1, 4, marks]);
	const got = await evaluate(
		{ before, after },
		{ ...{ days, gaps }, asked: [41, 50, 50], since: [1, 10, 10] },
	);
	const wanted = (rows: number[][]) => rows.flat().map((value) => expect.closeTo(value, 6));
	expect(got.before).toEqual(
		wanted(days.map((day, i) => [level(day), level(gaps[i]!), -level(40 - day)])),
	);
	expect(got.after).toEqual(
		wanted([
			[level(41), level(1), level(1)],
			[level(50), level(9), level(10)],
			[level(50), level(0), level(10)],
		]),
	);
});

test("a time before the last place is as the last place", async () => {
	const after = marksAfter({ days: input("asked", [1, 1]), gaps: input("since", [1, 1]) });
	const got = await evaluate({ after }, { asked: [-2], since: [-2] });
	expect(got.after).toEqual([0, 0, 0]);
});

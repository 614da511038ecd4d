import { afterAll, expect, test } from "vitest";
import { expectClose, history, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import { predictAt } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

test("says where each time lies, and predicts at an event without using it", async () => {
	const own = { tokens: [5, 9, 7], times: [10, 20, 20] };
	const empty = { tokens: [], times: [] };
	const answers = await predictAt(
		model,
		[own, empty],
		[
			[25, 9, 10, 20],
			[25, 9, 10, 20],
		],
	);
	expect(answers.places).toEqual([
		["after", "before", "inside", "inside"],
		["after", "after", "after", "after"],
	]);
	expectClose(row(answers, 0, 0), row(await model.score([own], [[25]]), 0));
	// Two events at 20: neither is known there.
	const one = { tokens: [5], times: [10] };
	expectClose(row(answers, 0, 3), row(await model.score([one], [[20]]), 0));
	// The first event, and any time of an empty history, are answered from [SOS].
	expectClose(row(answers, 0, 2), row(await model.score([empty], [[10]]), 0));
	expectClose(row(answers, 1, 1), row(await model.score([empty], [[9]]), 0));
});

test("patients do not mix, whatever their order", async () => {
	const all = [12, 3, 40].map((length) => history(length, length));
	const times = all.map(({ times: [first = 0] }) => [first - 5, first + 4, first + 300]);
	const together = await predictAt(model, all, times);
	for (const [i, own] of all.entries()) {
		const alone = await predictAt(model, [own], [times[i]]);
		for (const question of [0, 1, 2])
			expectClose(row(together, i, question), row(alone, 0, question));
	}
});

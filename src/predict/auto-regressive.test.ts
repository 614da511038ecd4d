import { afterAll, expect, test } from "vitest";
import type { Events } from "../model/index.js";
import { expectClose, history, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import { predictAutoRegressively } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

/** The slow way, for one patient: the whole history again at every step. */
async function stepByStep(past: Events, end: number, steps: number): Promise<number[][]> {
	const tokens = Array.from(past.tokens);
	const times = Array.from(past.times);
	const start = times.at(-1) as number;
	const answers: number[][] = [];
	for (let step = 1; step <= steps; step++) {
		const time = start + ((end - start) * step) / steps;
		const answer = row(await model.score([{ tokens, times }], [[time]]), 0);
		answers.push(answer);
		// Tokens below 5 are special.
		const best = answer.slice(5).indexOf(Math.max(...answer.slice(5))) + 5;
		tokens.push(best);
		times.push(time);
	}
	return answers;
}

test("each prediction is fed back, and a time reads the nearest step", async () => {
	const all = [12, 5].map((length) => history(length, length));
	const ends = all.map(({ times }) => times.at(-1) as number);
	// Steps at 2, 4, 6, 8 after the end.
	const asked = ends.map((end) => [0, 0.5, 2.9, 3.1, 6, 8].map((after) => end + after));
	const answers = await predictAutoRegressively(model, all, asked, { steps: 4 });
	expect(answers).toMatchObject({ patients: 2, queries: 6, vocab: 11 });
	for (const [patient, past] of all.entries()) {
		const steps = await stepByStep(past, ends[patient] + 8, 4);
		for (const [question, step] of [1, 1, 1, 2, 3, 4].entries())
			expectClose(row(answers, patient, question), steps[step - 1]);
	}
});

test("an empty history starts at its first query time", async () => {
	const empty = { tokens: [], times: [] };
	const answers = await predictAutoRegressively(model, [empty], [[40, 40]]);
	expectClose(row(answers, 0), row(await model.score([empty], [[40]]), 0));
});

test("times inside the history, and no steps, are refused", async () => {
	const own = { tokens: [5, 6], times: [1, 9] };
	await expect(predictAutoRegressively(model, [own], [[10, 8]])).rejects.toThrow(
		"patient 0 ends at 9, and a query time is 8",
	);
	await expect(predictAutoRegressively(model, [own], [[10]], { steps: 0 })).rejects.toThrow(
		"0 steps; expected a whole number from 1",
	);
});

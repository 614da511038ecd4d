import { afterAll, expect, test } from "vitest";
import type { Predictor } from "../model/index.js";
import { expectClose, history, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import { codeTrajectories, predictAt } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

test("the probability is that of the code's tokens, growth its difference", async () => {
	const all = [20, 6].map((length) => history(length, length));
	const times = all.map(({ times }) => [-2, 1, 8, 40].map((after) => times[0] + after));
	const codes = [[7], [5, 9, 10]];
	const trajectories = await codeTrajectories(model, all, codes, times);
	const answers = await predictAt(model, all, times);
	expect(trajectories.map((own) => own.length)).toEqual([2, 2]);
	for (const [patient, own] of trajectories.entries())
		for (const [c, { probability, growth, places, ...rest }] of own.entries()) {
			const wanted = [0, 1, 2, 3].map((question) =>
				codes[c].reduce((sum, token) => sum + Math.exp(row(answers, patient, question)[token]), 0),
			);
			expectClose(probability, wanted);
			expect(Array.from(rest.times)).toEqual(times[patient]);
			expect(growth[0]).toBe(0);
			expect(growth[2]).toBe(probability[2] - probability[1]);
			expect(places).toEqual(answers.places[patient]);
		}
});

test("splits times into batches for a large vocabulary, with the same results", async () => {
	const all = Array.from({ length: 5 }, (_, i) => history(4, i));
	const turns: number[][] = [];
	const large: Predictor = {
		...model,
		vocab: 2 ** 20, // room for 16 answers
		queryWithin(state, events, times) {
			turns.push(times.map(({ length }) => length));
			return model.queryWithin(state, events, times);
		},
	};
	for (const [count, asked] of [
		[
			5,
			[
				[5, 5, 5],
				[5, 5],
			],
		],
		[40, Array.from(all, () => [[16], [16], [8]]).flat()],
		[0, []],
	] as const) {
		const times = all.map(({ times }) =>
			Array.from({ length: count }, (_, i) => times[0] - 2 + i / 2),
		);
		const wanted = await codeTrajectories(model, all, [[6], [7, 8]], times);
		const found = await codeTrajectories(large, all, [[6], [7, 8]], times);
		expect(turns.splice(0)).toEqual(asked);
		for (const [patient, own] of wanted.entries())
			for (const [code, { probability, places }] of own.entries()) {
				const other = found[patient]?.[code];
				expect(other?.places).toEqual(places);
				if (count > 0) expectClose(other?.probability ?? [], probability);
			}
	}
});

test("bad codes and times are refused", async () => {
	const own = [history(3, 1)];
	const at = (codes: number[][], times: number[][]) => codeTrajectories(model, own, codes, times);
	await expect(at([[]], [[1]])).rejects.toThrow("a code is []; expected one token or more");
	await expect(at([[5, 5]], [[1]])).rejects.toThrow("a code is [5, 5]");
	await expect(at([[11]], [[1]])).rejects.toThrow(
		"a code holds token 11; the model knows those below 11",
	);
	await expect(at([[-1]], [[1]])).rejects.toThrow("a code holds token -1");
	await expect(at([[5]], [[3, 2]])).rejects.toThrow("patient 0 goes 3 → 2 at time 1; sort them");
	await expect(at([[5]], [])).rejects.toThrow("times of 0 patients for 1 histories");
});

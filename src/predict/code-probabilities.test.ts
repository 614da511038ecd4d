import { afterAll, expect, test } from "vitest";
import { random as seededRandom } from "../base/random.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events, Predictor } from "../model/index.js";
import { expectClose, history, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import {
	attributeCodeProbability,
	codeTrajectories,
	highestCodes,
	likeliest,
	predictAt,
} from "./code-probabilities.js";
import { withoutEvent } from "./histories.js";

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

const probabilityAt = async (own: Events, times: number[]) =>
	(await codeTrajectories(model, [own], [[6, 9]], [times]))[0]?.[0]?.probability;

test("an event's effect is the probability less that of the history without it", async () => {
	const own = history(70, 4);
	const [first, last] = [own.times[0], own.times.at(-1) as number];
	const times = [first - 3, (first + last) / 2, last + 1, last + 60];
	const { base, without, effect } = await attributeCodeProbability(model, own, {
		codes: [6, 9],
		times,
	});
	expectClose(base, await probabilityAt(own, times));
	for (const event of [0, 1, 31, 32, 33, 63, 64, 69])
		expectClose(
			without.slice(event * 4, event * 4 + 4),
			await probabilityAt(withoutEvent(own, event), times),
		);
	expect(effect.length).toBe(70 * 4);
	expect(effect[31 * 4 + 2]).toBe(base[2] - without[31 * 4 + 2]);
	// What comes after the query time has no effect on it.
	expect(effect[69 * 4 + 1]).toBe(0);
});

test("birth is not left out, and a lone event leaves an empty history", async () => {
	const born = { tokens: [3, 7], times: [0, 40] };
	const { effect, without } = await attributeCodeProbability(model, born, {
		codes: [6, 9],
		times: [50],
	});
	expect(effect[0]).toBe(0);
	expectClose(without.slice(1), await probabilityAt({ tokens: [3], times: [0] }, [50]));
	const lone = await attributeCodeProbability(
		model,
		{ tokens: [7], times: [40] },
		{ codes: [6, 9], times: [50] },
	);
	expectClose(lone.without, await probabilityAt({ tokens: [], times: [] }, [50]));
	const nothing = await attributeCodeProbability(
		model,
		{ tokens: [], times: [] },
		{ codes: [6, 9], times: [50] },
	);
	expect(nothing.base.length).toBe(1);
	expect(nothing.effect.length).toBe(0);
});

/** Two patients, two queries, special tokens and three codes. */
const chances = [
	[0.1, 0.2, 0.3],
	[0.3, 0.2, 0.3],
	[0.5, 0, 0.1],
	[0.2, 0.6, 0.1],
];
const logProbabilities = Float32Array.from(
	chances.flatMap((own) => [...Array(specialCount).fill(0.9), ...own]),
	Math.log,
);
const ranked = { patients: 2, queries: 2, vocab: specialCount + 3, logProbabilities };
const codesOf = (...asked: Parameters<typeof likeliest>) =>
	likeliest(...asked).map(({ token, probability }) => [token - specialCount, probability]);
const near = (value: number) => expect.closeTo(value, 6);

test("the most likely codes of one query, never a special token", () => {
	expect(codesOf(ranked, { top: 2 })).toEqual([
		[2, near(0.3)],
		[1, near(0.2)],
	]);
	expect(codesOf(ranked, { top: 9, patient: 1, query: 1 })).toEqual([
		[1, near(0.6)],
		[0, near(0.2)],
		[2, near(0.1)],
	]);
});

test("of equals the first token comes first, and nothing has no chance", () => {
	expect(codesOf(ranked, { top: 2, query: 1 })).toEqual([
		[0, near(0.3)],
		[2, near(0.3)],
	]);
	expect(codesOf(ranked, { top: 3, patient: 1 })[2]).toEqual([1, 0]);
});

test("the highest values are those of a full sort", () => {
	const random = seededRandom(7);
	for (let round = 0; round < 200; round++) {
		// Few different values, so that many are equal.
		const values = Array.from({ length: random.integer(60) }, () => random.integer(12));
		const count = random.integer(70);
		const sorted = [...values.keys()].slice(specialCount).sort((a, b) => values[b] - values[a]);
		expect([...highestCodes(values, count)]).toEqual(sorted.slice(0, count));
	}
});

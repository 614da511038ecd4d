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
	predictAutoRegressively,
	sampleFutures,
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

const past = history(8, 2);
const end = past.times.at(-1) as number;
const times = [end + 1, end + 4];

/** p of each token at a time, given the history. */
const chancesAt = async (own: Events, time: number): Promise<number[]> =>
	row(await model.score([own], [[time]]), 0).map(Math.exp);

/**
 * Holds counts to probabilities: the expected total variation of n draws over k tokens is below
 * √(k / n) / 2, and one draw moves it by at most 1/n, so that it passes that by more than
 * √(ln(10⁶) / 2n) once in a million (McDiarmid).
 */
function expectDrawnFrom(drawn: readonly number[], p: readonly number[]): void {
	const n = drawn.length;
	const counts = p.map((_, token) => drawn.filter((t) => t === token).length);
	const distance =
		p.reduce((sum, chance, token) => sum + Math.abs(counts[token] / n - chance), 0) / 2;
	expect(distance).toBeLessThan(Math.sqrt(p.length / n) / 2 + Math.sqrt(Math.log(1e6) / (2 * n)));
}

test("futures are drawn from the model's own distribution, given their own past", async () => {
	const samples = 4000;
	const futures = await sampleFutures(model, [past], [times], { samples, seed: 3 });
	const pairs = Array.from({ length: samples }, (_, i) => futures.slice(2 * i, 2 * i + 2));
	const first = await chancesAt(past, times[0]);
	expectDrawnFrom(
		pairs.map(([token]) => token),
		first,
	);
	for (const token of [5, 8]) {
		const next = {
			tokens: [...past.tokens, token],
			times: [...past.times, times[0]],
		};
		expectDrawnFrom(
			pairs.filter(([drawn]) => drawn === token).map(([, second]) => second),
			await chancesAt(next, times[1]),
		);
	}
});

test("a seed repeats, another does not, and patients do not depend on one another", async () => {
	const all = [past, history(3, 9)];
	const asked = [times, [200, 201]];
	const draw = (seed: number, patients: number, samples = 20) =>
		sampleFutures(model, all.slice(0, patients), asked.slice(0, patients), { samples, seed });
	const futures = await draw(1, 2);
	expect(futures.length).toBe(2 * 20 * 2);
	expect(await draw(1, 2)).toEqual(futures);
	expect(await draw(2, 2)).not.toEqual(futures);
	expect(await draw(1, 1)).toEqual(futures.slice(0, 40));
	expect(await draw(1, 1, 7)).toEqual(futures.slice(0, 14));
});

test("top leaves the likeliest, in proportion", async () => {
	const p = await chancesAt(past, times[0]);
	const least = [...p].sort((a, b) => b - a)[2];
	const kept = p.map((chance) => (chance >= least ? chance : 0));
	const total = kept.reduce((a, b) => a + b);
	const options = { samples: 3000, seed: 5, top: 3 };
	const futures = await sampleFutures(model, [past], [times.slice(0, 1)], options);
	expect(new Set(futures).size).toBe(3);
	expectDrawnFrom(
		Array.from(futures),
		kept.map((chance) => chance / total),
	);
	const greedy = await sampleFutures(model, [past], [times], { samples: 5, seed: 5, top: 1 });
	expect(greedy[0]).toBe(p.indexOf(Math.max(...p)));
	expect(new Set(greedy.filter((_, i) => i % 2 === 1)).size).toBe(1);
});

test("an empty history has futures too; counts must be whole", async () => {
	const empty = { tokens: [], times: [] };
	const futures = await sampleFutures(model, [empty], [[4, 4, 5]], { samples: 2, seed: 1 });
	expect(futures.length).toBe(6);
	expect((await sampleFutures(model, [past], [[]], { samples: 2, seed: 1 })).length).toBe(0);
	for (const bad of [{ samples: 0 }, { samples: 2, top: 0.5 }])
		await expect(sampleFutures(model, [past], [times], { seed: 1, ...bad })).rejects.toThrow(
			"expected a whole number from 1",
		);
	await expect(
		sampleFutures(model, [past], [times], { seed: 1, samples: 1_000_000_000 }),
	).rejects.toThrow("draws; expected at most 268435456: lower `samples`, or query fewer times");
});

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
	const patient = { tokens: [5, 6], times: [1, 9] };
	await expect(predictAutoRegressively(model, [patient], [[10, 8]])).rejects.toThrow(
		"patient 0 ends at 9, and a query time is 8",
	);
	await expect(predictAutoRegressively(model, [patient], [[10]], { steps: 0 })).rejects.toThrow(
		"0 steps; expected a whole number from 1",
	);
});

import { afterAll, expect, test } from "vitest";
import type { Events } from "../model/index.js";
import { expectClose, history, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import { predictAutoRegressively, sampleFutures } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

const past = history(8, 2);
const end = past.times.at(-1) as number;
const times = [end + 1, end + 4];

/** p of each token at a time, given the history. */
const chances = async (own: Events, time: number): Promise<number[]> =>
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
	const first = await chances(past, times[0]);
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
			await chances(next, times[1]),
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
	const p = await chances(past, times[0]);
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
	const own = { tokens: [5, 6], times: [1, 9] };
	await expect(predictAutoRegressively(model, [own], [[10, 8]])).rejects.toThrow(
		"patient 0 ends at 9, and a query time is 8",
	);
	await expect(predictAutoRegressively(model, [own], [[10]], { steps: 0 })).rejects.toThrow(
		"0 steps; expected a whole number from 1",
	);
});

import { expect, test } from "vitest";
import { random as seededRandom } from "../base/random.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import { highestCodes, likeliest } from "./likeliest.js";

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
const answers = { patients: 2, queries: 2, vocab: specialCount + 3, logProbabilities };
const codesOf = (...asked: Parameters<typeof likeliest>) =>
	likeliest(...asked).map(({ token, probability }) => [token - specialCount, probability]);
const near = (value: number) => expect.closeTo(value, 6);

test("the most likely codes of one query, never a special token", () => {
	expect(codesOf(answers, { top: 2 })).toEqual([
		[2, near(0.3)],
		[1, near(0.2)],
	]);
	expect(codesOf(answers, { top: 9, patient: 1, query: 1 })).toEqual([
		[1, near(0.6)],
		[0, near(0.2)],
		[2, near(0.1)],
	]);
});

test("of equals the first token comes first, and nothing has no chance", () => {
	expect(codesOf(answers, { top: 2, query: 1 })).toEqual([
		[0, near(0.3)],
		[2, near(0.3)],
	]);
	expect(codesOf(answers, { top: 3, patient: 1 })[2]).toEqual([1, 0]);
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

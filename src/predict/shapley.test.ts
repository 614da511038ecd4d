import fc from "fast-check";
import { expect, test } from "vitest";
import { random } from "../base/random.js";
import { shapleyValues, type ValuesOf } from "./reasons.js";

const game =
	(value: (coalition: readonly number[]) => number): ValuesOf =>
	async (coalitions) =>
		coalitions.map(value);
const drawn = (pairs: number | null, seed = 1) => ({ pairs, draw: random(seed) });

/** The glove game: player 0 has a left glove, 1 and 2 have right ones; a pair is worth 1. */
const gloves = game((own) => Number(own.includes(0) && own.length > 1));

test("all orders give the values of the glove game", async () => {
	const { values, errors, none, all } = await shapleyValues(3, gloves, drawn(null));
	for (const [at, expected] of [2 / 3, 1 / 6, 1 / 6].entries())
		expect(values[at]).toBeCloseTo(expected, 12);
	expect([errors, none, all]).toEqual([[0, 0, 0], 0, 1]);
});

test("one pair of opposite orders is exact where players act together by twos", async () => {
	const pairwise = game((own) => own.reduce((sum, a) => sum + a + own.length * a * 0.1, 0));
	const exact = await shapleyValues(6, pairwise, drawn(null));
	const { values } = await shapleyValues(6, pairwise, drawn(1));
	for (const [at, value] of exact.values.entries()) expect(values[at]).toBeCloseTo(value, 10);
});

test("drawn values come near the exact ones, within a few standard errors", async () => {
	const product = game((own) => own.reduce((all, player) => all * (1.2 + 0.3 * player), 0.01));
	const exact = await shapleyValues(6, product, drawn(null));
	const { values, errors } = await shapleyValues(6, product, drawn(40));
	const largest = Math.max(...exact.values);
	expect(Math.max(...errors)).toBeLessThan(0.1 * largest);
	for (const [at, value] of exact.values.entries())
		expect(Math.abs(values[at] - value)).toBeLessThan(5 * errors[at]);
});

test("values sum to the difference, and repeat, for any game", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 1, max: 6 }),
			fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 }),
			fc.option(fc.integer({ min: 1, max: 5 })),
			async (players, table, pairs) => {
				const own = game((coalition) =>
					Number(table[coalition.reduce((set, player) => set | (1 << player), 0)]),
				);
				const [one, again] = [
					await shapleyValues(players, own, drawn(pairs)),
					await shapleyValues(players, own, drawn(pairs)),
				];
				const sum = one.values.reduce((a, b) => a + b, 0);
				expect(sum).toBeCloseTo(one.all - one.none, 9);
				expect(again).toEqual(one);
			},
		),
		{ numRuns: 50 },
	);
});

test("drawing ends early where orders hardly differ, and asks for no coalition twice", async () => {
	const asked: string[] = [];
	const additive: ValuesOf = async (coalitions) => {
		asked.push(...coalitions.map(String));
		return coalitions.map((own) => own.length);
	};
	await shapleyValues(8, additive, drawn(1000));
	expect(asked.length).toBeLessThanOrEqual(2 + 3 * 14);
	expect(new Set(asked).size).toBe(asked.length);
});

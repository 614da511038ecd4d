import fc from "fast-check";
import { expect, test } from "vitest";
import { random } from "../base/random.js";
import type { Events } from "../model/index.js";
import { edited } from "./histories.js";
import {
	explainRisk,
	precisionText,
	type ReasonOptions,
	type Reasons,
	shapleyValues,
	shownEffects,
	startText,
	type ValuesOf,
} from "./reasons.js";

/** 1 % and 10 % more with a 6, 2 % less with a 7, 5 % more with both. */
function riskOf({ tokens }: Events): number {
	const [six, seven] = [6, 7].map((token) => Array.from(tokens).includes(token));
	return 0.01 + (six ? 0.1 : 0) - (seven ? 0.02 : 0) + (six && seven ? 0.05 : 0);
}
const history = { tokens: [3, 6, 7, 8, 6, 9], times: [0, 100, 200, 300, 400.7, 900] };
const options: ReasonOptions = { of: [8], day: 400, parameters: 0 };

test("effects lead from the risk without records to the risk, records together shared equally", async () => {
	const read: (readonly number[])[] = [];
	const found = await explainRisk(
		async (histories) => {
			read.push(...histories.map(({ tokens }) => Array.from(tokens)));
			return histories.map(riskOf);
		},
		...([history, options] as const),
	);
	expect(found.risk).toBeCloseTo(0.14, 12);
	expect(found.start).toBeCloseTo(0.01, 12);
	expect(found.others).toBeNull();
	expect(found.error).toBe(0);
	expect(found.listed.map(({ parts, records }) => [parts, records])).toEqual([
		[[6], 2],
		[[7], 1],
	]);
	const [six, seven] = found.listed.map(({ effect }) => effect);
	expect(six).toBeCloseTo(0.125, 12);
	expect(seven).toBeCloseTo(0.005, 12);
	// The birth and the code itself stay, and what comes later is unknown.
	expect(read.toSorted()).toEqual(
		[
			[3, 6, 7, 8, 6],
			[3, 6, 8, 6],
			[3, 7, 8],
			[3, 8],
		].toSorted(),
	);
});

/** Forty codes that multiply the risk, the later ones more. */
const many = {
	tokens: [3, ...Array.from({ length: 80 }, (_, at) => 10 + (at % 40))],
	times: Array.from({ length: 81 }, (_, at) => at * 10),
};
const factorOf = (token: number) => (token < 10 ? 1 : 1 + (token - 10) / 40);
const product = async (histories: readonly Events[]) =>
	histories.map(({ tokens }) =>
		[...new Set(Array.from(tokens))].reduce((risk, token) => risk * factorOf(token), 1e-8),
	);

test.each([
	["a small model reads all orders", 0, 7],
	["a large model draws some, for fewer codes", 2e8, 4],
])("codes beyond the strongest go together: %s", async (_, parameters, listed) => {
	const shares: number[] = [];
	const found = await explainRisk(product, many, {
		...{ of: [5], day: 1000, parameters, onProgress: (share: number) => shares.push(share) },
	});
	expect(found.listed.map(({ parts: [token] }) => token).toSorted()).toEqual(
		[49, 48, 47, 46, 45, 44, 43].slice(0, listed).toSorted(),
	);
	expect(found.others?.parts).toHaveLength(40 - listed);
	expect(found.others?.records).toBe(80 - 2 * listed);
	expect(found.error > 0).toBe(parameters > 0);
	const sum = [...found.listed, found.others].reduce((all, own) => all + (own?.effect ?? 0), 0);
	expect(sum / (found.risk - found.start)).toBeCloseTo(1, 9);
	expect(shares).toEqual(shares.toSorted((a, b) => a - b));
});

test("an abort ends the work before the next call", async () => {
	const controller = new AbortController();
	let calls = 0;
	const work = explainRisk(
		async (histories) => {
			calls++;
			controller.abort();
			return histories.map(() => 0.5);
		},
		many,
		{ of: [5], day: 1000, parameters: 0, signal: controller.signal },
	);
	await expect(work).rejects.toThrow();
	expect(calls).toBe(1);
});

test("without records there is nothing to explain", async () => {
	const found = await explainRisk(
		async (histories) => histories.map(riskOf),
		...([{ tokens: [3], times: [0] }, options] as const),
	);
	expect(found).toMatchObject({
		listed: [],
		others: null,
		error: 0,
		risk: 0.01,
		start: 0.01,
	});
});

/** The birth, then a 6, a 7 and an 8. */
const three = { tokens: [3, 6, 7, 8], times: [0, 100, 200, 300] };
const [addSix, removeSeven, addLater] = [
	{ add: { token: 6, time: 350 } },
	{ remove: 2 },
	{ add: { token: 6, time: 900 } },
] as const;
const withoutSix = { tokens: [3, 7, 8], times: [0, 200, 300] };

test.each([
	["one edit is the difference", withoutSix, [addSix], [[0, 0.15]]],
	[
		"what edits add together is shared equally",
		withoutSix,
		[addSix, { remove: 1 }],
		[
			[0, 0.125],
			[1, -0.005],
		],
	],
	[
		"an edit after the day changes nothing",
		three,
		[removeSeven, addLater],
		[
			[0, -0.03],
			[1, 0],
		],
	],
] as const)(
	"edits lead from the risk before them to the risk after: %s",
	async (_, from, edits, effects) => {
		const found = await explainRisk(
			async (histories) => histories.map(riskOf),
			...([from, { ...options, edits }] as const),
		);
		expect(found.start).toBeCloseTo(riskOf(from), 12);
		expect(found.risk).toBeCloseTo(
			riskOf(
				edited(
					from,
					edits.filter((edit) => edit !== addLater),
				),
			),
			12,
		);
		expect(found.listed.map(({ parts, records }) => [...parts, records])).toEqual(
			effects.map(([place]) => [place, 1]),
		);
		for (const [at, [, effect]] of effects.entries())
			expect(found.listed[at]?.effect).toBeCloseTo(effect, 12);
	},
);

test("one edit of a long history and a large model takes two readings", async () => {
	const shares: number[] = [];
	let read = 0;
	const found = await explainRisk(
		async (histories) => {
			read += histories.length;
			return histories.map(riskOf);
		},
		{
			tokens: [3, ...Array.from({ length: 5000 }, () => 7)],
			times: Array.from({ length: 5001 }, (_, at) => at / 100),
		},
		{
			...{ ...options, edits: [addSix], parameters: 2e8 },
			onProgress: (share) => shares.push(share),
		},
	);
	expect([found.listed.length, found.error, read]).toEqual([1, 0, 2]);
	expect(shares.at(-1)).toBe(1);
});

test.each([
	[{}, "the model without records, age and sex known"],
	[{ sex: null }, "the model without records, age known"],
	[{ birthEvents: 0 }, "the model without records, age and sex unknown"],
	[{ isRecorded: true }, "the model without records of other codes, age and sex known"],
	[{ isEdited: true }, "before the edits"],
])("the start is named by what is known: %j", (facts, name) => {
	const usual = { sex: "female", birthEvents: 1, isRecorded: false, isEdited: false };
	expect(startText({ ...usual, ...facts })).toBe(name);
});

test("the sampling error is stated where orders were sampled", () => {
	const reasons: Reasons = {
		risk: 0.035,
		start: 0.02,
		others: null,
		error: 0,
		listed: [{ parts: [6], records: 1, effect: 0.015, error: 0 }],
	};
	expect(precisionText(reasons)).toBe("");
	const two: Reasons = { ...reasons, listed: [...reasons.listed, ...reasons.listed] };
	expect(precisionText(two)).toContain("all orders");
	expect(precisionText({ ...two, error: 0.00123 })).toContain("at most 0.1 points");
});

test("effects as rows show them add up to the risk as printed", () => {
	const reason = (effect: number) => ({ parts: [0], records: 1, effect, error: 0 });
	// Each rounded for itself, they are +0.19 and -0.03, and the change is +0.17.
	const reasons: Reasons = {
		start: 0.02,
		risk: 0.02166,
		error: 0,
		listed: [reason(0.00191), reason(-0.00025)],
		others: null,
	};
	const points = (of: Reasons, digits: number) =>
		shownEffects(of, digits).map((effect) => (100 * effect).toFixed(digits));
	expect(points(reasons, 2)).toEqual(["0.19", "-0.02"]);
	const three = [reason(0.0004), reason(0.0004), reason(0.0004)];
	const small = { ...reasons, risk: 0.0216, listed: three, others: reason(0.0004) };
	expect(points(small, 1)).toEqual(["0.0", "0.1", "0.0", "0.1"]);
});

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

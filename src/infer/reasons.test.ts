import { expect, test } from "vitest";
import type { Events } from "../models/index.js";
import { explainRisk, precisionText, type ReasonOptions, type Reasons } from "./reasons.js";

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
	expect(found.unrecorded).toBeCloseTo(0.01, 12);
	expect(found.others).toBeNull();
	expect(found.error).toBe(0);
	expect(found.codes.map(({ tokens, records }) => [tokens, records])).toEqual([
		[[6], 2],
		[[7], 1],
	]);
	const [six, seven] = found.codes.map(({ effect }) => effect);
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
	expect(found.codes.map(({ tokens: [token] }) => token).toSorted()).toEqual(
		[49, 48, 47, 46, 45, 44, 43].slice(0, listed).toSorted(),
	);
	expect(found.others?.tokens).toHaveLength(40 - listed);
	expect(found.others?.records).toBe(80 - 2 * listed);
	expect(found.error > 0).toBe(parameters > 0);
	const sum = [...found.codes, found.others].reduce((all, own) => all + (own?.effect ?? 0), 0);
	expect(sum / (found.risk - found.unrecorded)).toBeCloseTo(1, 9);
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
	expect(found).toMatchObject({ codes: [], others: null, error: 0, risk: 0.01, unrecorded: 0.01 });
});

test("the sampling error is stated where orders were sampled", () => {
	const reasons: Reasons = {
		...{ risk: 0.035, unrecorded: 0.02, others: null, error: 0 },
		codes: [{ tokens: [6], records: 1, effect: 0.015, error: 0 }],
	};
	expect(precisionText(reasons)).toContain("all orders");
	expect(precisionText({ ...reasons, error: 0.00123 })).toContain("at most 0.1 points");
	expect(precisionText({ ...reasons, codes: [] })).toBe("");
});

import { expect, test, vi } from "vitest";
import type { Calls } from "../../../src/api/calls.js";
import { reasonsAt } from "./reasons.js";

/** A risk of 1 % and 10 % more with a 6, 2 % less with a 7, 5 % more with both. */
const incidence = vi.fn(async (histories: readonly { readonly tokens: ArrayLike<number> }[]) =>
	histories.map(({ tokens }) => {
		const [six, seven] = [6, 7].map((token) => Array.from(tokens).includes(token));
		const risk = 0.01 + (six ? 0.1 : 0) - (seven ? 0.02 : 0) + (six && seven ? 0.05 : 0);
		return [{ probabilities: Float64Array.of(risk), recordedAt: Float64Array.of(Number.NaN) }];
	}),
);
const model = { calls: { incidence } as unknown as Pick<Calls, "incidence">, longest: 3652 };

const history = {
	tokens: [3, 6, 7, 6, 9],
	times: [0, 100, 200, 300, 900],
	birthEvents: 1,
} as const;

test("leaves out all records of a code together, and everything but the birth", async () => {
	const { risk, unrecorded, effects } = await reasonsAt(
		...([model, { history, sex: null, date: 400.5 }, 8] as const),
	);
	expect(risk).toBeCloseTo(0.14, 12);
	expect(unrecorded).toBeCloseTo(0.01, 12);
	expect(effects.map(({ token, records }) => [token, records])).toEqual([
		[6, 2],
		[7, 1],
	]);
	expect(effects.map(({ effect }) => effect)).toEqual(
		[0.15, 0.03].map((own) => expect.closeTo(own, 12)),
	);
	const [histories, codes] = incidence.mock.calls[0] as unknown as [
		{ tokens: number[] }[],
		number[][],
	];
	expect(histories.map(({ tokens }) => tokens)).toEqual([[3, 6, 7, 6], [3, 7], [3, 6, 6], [3]]);
	expect(codes).toEqual([[8]]);
});

test("without a birth there is nothing to compare an empty history with", async () => {
	const own = { tokens: [6, 7], times: [100, 200], birthEvents: 0 } as const;
	const { unrecorded, effects } = await reasonsAt(
		...([model, { history: own, sex: null, date: 400 }, 8] as const),
	);
	expect(unrecorded).toBeNull();
	expect(effects.length).toBe(2);
});

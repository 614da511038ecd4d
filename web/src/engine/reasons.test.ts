import { expect, test, vi } from "vitest";
import type { Calls } from "../../../src/api/calls.js";
import { reasonsAt } from "./reasons.js";

/** Every record adds one percent to the risk. */
const incidence = vi.fn(async (histories: readonly { readonly tokens: ArrayLike<number> }[]) =>
	histories.map(({ tokens }) => [
		{
			probabilities: Float64Array.of(tokens.length / 100),
			recordedAt: Float64Array.of(Number.NaN),
		},
	]),
);
const calls = { incidence } as unknown as Pick<Calls, "incidence">;
const history = {
	tokens: [3, 6, 7, 6, 9],
	times: [0, 100, 200, 300, 900],
	birthEvents: 1,
} as const;

test("asks for the risk of the code on the date, as far ahead as the model can see", async () => {
	const { risk, unrecorded, codes } = await reasonsAt(
		{ calls, longest: 1000 },
		...([{ history, sex: null, date: 400.5 }, 8, { parameters: 1000 }] as const),
	);
	expect([risk, unrecorded]).toEqual([0.04, 0.01]);
	expect(codes.map(({ tokens, effect }) => [...tokens, effect])).toEqual([
		[6, expect.closeTo(0.02, 12)],
		[7, expect.closeTo(0.01, 12)],
	]);
	for (const [histories, code, days, horizons] of incidence.mock.calls as unknown as [
		unknown[],
		number[][],
		number[][],
		number[],
	][]) {
		expect([code, horizons]).toEqual([[[8]], [1000]]);
		expect(days).toEqual(histories.map(() => [400.5]));
	}
});

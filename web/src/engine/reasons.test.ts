import { expect, test, vi } from "vitest";
import type { Calls } from "../../../src/predict/calls.js";
import { type RiskTable, reasonsAt, riskTables } from "./risks.js";

/** Every record adds one percent to the risk. */
const incidence = vi.fn(
	async (histories: readonly { readonly tokens: ArrayLike<number> }[], codes: readonly unknown[]) =>
		histories.map(({ tokens }) =>
			codes.map(() => ({
				probabilities: Float64Array.of(tokens.length / 100),
				recordedAt: [null],
			})),
		),
);
const calls = { incidence } as unknown as Pick<Calls, "incidence">;
const history = {
	tokens: [3, 6, 7, 6, 9],
	times: [0, 100, 200, 300, 900],
	birthEvents: 1,
} as const;

test("asks for the risk of the code on the date, as far ahead as the model can see", async () => {
	const { risk, start, listed } = await reasonsAt(
		{ calls, longest: 1000 },
		...([{ history, date: 400.5, original: null, edits: [] }, 8, { parameters: 1000 }] as const),
	);
	expect([risk, start]).toEqual([0.04, 0.01]);
	expect(listed.map(({ parts, effect }) => [...parts, effect])).toEqual([
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

test("an edit's effect is the difference that the risk table shows", async () => {
	const original = { tokens: [3, 6, 7], times: [0, 100, 200], birthEvents: 1 } as const;
	const edits = [{ edit: { add: { token: 9, time: 300 } }, name: "Gout added" }];
	const history = { tokens: [3, 6, 7, 9], times: [0, 100, 200, 300], birthEvents: 1 } as const;
	const patients = [history, original].map((own) => ({ history: own, sex: null, date: 400 }));
	const model = { calls, longest: 1826 };
	const [after, before] = await riskTables(model, patients, { size: 12 });
	const shown = (table: RiskTable | undefined) => table?.curve(8)[0] as number;
	const { risk, start, listed } = await reasonsAt(
		...([model, { history, date: 400, original, edits }, 8, { parameters: 1000 }] as const),
	);
	expect([start, risk]).toEqual([shown(before), shown(after)].map((own) => expect.closeTo(own, 6)));
	expect(listed.map(({ parts, effect }) => [...parts, effect])).toEqual([
		[0, expect.closeTo(shown(after) - shown(before), 6)],
	]);
});

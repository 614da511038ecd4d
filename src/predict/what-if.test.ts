import { afterAll, expect, test } from "vitest";
import { expectClose, row, smallModel } from "../model/trajgpt/testing/small-model.js";
import { edited, whatIf } from "./index.js";

const model = smallModel();
afterAll(() => model.dispose());

const own = { tokens: [3, 5, 6, 7], times: [0, 10, 20, 20] };

test("events are added, removed and moved by their places in the history as it was", () => {
	expect(edited(own, [])).toEqual(own);
	expect(edited(own, [{ remove: 1 }, { move: 3, to: 4 }, { add: { token: 9, time: 20 } }])).toEqual(
		{ tokens: [3, 7, 6, 9], times: [0, 4, 20, 20] },
	);
	expect(own.tokens).toEqual([3, 5, 6, 7]);
});

test("edits that make no sense are refused", () => {
	expect(() => edited(own, [{ remove: 4 }])).toThrow("there is no event 4; the history has 4");
	expect(() => edited(own, [{ remove: 2 }, { move: 2, to: 30 }])).toThrow(
		"event 2 is edited twice",
	);
	expect(() => edited(own, [{ remove: 0 }])).toThrow("event 0 is the birth");
	expect(() => edited(own, [{ move: 1, to: -1 }])).toThrow("expected a time from birth (0) on");
	expect(() => edited(own, [{ add: { token: 5, time: Number.NaN } }])).toThrow("put at NaN");
});

test("predicts from both histories", async () => {
	const { history, before, after } = await whatIf(model, own, [{ remove: 2 }], [15, 25]);
	expect(history).toEqual({ tokens: [3, 5, 7], times: [0, 10, 20] });
	expect(before.places).toEqual([["inside", "after"]]);
	expect(before.patients).toBe(1);
	expectClose(row(before, 0, 1), row(await model.score([own], [[25]]), 0));
	expectClose(row(after, 0, 1), row(await model.score([history], [[25]]), 0));
	expectClose(row(after, 0, 0), row(before, 0, 0));
});

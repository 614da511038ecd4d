import { expect, test } from "vitest";
import { edited } from "./histories.js";

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

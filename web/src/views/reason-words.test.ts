import { expect, test } from "vitest";
import type { Reasons } from "../../../src/infer/reasons.js";
import { pointDigits, pointsWith } from "./reason-words.js";

const reason = (effect: number) => ({ tokens: [6], records: 1, effect, error: 0 });
const reasons: Reasons = {
	...{ risk: 0.034, unrecorded: 0.02, error: 0 },
	codes: [reason(0.015)],
	others: reason(-0.001),
};

test("all rows have the same digits: one more where all are small", () => {
	expect(pointDigits(reasons)).toBe(2);
	expect(pointDigits({ ...reasons, risk: 0.31 })).toBe(1);
	expect(pointDigits({ ...reasons, others: reason(-0.2) })).toBe(1);
});

test("changes are signed, unless nothing is left of them", () => {
	expect([0.015, -0.001, 0.00001].map((own) => pointsWith(own, 2))).toEqual([
		"+1.50",
		"−0.10",
		"0.00",
	]);
});

import { describe, expect, test } from "vitest";
import { tooFewText } from "./sample-patients.js";

describe("tooFewText", () => {
	test.each([
		[{ split: "test", patients: 5 }, "5 test patients: no conclusion"],
		[{ split: "valid", patients: 1 }, "1 validation patient: no conclusion"],
		[{ split: "test", patients: 29, labels: { positive: 14, all: 29 } }, /^29 test patients/],
		[
			{ split: "test", patients: 300, labels: { positive: 9, all: 300 } },
			"9 positive labels of 300 test patients: no conclusion",
		],
		[
			{ split: "train", patients: 300, labels: { positive: 299, all: 300 } },
			"1 negative label of 300 training patients: no conclusion",
		],
	] as const)("says why %j allows no conclusion", (evaluated, text) => {
		expect(tooFewText(evaluated)).toEqual(
			typeof text === "string" ? text : expect.stringMatching(text),
		);
	});

	test.each([
		{ split: "test", patients: 30 },
		{ split: "test", patients: 30, labels: { positive: 10, all: 30 } },
		{ split: "test", patients: 30, labels: { positive: 20, all: 30 } },
	] as const)("says nothing of %j", (evaluated) => {
		expect(tooFewText(evaluated)).toBeUndefined();
	});
});

import { expect, test } from "vitest";
import { type Token, vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import type { Reasons } from "../../../src/predict/reasons.js";
import { codeWords } from "./patient-context.js";
import { pointDigits, pointsWith, reasonNames, reasonRows } from "./reasons-panel.js";

const reason = (effect: number) => ({ parts: [6], records: 1, effect, error: 0 });
const reasons: Reasons = {
	risk: 0.034,
	start: 0.02,
	error: 0,
	listed: [reason(0.015)],
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

test("the rows are codes or, of an edited history, edits", () => {
	const token = (code: string, name: string): Token => ({
		kind: "diagnosis",
		system: "PheCode",
		code,
		name,
		category: null,
		count: 1,
	});
	const vocabulary = vocabularyOf([token("274", "Gout"), token("433", "Stroke")]);
	const history = { tokens: [3, 6], times: [0, 1], birthEvents: 1 } as const;
	const rowsOf = (edits: Parameters<typeof reasonNames>[0]["edits"], part: number) =>
		reasonRows(
			{ ...reasons, listed: [{ ...reason(0.014), parts: [part] }], others: null },
			reasonNames({ history, sex: "male", edits }, codeWords(vocabulary)),
		).map(({ code, name }) => `${code},${name}`);
	expect(rowsOf([], 6)).toEqual([
		",the model without records, age and sex known",
		"433,Stroke",
		",risk within 5 years",
	]);
	expect(rowsOf([{ edit: { remove: 1 }, name: "Stroke removed, 2012-03-14" }], 0)).toEqual([
		",before the edits",
		",Stroke removed, 2012-03-14",
		",risk within 5 years after the edits",
	]);
});

import { expect, test } from "vitest";
import { type Token, vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import { riskWords } from "./risk-words.js";

const vocabulary = vocabularyOf(
	["Stroke", "Gout"].map(
		(name): Token => ({
			...{ kind: "diagnosis", code: name, name, category: null, count: 1, system: "PheCode" },
		}),
	),
);
const rising = (most: number) => Array.from({ length: 40 }, (_, at) => (most * (at + 1)) / 40);

test("announces risks with what they were, and the likely new diagnoses", () => {
	const stroke = { token: 5, recordedAt: null, curve: rising(0.1), sameAgeAndSex: rising(0.05) };
	const gout = { token: 6, recordedAt: 3, curve: rising(0.1), sameAgeAndSex: null };
	const before = [{ ...stroke, curve: rising(0.08) }, gout];
	const likely = [{ token: 5, probability: 0.01, sameAgeAndSex: 0.005 }];
	const said = (was: typeof before | null) =>
		riskWords(
			{ risks: [stroke, gout], before: was, likely, above: [] },
			...([25, vocabulary, { axis: "days", birth: null }] as const),
		);
	expect(said(null)).toBe(
		"Risks after day 25. Stroke 1.0 % within 1 year, people of this age and sex 0.50 %, 5.0 % within 5 years, people of this age and sex 2.5 %, 10 % within 10 years, people of this age and sex 5.0 %. Gout already recorded. Most likely new diagnoses within a year: Stroke 1.0 %.",
	);
	expect(said(before)).toContain(
		"5.0 % within 5 years, was 4.0 %, people of this age and sex 2.5 %",
	);
});

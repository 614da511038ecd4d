import { describe, expect, test } from "vitest";
import { specialCount, type Token, type Vocabulary } from "../cohort/vocabulary.js";
import { definitionOfTask, tokensOf } from "./definition.js";
import { libraryTask, libraryTasks, parseAces } from "./read-aces.js";

const aces = (text: string) => parseAces("mine", { file: "mine.yaml", text });

const washout = (input: string, end = "start + 90 days") => `
predicates:
  visit: { code: VISIT }
  stroke: { code: { any: [A, B] } }
  bleed: { code: C }
  event: { expr: "or(stroke, bleed)" }
trigger: visit
windows:
  input: { start: ${input}, end: trigger, start_inclusive: true, end_inclusive: true, has: { event: "(None, 0)" }, index_timestamp: end }
  target: { start: input.end, end: ${end}, start_inclusive: false, end_inclusive: true, label: event }
`;
const codes = [{ any: ["A", "B"] }, { equals: "C" }];

describe("definitionOfTask", () => {
	test("says what is predicted, within which horizon, and in whom", () => {
		expect(definitionOfTask(aces(washout("null")), "ACES file mine.yaml")).toEqual({
			what: "event in target (input.end, start + 90 days]",
			source: "ACES file mine.yaml",
			horizonDays: 90,
			without: { codes },
		});
		expect(definitionOfTask(aces(washout("end - 365 days")), "x")?.without).toEqual({
			codes,
			withinDays: 365,
		});
	});

	test("has no horizon where the end of the target depends on the records", () => {
		const open = definitionOfTask(aces(washout("null", "start -> visit")), "x");
		expect(open?.horizonDays).toBeUndefined();
	});

	test("defines every ready task in one sentence, with its horizon", () => {
		const horizons = libraryTasks().map((name) => {
			const definition = definitionOfTask(libraryTask(name), `ready task ${name}`);
			expect(definition?.what).toMatch(/^[a-z]|^COPD/);
			expect(definition?.what).not.toMatch(/\. |\.$|\n/);
			return [name, definition?.horizonDays] as const;
		});
		expect(Object.fromEntries(horizons)).toMatchObject({
			...{ "heart-failure": 365, "mortality-1y": 365, "readmission-30": 30 },
		});
	});
});

test("tokensOf finds the tokens of codes as MEDS writes them", () => {
	const token = (code: string, system: string | null): Token => ({
		...{ code, system, name: code, kind: "diagnosis", category: null, count: 1 },
	});
	const special = Array.from({ length: specialCount }, () => token("A", null));
	const vocabulary = {
		tokens: [...special, token("428", "PheCode"), token("I50.9", "ICD10CM"), token("A", "MEDS")],
	} as unknown as Vocabulary;
	const found = (...tests: Parameters<typeof tokensOf>[1]) =>
		tokensOf(vocabulary, tests).map((at) => at - specialCount);
	expect(found({ regex: "(?i)^(phecode//428|icd10cm//I50)" })).toEqual([0, 1]);
	expect(found({ equals: "A" })).toEqual([2]);
	expect(found({ any: ["PheCode//428", "A"] })).toEqual([0, 2]);
	expect(found({ regex: "(?P<name>x)" })).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { builtInMap } from "../../data/codes/index.js";
import type { Manifest } from "../../data/cohort/index.js";
import { type Token, vocabularyOf } from "../../data/cohort/vocabulary.js";
import { type CodeBook, findCode } from "./find-code.js";

const token = (system: string, code: string, name = code): Token => ({
	...{ kind: "diagnosis", category: null, count: 9 },
	...{ system, code, name },
});
const book = (map: string | null, ...tokens: Token[]): CodeBook => ({
	vocabulary: vocabularyOf(tokens),
	manifest: { codes: { map }, filters: { minCount: 5 } } as Manifest,
	map: builtInMap(),
});
const phecodes = book(
	builtInMap().source,
	token("PheCode", "401", "Hypertension"),
	token("PheCode", "008", "Intestinal infection"),
	token("PheCode", "428", "Heart failure"),
	token("PheCode", "495", "Asthma"),
	token("ATC", "A10AB01", "insulin"),
);

describe("finds", () => {
	test("a code of the vocabulary, and says nothing of it", () => {
		expect(findCode("428", phecodes)).toEqual({ code: "428", name: "Heart failure", tokens: [7] });
		expect(findCode("A10AB01", phecodes).tokens).toEqual([9]);
		expect(findCode("phecode:428", phecodes).tokens).toEqual([7]);
	});

	test("a code with all ranges of its values, or one of them", () => {
		const range = (quantile: number) => ({
			...{ code: "2345-7", name: "Glucose", unit: null, low: null, high: null, quantile, of: 2 },
		});
		const glucose = book(
			null,
			token("LOINC", "2345-7", "Glucose"),
			{ ...token("LOINC", "2345-7 Q1"), value: range(1) },
			{ ...token("LOINC", "2345-7 Q2"), value: range(2) },
			token("LOINC", "8480-6"),
		);
		expect(findCode("loinc:2345-7", glucose)).toEqual({
			...{ code: "2345-7", name: "Glucose", tokens: [5, 6, 7] },
			note: "loinc:2345-7: Glucose, any value",
		});
		expect(findCode("2345-7 Q2", glucose).tokens).toEqual([7]);
		expect(findCode("8480-6", glucose).tokens).toEqual([8]);
	});

	test("an ICD code by the dataset's map, and says so", () => {
		expect(findCode("I50.9", phecodes)).toEqual({
			code: "428",
			name: "Heart failure",
			tokens: [7],
			note: "I50.9: an ICD-10-CM code, so 428 Heart failure",
		});
		expect(findCode("4280", phecodes).note).toBe("4280: an ICD-9-CM code, so 428 Heart failure");
		// as ICD-9 it is asthma, as PheCode it would be nothing
		expect(findCode("493.9", phecodes).code).toBe("495");
		expect(findCode("icd9:493.90", phecodes).code).toBe("495");
	});

	test("the one code of a name, a synonym or an abbreviation", () => {
		const failure = { code: "428", name: "Heart failure", tokens: [7] };
		expect(findCode("heart failure", phecodes)).toEqual(failure);
		expect(findCode("CHF", phecodes)).toEqual({
			...failure,
			note: "CHF: taken as 428 Heart failure",
		});
		expect(findCode("high blood pressure", phecodes).code).toBe("401");
		expect(findCode("insulin", phecodes).code).toBe("A10AB01");
	});

	test("a PheCode that lost its zeros or has decimals the dataset has not", () => {
		expect(findCode("8", phecodes).code).toBe("008");
		expect(findCode("phecode:428.2", phecodes).note).toBe(
			"phecode:428.2: read as 428 Heart failure",
		);
	});

	test("all codes below it", () => {
		const full = book(
			"phecodes.csv",
			token("PheCode", "250.2", "Type 2"),
			token("PheCode", "250.21"),
			token("PheCode", "250", "Diabetes"),
			token("PheCode", "2501"),
		);
		expect(findCode("250", full)).toEqual({
			code: "250",
			name: "Diabetes mellitus",
			tokens: [5, 6, 7],
			note: "250: all codes below it too 250.2 Type 2, 250.21, 250 Diabetes",
		});
		expect(findCode("250.2", full).tokens).toEqual([5, 6]);
	});

	test("ICD codes as they are, with or without the dot", () => {
		const asIs = book(null, token("ICD10CM", "I50.9"), token("ICD10CM", "I50.21"));
		expect(findCode("I509", asIs).tokens).toEqual([5]);
		expect(findCode("I50", asIs).tokens).toEqual([5, 6]);
	});
});

describe("named groups", () => {
	const grouped = {
		...phecodes,
		groups: [
			{ name: "circulatory system", tokens: [6, 7] },
			{ name: "stroke", tokens: [6] },
			{ name: "stroke or asthma", tokens: [6, 8] },
		],
	};

	test("are found by their name, in any case", () => {
		const found = { code: "stroke", name: "stroke", tokens: [6] };
		expect(findCode("Stroke", grouped)).toEqual(found);
	});

	test("are found by the beginning of their name, if there is one such group", () => {
		expect(findCode("circulatory", grouped)).toEqual({
			...{ code: "circulatory system", name: "circulatory system", tokens: [6, 7] },
			note: expect.stringMatching(
				/^circulatory: taken as the group circulatory system, the first record of any of its codes: \d.*; name a code to ask about it alone$/,
			),
		});
		expect(() => findCode("strok", grouped)).toThrow(
			"near it are the group stroke, the group stroke or asthma",
		);
	});

	test("do not hide codes", () => {
		expect(findCode("428", grouped).code).toBe("428");
	});
});

describe("refuses", () => {
	test("an unknown code, with those that have it in their name, or begin like it", () => {
		expect(() => findCode("heart", phecodes)).toThrow(
			'the model has no code "heart"; near it are 428 Heart failure; expected one of its 5 codes, or an ICD code',
		);
		for (const asked of ["42x", "phecode:42x", "4289z"])
			expect(() => findCode(asked, phecodes), asked).toThrow(
				`no code "${asked}"; near it are 428 Heart failure; expected`,
			);
	});

	test("a synonym of several codes, with these", () => {
		const strokes = book(
			builtInMap().source,
			token("PheCode", "433", "Cerebrovascular disease"),
			token("PheCode", "430", "Intracranial hemorrhage"),
		);
		expect(() => findCode("stroke", strokes)).toThrow(
			'"stroke" stands for 2 codes: 433 Cerebrovascular disease, 430 Intracranial hemorrhage; name one of them',
		);
		expect(findCode("TIA", strokes).code).toBe("433");
	});

	test("a misspelt name, with the nearest", () => {
		expect(() => findCode("astma", phecodes)).toThrow(
			'the model has no code "astma"; near it are 495 Asthma; expected',
		);
		expect(() => findCode("phecode:asthma", phecodes)).toThrow("near it are 495 Asthma");
	});

	test("one that nothing is near, with how to list them", () => {
		for (const asked of ["nosuch", "4xy", "9"])
			expect(() => findCode(asked, phecodes), asked).toThrow(
				`the model has no code "${asked}", nor one near it; expected one of its 5 codes (\`trajgpt codes RUN\` lists them), or an ICD code`,
			);
	});

	test("an ICD code whose PheCode the model has not learned", () => {
		expect(() => findCode("E11.9", phecodes)).toThrow(
			"E11.9 is PheCode 250 Diabetes mellitus, which the model does not know: fewer than 5 records",
		);
	});

	test("an ICD code where the map is a file that was not given", () => {
		expect(() => findCode("I50.9", { ...phecodes, map: undefined })).toThrow(
			"(needs `phecodeMap` FILE)",
		);
	});
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { builtInMap, pheCodes } from "./built-in.js";
import { codeSearch, type SearchableCode, wordKey, wordsOf } from "./search.js";
import synonyms from "./synonyms.json" with { type: "json" };

/** Cases separated by ` | ` or line ends, whose cells are separated by `: `. */
const cells = (text: string): string[][] =>
	text
		.trim()
		.split(/ \| |\n/)
		.map((one) => one.split(": "));

const code = (system: string | null, code: string, name: string, count = 1): SearchableCode => ({
	...{ system, code, name, category: null, count },
});
const catalogue = pheCodes.map((phecode) => ({ ...phecode, system: "PheCode", count: 1 }));
const search = codeSearch(catalogue);
const foundIn =
	(codes: readonly SearchableCode[], find = codeSearch(codes)) =>
	(text: string) =>
		find(text).map(({ at }) => codes[at]?.code);
const found = foundIn(catalogue);

describe("the table of synonyms", () => {
	test("has PheCodes of the catalogue alone", () => {
		const known = new Set(pheCodes.map((phecode) => phecode.code));
		for (const { phecodes, terms } of synonyms) {
			expect(phecodes.length).toBeGreaterThan(0);
			for (const phecode of phecodes) expect(`${terms[0]}: ${known.has(phecode)}`).toMatch(/true/);
		}
	});

	test("has no empty term, and none twice in a meaning or with the same first PheCode", () => {
		const seen = new Set<string>();
		for (const { phecodes, terms } of synonyms)
			for (const term of terms) {
				const key = wordKey(wordsOf(term));
				expect(key).not.toBe("");
				const place = `${phecodes[0]} ${key}`;
				expect(seen.has(place) ? `${place} stands twice` : "").toBe("");
				seen.add(place);
			}
	});

	test("finds a PheCode of one of its meanings first, and all of them, for every term", () => {
		const ofKey = new Map<string, string[]>();
		const terms = synonyms.flatMap(({ phecodes, terms }) =>
			terms.map((term) => ({ term, phecodes, key: wordKey(wordsOf(term)) })),
		);
		for (const { key, phecodes } of terms) ofKey.set(key, [...(ofKey.get(key) ?? []), ...phecodes]);
		for (const { term, phecodes, key } of terms) {
			const [first = "", ...rest] = found(term);
			expect(ofKey.get(key)?.includes(first) ? term : `${term}: ${first}`).toBe(term);
			expect([first, ...rest]).toEqual(expect.arrayContaining([...phecodes]));
		}
	});

	test.each(
		cells(`
stroke: I63.9 | brain bleed: I61.9 | TIA: G45.9 | heart attack: I21.9 | angina: I20.9 | CAD: I25.10
afib: I48.91 | CHF: I50.9 | high blood pressure: I10 | low blood pressure: I95.9 | PE: I26.99 | DVT: I82.409
AAA: I71.4 | PAD: I73.9 | aortic stenosis: I35.0 | piles: K64.9 | COPD: J44.9 | emphysema: J43.9
pneumonia: J18.9 | flu: J11.1 | hay fever: J30.9 | OSA: G47.33 | T2D: E11.9 | high cholesterol: E78.00
obesity: E66.9 | underactive thyroid: E03.9 | overactive thyroid: E05.90 | gout: M10.9 | PCOS: E28.2
depression: F32.9 | bipolar: F31.9 | anxiety: F41.9 | PTSD: F43.10 | ADHD: F90.9 | autism: F84.0
Alzheimer's: G30.9 | alcoholism: F10.20 | smoking: F17.210 | Parkinson's: G20 | epilepsy: G40.909
ALS: G12.21 | carpal tunnel: G56.00 | shingles: B02.9 | CKD: N18.9 | ESRD: N18.6 | AKI: N17.9 | UTI: N39.0
kidney stones: N20.0 | BPH: N40.1 | ED: N52.9 | GERD: K21.9 | Crohn's: K50.90 | IBS: K58.9
celiac disease: K90.0 | fatty liver: K76.0 | gallstones: K80.20 | hepatitis C: B18.2 | breast cancer: C50.919
prostate cancer: C61 | lung cancer: C34.90 | bowel cancer: C18.9 | melanoma: C43.9 | ovarian cancer: C56.9
multiple myeloma: C90.00 | NHL: C85.90 | low iron: D50.9 | sickle cell: D57.1 | low platelets: D69.6
sepsis: A41.9 | HIV: B20 | RA: M06.9 | osteoarthritis: M17.9 | lupus: M32.9 | osteoporosis: M81.0
slipped disc: M51.26 | low back pain: M54.5 | eczema: L20.9 | hives: L50.9 | glaucoma: H40.9
macular degeneration: H35.30 | broken hip: S72.001A | concussion: S06.0X0A | preeclampsia: O14.90
Down syndrome: Q90.9 | fever: R50.9 | shortness of breath: R06.02`),
	)("%s is where %s is mapped to", (term, icd) =>
		expect(builtInMap().phecodesOf("ICD10CM", icd ?? "")).toContain(found(term ?? "")[0]),
	);
});

describe("finds first", () => {
	// C45 is mapped at C45.0 and below only.
	test.each(
		cells(`
428: 428: code | 8: 008: code | I50.9: 428: code | i509: 428: code | 4280: 428: code | 434.91: 433: code
C45: 165: code | asthma: 495: name | cancer of the prostate: 185: name | Leukaemia: 204: name
stroke: 433: synonym | STROKES: 433: synonym | A-fib: 427: synonym | Guillain-Barre syndrome: 357: synonym
Alzheimers: 290: synonym | oesophageal cancer: 150: synonym | congestive: 428: words
type 2 diabetes mellitus: 250: words | strok: 433: prefix | heart att: 411: prefix | dysrhyth: 427: prefix
carditis: 420: name | thromboembol: 452: prefix | astma: 495: spelling | hypertenson: 401: spelling
Parkinosn: 332: spelling`),
	)("%s: %s, by its %s", (text, phecode, match) => {
		const [first] = search(text ?? "");
		expect([catalogue[first?.at ?? -1]?.code, first?.match]).toEqual([phecode, match]);
	});

	test("says by which synonym or ICD code", () => {
		expect(search("mi")[0]).toMatchObject({ match: "synonym", via: "MI" });
		expect(search("i509")[0]).toMatchObject({ match: "code", via: "ICD-10-CM I50.9" });
		expect(search("asthma")[0]).not.toHaveProperty("via");
	});
});

describe("ranks", () => {
	const codes = [
		code("PheCode", "250", "Diabetes mellitus", 9),
		code("PheCode", "401", "Hypertension", 50),
		code("PheCode", "249", "Secondary diabetes mellitus", 2),
		code("PheCode", "427", "Cardiac dysrhythmias", 70),
		code(null, "[BIRTH]", "birth, sex unknown"),
	].map((own, at) => ({ ...own, category: at % 2 ? "circulatory system" : "endocrine/metabolic" }));
	const found = foundIn(codes);

	test("by records where codes match alike", () => {
		expect(found("diab")).toEqual(["250", "249"]);
		expect(found("4")).toEqual(["427", "401"]);
		expect(found("circulatory")).toEqual(["427", "401"]);
		expect(found("mellitus second")).toEqual(["249"]);
	});

	test("a code before an ICD code of the same number", () => {
		expect(foundIn(catalogue)("715").slice(0, 2)).toEqual(["715", "740"]);
	});

	test("all codes by records if nothing is searched for, but never special tokens", () => {
		expect(found(" ")).toEqual(["427", "401", "250", "249"]);
		expect(found("birth")).toEqual([]);
	});

	test("an abbreviation of two meanings, with both", () => {
		expect(foundIn(catalogue)("MS").slice(0, 3)).toEqual(["335", "395", "394"]);
	});
});

describe("searches other codes", () => {
	test("PheCodes with decimals: the one that is named so first, then the rest below", () => {
		const full = [
			code("PheCode", "411.1", "Unstable angina (intermediate coronary syndrome)", 9),
			code("PheCode", "411.2", "Myocardial infarction", 5),
			code("PheCode", "411", "Ischemic Heart Disease", 1),
			code("PheCode", "428.1", "Congestive heart failure (CHF) NOS"),
		];
		const found = foundIn(full);
		expect(found("MI")).toEqual(["411.2", "411.1", "411"]);
		expect(found("411")).toEqual(["411", "411.1", "411.2"]);
		expect(found("I21.9")).toEqual(["411.1", "411.2", "411"]);
		expect(found("428.2")).toEqual(["428.1"]); // by ICD-9-CM
	});

	test("ICD codes, through their PheCodes", () => {
		const icd = [
			code("ICD10CM", "I63.9", "Cerebral infarction, unspecified"),
			code("ICD10CM", "I50.21", "Acute systolic (congestive) heart failure"),
			code("ICD10CM", "I50.9", "Heart failure, unspecified", 5),
			code("ICD9CM", "428.0", "Congestive heart failure, unspecified"),
		];
		const found = foundIn(icd);
		expect(found("stroke")).toEqual(["I63.9"]);
		expect(found("i50")).toEqual(["I50.21", "I50.9"]);
		expect(found("I509")[0]).toBe("I50.9");
		expect(found("428")[0]).toBe("428.0");
		expect([...found("CHF")].sort()).toEqual(["428.0", "I50.21", "I50.9"]);
	});

	test("codes of any system by the other names of what is meant", () => {
		const others = [
			code("SNOMED", "49436004", "Atrial fibrillation"),
			code("ATC", "A10AB01", "insulin (human)"),
		];
		const found = foundIn(others);
		expect(found("afib")).toEqual(["49436004"]);
		expect(found("a10ab01")).toEqual(["A10AB01"]);
		expect(found("A10")).toEqual(["A10AB01"]);
	});

	test("SNOMED concepts, where the map has them", () => {
		const map = {
			...builtInMap(),
			phecodesOfSnomed: (id: string) => (id === "84114007" ? ["428"] : []),
		};
		const [first] = codeSearch(catalogue, map)("84114007");
		expect(first).toMatchObject({ match: "code", via: "SNOMED 84114007" });
		expect(catalogue[first?.at ?? -1]?.code).toBe("428");
	});
});

describe("does not fail", () => {
	test.each(["???", "…", "\u0000", "(", "[a-z]+", ".*", "\\", "'; DROP TABLE codes", "💔"])(
		"on %j",
		(text) => expect(search(text)).toEqual([]),
	);

	test("on long queries, which it cuts", () => {
		expect(search("x".repeat(1e6))).toEqual([]);
		expect(search(`${"asthma ".repeat(1e5)}`).length).toBeGreaterThan(0);
		expect(search("s st str stro strok")[0]?.match).toBe("prefix");
		expect(search("a b c d e f g h i j k l m n o p")).toEqual([]);
	});

	test("on any text, and finds each code once", () => {
		fc.assert(
			fc.property(
				fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })),
				(text) => {
					const places = search(text).map(({ at }) => at);
					expect(new Set(places).size).toBe(places.length);
					for (const at of places) expect(catalogue[at]).toBeDefined();
				},
			),
		);
		expect(codeSearch([])("stroke")).toEqual([]);
	});

	test("to find every code by its code and by its name", () => {
		for (const { code, name } of catalogue) {
			expect(found(code)[0]).toBe(code);
			expect(search(name)[0]?.match).toBe("name");
		}
	});
});

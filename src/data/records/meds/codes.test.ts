import fc from "fast-check";
import { expect, test } from "vitest";
import { medsCode } from "./shard.js";

/** Codes of a MEDS dataset: what they are, separated by ` | `. */
const cells = (text: string) =>
	text
		.trim()
		.split("\n")
		.map((line) => line.split(/ +\| /));

test.each(
	cells(`
DIAGNOSIS//ICD//9//5715 | ICD9CM | 5715 | diagnosis
DIAGNOSIS//ICD//10//I509 | ICD10CM | I509 | diagnosis
DIAGNOSIS//ICD10CM//I50.9 | ICD10CM | I50.9 | diagnosis
diagnosis//ICD-10-CM//I50.9 | ICD10CM | I50.9 | diagnosis
ICD9CM/428.0 | ICD9CM | 428.0 | diagnosis
ICD10CM//I50.9 | ICD10CM | I50.9 | diagnosis
ICD10CM/ I50.9 | ICD10CM | I50.9 | diagnosis
ICD10//I50 | ICD10CM | I50 | diagnosis
CONDITION//SNOMED//44054006 | SNOMED | 44054006 | diagnosis
SNOMED/44054006 | SNOMED | 44054006 | diagnosis
PROCEDURE//SNOMED//80146002 | SNOMED | 80146002 | procedure
PROCEDURE//ICD//9//5491 | ICD9Proc | 5491 | procedure
PROCEDURE//ICD//10//02RF08Z | ICD10PCS | 02RF08Z | procedure
ICD9Proc/54.91 | ICD9Proc | 54.91 | procedure
ICD10PCS/02RF08Z | ICD10PCS | 02RF08Z | procedure
RxNorm/197361 | RxNorm | 197361 | drug
RXNORM//197361 | RxNorm | 197361 | drug
MEDICATION//START//RxNorm//197361 | RxNorm | 197361 | drug
RxNorm Extension/OMOP123 | RxNorm Extension | OMOP123 | drug
NDC/00338004904 | NDC | 00338004904 | drug
ATC//C09AA05 | ATC | C09AA05 | drug
MEDICATION//START//Insulin | Name | Insulin | drug
MEDICATION//Insulin//Administered | Name | Insulin | drug
MEDICATION//Heparin Flush (10 units/ml)//Administered | Name | Heparin Flush (10 units/ml) | drug
LOINC/2160-0 | LOINC | 2160-0 | laboratory
LAB//LOINC//2160-0 | LOINC | 2160-0 | laboratory`),
)("%s is %s %s, %s", (text = "", system, code, kind) => {
	expect(medsCode(text)).toEqual({ is: "record", system, code, kind });
});

test.each(
	cells(`
LAB//51087//UNK | laboratory
PROCEDURE//225402//start | procedure
MEDICATION//STOP//Furosemide | other
MEDICATION//START//UNK | other
MEDICATION//UNK//Administered | other
MEDICATION//START//Administered//Administered | other
MEDICATION//Insulin//Not Given | other
MEDICATION//Insulin//Delayed Administered | other
MEDICATION//START//Insulin//SC | other
MEDICATION//STOP//RxNorm//197361 | other
DIAGNOSIS//ICD//11//BD10 | other
DIAGNOSIS//ICD//10//I509//primary | other
ICD10GM/I50.9 | other
ICD10CM/ | other
DRG//HCFA//280//ACUTE MYOCARDIAL INFARCTION | other
Blood Pressure | other
MEDS_BIRTHDAY | other
// | other`),
)("%s keeps its whole text, and is of kind %s", (code, kind) => {
	expect(medsCode(code ?? "")).toEqual({ is: "record", system: "MEDS", code, kind });
});

test.each([
	["MEDS_BIRTH", { is: "birth" }],
	["MEDS_BIRTH//HOSPITAL", { is: "birth" }],
	["MEDS_DEATH", { is: "death" }],
	["MEDS_DEATH//ICU", { is: "death" }],
	["GENDER//F", { is: "sex", sex: "female" }],
	["SEX//Male", { is: "sex", sex: "male" }],
	["Gender/M", { is: "sex", sex: "male" }],
	["MIMIC_IV_Gender/F", { is: "sex", sex: "female" }],
	["GENDER//UNK", { is: "sex", sex: null }],
])("%s is no record", (text, expected) => {
	expect(medsCode(text)).toEqual(expected);
});

test("classifies any text, quickly", () => {
	const parts = "DIAGNOSIS,ICD,9,10,/,//,SNOMED,GENDER,F, ,".split(",");
	const joined = fc
		.array(fc.constantFrom(...parts), { maxLength: 60 })
		.map((list) => list.join(""));
	fc.assert(
		fc.property(fc.oneof(fc.string(), joined), (meds) => {
			const meaning = medsCode(meds);
			if (meaning.is !== "record" || meaning.system === "MEDS") return;
			expect(meds).toContain(meaning.code);
			expect(meaning.code.trim()).not.toBe("");
		}),
		{ numRuns: 1000 },
	);
});

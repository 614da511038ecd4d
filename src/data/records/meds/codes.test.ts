import fc from "fast-check";
import { expect, test } from "vitest";
import { medsCode } from "./shard.js";

test.each([
	["DIAGNOSIS//ICD//9//5715", "ICD9CM", "5715", "diagnosis"],
	["DIAGNOSIS//ICD//10//I509", "ICD10CM", "I509", "diagnosis"],
	["DIAGNOSIS//ICD10CM//I50.9", "ICD10CM", "I50.9", "diagnosis"],
	["diagnosis//ICD-10-CM//I50.9", "ICD10CM", "I50.9", "diagnosis"],
	["ICD9CM/428.0", "ICD9CM", "428.0", "diagnosis"],
	["ICD10CM//I50.9", "ICD10CM", "I50.9", "diagnosis"],
	["ICD10CM/ I50.9 ", "ICD10CM", "I50.9", "diagnosis"],
	["ICD10//I50", "ICD10CM", "I50", "diagnosis"],
	["CONDITION//SNOMED//44054006", "SNOMED", "44054006", "diagnosis"],
	["SNOMED/44054006", "SNOMED", "44054006", "diagnosis"],
	["PROCEDURE//SNOMED//80146002", "SNOMED", "80146002", "procedure"],
	["PROCEDURE//ICD//9//5491", "ICD9Proc", "5491", "procedure"],
	["PROCEDURE//ICD//10//02RF08Z", "ICD10PCS", "02RF08Z", "procedure"],
	["ICD9Proc/54.91", "ICD9Proc", "54.91", "procedure"],
	["ICD10PCS/02RF08Z", "ICD10PCS", "02RF08Z", "procedure"],
	["RxNorm/197361", "RxNorm", "197361", "drug"],
	["RXNORM//197361", "RxNorm", "197361", "drug"],
	["MEDICATION//START//RxNorm//197361", "RxNorm", "197361", "drug"],
	["RxNorm Extension/OMOP123", "RxNorm Extension", "OMOP123", "drug"],
	["NDC/00338004904", "NDC", "00338004904", "drug"],
	["ATC//C09AA05", "ATC", "C09AA05", "drug"],
	["MEDICATION//START//Insulin", "Name", "Insulin", "drug"],
	["MEDICATION//Insulin//Administered", "Name", "Insulin", "drug"],
	[
		"MEDICATION//Heparin Flush (10 units/ml)//Administered",
		"Name",
		"Heparin Flush (10 units/ml)",
		"drug",
	],
	["LOINC/2160-0", "LOINC", "2160-0", "laboratory"],
	["LAB//LOINC//2160-0", "LOINC", "2160-0", "laboratory"],
])("%s is %s %s, %s", (text, system, code, kind) => {
	expect(medsCode(text)).toEqual({ is: "record", system, code, kind });
});

test.each([
	["LAB//51087//UNK", "laboratory"],
	["PROCEDURE//225402//start", "procedure"],
])("%s keeps its whole text, and is of kind %s", (text, kind) => {
	expect(medsCode(text)).toEqual({ is: "record", system: "MEDS", code: text, kind });
});

test.each([
	"MEDICATION//STOP//Furosemide",
	"MEDICATION//START//UNK",
	"MEDICATION//UNK//Administered",
	"MEDICATION//START//Administered//Administered",
	"MEDICATION//Insulin//Not Given",
	"MEDICATION//Insulin//Delayed Administered",
	"MEDICATION//START//Insulin//SC",
	"MEDICATION//STOP//RxNorm//197361",
	"DIAGNOSIS//ICD//11//BD10",
	"DIAGNOSIS//ICD//10//I509//primary",
	"ICD10GM/I50.9",
	"ICD10CM/",
	"DRG//HCFA//280//ACUTE MYOCARDIAL INFARCTION",
	"Blood Pressure",
	"MEDS_BIRTHDAY",
	"//",
	" ",
])("%s keeps its whole text", (text) => {
	expect(medsCode(text)).toEqual({ is: "record", system: "MEDS", code: text, kind: "other" });
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
	const part = fc.constantFrom(
		"DIAGNOSIS",
		"ICD",
		"9",
		"10",
		"/",
		"//",
		"SNOMED",
		"GENDER",
		"F",
		"",
	);
	const text = fc.oneof(
		fc.string(),
		fc.array(part, { maxLength: 60 }).map((parts) => parts.join("")),
	);
	fc.assert(
		fc.property(text, (meds) => {
			const found = medsCode(meds);
			if (found.is === "record" && found.system !== "MEDS") {
				expect(meds).toContain(found.code);
				expect(found.code.trim()).not.toBe("");
			}
		}),
		{ numRuns: 1000 },
	);
});

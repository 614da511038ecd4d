import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { readCodeNames } from "./names.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

async function namesOf(text: string) {
	const file = join(await temporaryFolder(), "names.csv");
	await writeFile(file, text);
	const names = await readCodeNames(file);
	return Object.fromEntries(names.map(({ code, system: _, ...name }) => [code, name]));
}

describe("readCodeNames", () => {
	test("reads names, and optional categories and kinds", async () => {
		expect(
			await namesOf(
				'code,name,category,kind\n3, Guru\n250,"Diabetes, ""type 2""" ,metabolic,diagnosis\r\n\nx,y,,\n',
			),
		).toEqual({
			"3": { name: "Guru", category: null, kind: null },
			"250": { name: 'Diabetes, "type 2"', category: "metabolic", kind: "diagnosis" },
			x: { name: "y", category: null, kind: null },
		});
	});

	test("finds columns by their names, and systems", async () => {
		const file = join(await temporaryFolder(), "d_icd_diagnoses.csv");
		await writeFile(
			file,
			'icd_code,icd_version,long_title\nE8889,9,"Fall, unspecified"\nE8889,10,Other\n',
		);
		const none = { category: null, kind: null };
		expect(await readCodeNames(file)).toEqual([
			{ system: "ICD9CM", code: "E8889", name: "Fall, unspecified", ...none },
			{ system: "ICD10CM", code: "E8889", name: "Other", ...none },
		]);
	});

	test.each([
		["id,name\n", "names no code"],
		["id,name\n3\n", "line 2 has no name"],
		["id,name\n,Guru\n", "line 2 has no code"],
		['id,name\n3,"Guru\n', "line 2: a quote is opened and never closed"],
		['id,name\n3,"Gu"ru\n', "line 2: text after a closing quote"],
		["id,name\n3,a\n3,b\n", "line 3 names code 3 a second time"],
		["id,name,category,kind\n3,a,b,virus\n", 'kind "virus"; expected one of diagnosis, drug'],
	])("refuses %j", async (text, message) => {
		await expect(namesOf(text)).rejects.toThrow(message);
		await expect(namesOf(text)).rejects.toThrow(InputError);
	});

	test("returns names or an InputError for any text", async () => {
		const text = fc.string({ unit: fc.constantFrom("a", ",", '"', " ", "\n", "\r") });
		await fc.assert(
			fc.asyncProperty(text, async (body) => {
				await namesOf(`head\n${body}`).catch((error) => expect(error).toBeInstanceOf(InputError));
			}),
		);
	});
});

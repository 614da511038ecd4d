import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { readCodeNames } from "./names.js";
import { folderOf, refused, rowsOf } from "./testing/format-cases.js";

const namesOf = async (text: string) =>
	readCodeNames(join(await folderOf({ "names.csv": text }), "names.csv"));

test.each([
	[
		'code,name,category,kind\n3, Guru\n250,"Diabetes, ""type 2""" ,metabolic,diagnosis\r\n\nx,y,,\n',
		["3 Guru", '250 Diabetes, "type 2" metabolic diagnosis', "x y"],
	],
	[
		'icd_code,icd_version,long_title\nE8889,9,"Fall, unspecified"\nE8889,10,Other\n',
		["ICD9CM E8889 Fall, unspecified", "ICD10CM E8889 Other"],
	],
])("reads %j", async (text, names) => {
	expect(rowsOf(await namesOf(text))).toEqual(names);
});

test.each([
	["id,name\n", "names no code"],
	["id,name\n3\n", "line 2 has no name"],
	["id,name\n,Guru\n", "line 2 has no code"],
	['id,name\n3,"Guru\n', "line 2: a quote is opened and never closed"],
	['id,name\n3,"Gu"ru\n', "line 2: text after a closing quote"],
	["id,name\n3,a\n3,b\n", "line 3 names code 3 a second time"],
	["id,name,category,kind\n3,a,b,virus\n", 'kind "virus"; expected one of diagnosis, drug'],
])("refuses %j", (text, message) => refused(namesOf(text), message));

test("returns names or an InputError for any text", async () => {
	const text = fc.string({ unit: fc.constantFrom("a", ",", '"', " ", "\n", "\r") });
	await fc.assert(
		fc.asyncProperty(text, async (body) => {
			await namesOf(`head\n${body}`).catch((error) => expect(error).toBeInstanceOf(InputError));
		}),
		{ numRuns: 50 },
	);
});

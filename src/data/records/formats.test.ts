import { execFileSync } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { taskText } from "../tasks/read-aces.js";
import { openRecords } from "./formats.js";
import { load } from "./testing/load.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

const contents = {
	fhir: '{"resourceType":"Bundle","entry":[]}',
	events: '{"types":[4,9],"times":[0,2.5]}',
	json: "[1,2,3]",
	csv: "patient,date,icd9\np1,2010-01-01,401.9\n",
	parquet: "PAR1",
} as const;

test("says how a file is read that is of another kind than the format", async () => {
	const folder = await temporaryFolder();
	const open = async (format: string, kind: keyof typeof contents) => {
		const file = join(folder, kind);
		await writeFile(file, contents[kind]);
		return openRecords(format, [file], {});
	};
	for (const [format, kind, expected] of [
		["csv", "fhir", "is FHIR; expected delimited text"],
		["csv", "fhir", "read it with `format` fhir"],
		["csv", "events", "is an event list; "],
		["csv", "events", "read it with `format` events"],
		["csv", "json", "FHIR is read with `format` fhir, event lists with `format` events"],
		["meds", "fhir", "read it with `format` fhir"],
		["fhir", "csv", "is a table in text; expected R4 bundles"],
		["fhir", "csv", "read it with `format` csv"],
		["fhir", "events", "read it with `format` events"],
		["events", "csv", "read it with `format` csv"],
		["events", "fhir", "read it with `format` fhir"],
		["events", "parquet", "read it with `format` parquet, or `format` meds"],
		["omop", "csv", "read it with `format` csv"],
		["omop", "fhir", "read it with `format` fhir"],
	] as const)
		await expect(open(format, kind)).rejects.toThrow(expected);
	for (const [format, kind] of [
		["csv", "csv"],
		["fhir", "fhir"],
		["events", "events"],
	] as const)
		expect((await open(format, kind)).format).toBe(format);
});

// Nobody writes to the pipe: opening it would never end.
test.each([
	["csv", "records.csv"],
	["csv", "records.csv.gz"],
	["parquet", "records.parquet"],
	["meds", "records.parquet"],
	["fhir", "records.json"],
	["events", "records.jsonl"],
	["ACES", "task.yaml"],
])("%s refuses a pipe and a link to itself: %s", async (format, name) => {
	const folder = await temporaryFolder();
	const read = (file: string) =>
		format === "ACES" ? taskText(file) : openRecords(format, [file], {}).then(load);
	const pipe = join(folder, name);
	execFileSync("mkfifo", [pipe]);
	await expect(read(pipe)).rejects.toMatchObject({
		name: "InputError",
		message: `${pipe} is a pipe; expected a file, which can be read more than once: write the data to a file first`,
	});
	const link = join(folder, `link-${name}`);
	await symlink(link, link);
	await expect(read(link)).rejects.toMatchObject({
		name: "InputError",
		message: expect.stringMatching(/a link( that)? leads back to itself/),
	});
	expect(await read(link).catch(({ message }) => message)).toContain(link);
});

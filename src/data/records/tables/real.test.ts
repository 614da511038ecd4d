import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openCsv } from "./index.js";

const data = (name: string) =>
	new URL(`../../../../../shared/data/${name}`, import.meta.url).pathname;

describe("public data", () => {
	const mimic = data("mimic3_demo/");
	test.skipIf(!existsSync(mimic))("MIMIC-III: diagnoses joined with admissions", async () => {
		const file = (name: string) => join(mimic, `${name}.csv.gz`);
		const source = await openCsv(file("DIAGNOSES_ICD"), {
			join: file("ADMISSIONS"),
			on: "hadm_id",
			people: file("PATIENTS"),
			drugsFile: file("PRESCRIPTIONS"),
		});
		const { axis, records, people, names, notes } = await load(source);
		expect(axis).toBe("dates");
		const diagnoses = records.filter(({ kind }) => kind === "diagnosis");
		expect(diagnoses.length).toBe(1761);
		expect(diagnoses[0]).toEqual({
			patient: "10006",
			time: Date.UTC(2164, 9, 23, 21, 9) / 86_400_000,
			code: "99591",
			system: "ICD9CM",
			kind: "diagnosis",
			value: null,
		});
		expect(records.length - diagnoses.length).toBe(10_398);
		expect(new Set(records.map(({ system }) => system))).toEqual(
			new Set(["ICD9CM", "NDC", "Name"]),
		);
		expect(people.length).toBe(100);
		expect(people[0]).toMatchObject({
			patient: "10006",
			sex: "female",
			birth: Date.UTC(2094, 2, 5) / 86_400_000,
			death: Date.UTC(2165, 7, 12) / 86_400_000,
		});
		expect(names.length).toBeGreaterThan(500);
		expect(notes.join("\n")).toMatch(/rows have no ndc: known by name instead/);
	});

	const delphi = data("delphi_simulated/train.bin");
	test.skipIf(!existsSync(delphi))("Delphi: ages in days, tokens of its own", async () => {
		const bytes = await readFile(delphi);
		const triplets = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
		const lines = ["patient,age_days,token"];
		for (let at = 0; at < triplets.length; at += 3)
			lines.push(triplets.subarray(at, at + 3).join(","));
		const file = join(await temporaryFolder(), "delphi.csv");
		await writeFile(file, lines.join("\n"));
		const source = await openCsv(file, {
			timeIs: "age-days",
			code: "token",
			system: "Delphi",
			allowSystems: ["Delphi"],
		});
		const { axis, records, people } = await load(source);
		expect(axis).toBe("days");
		expect(records.length).toBe(triplets.length / 3);
		const patients = new Set(records.map(({ patient }) => patient));
		expect(people.length).toBe(patients.size);
		expect(people.every(({ birth }) => birth === 0)).toBe(true);
		for (const at of [0, 1, 777, records.length - 1])
			expect(records[at]).toEqual({
				patient: String(triplets[3 * at]),
				time: triplets[3 * at + 1],
				code: String(triplets[3 * at + 2]),
				system: "Delphi",
				kind: "other",
				value: null,
			});
	});
});

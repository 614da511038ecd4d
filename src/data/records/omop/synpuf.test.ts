import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { load } from "../testing/load.js";
import { openOmop } from "./index.js";

const real = new URL("../../../../../shared/data/synpuf1k_omop/", import.meta.url).pathname;

test.skipIf(!existsSync(real))("SynPUF 1k: eras, deaths and a map of concepts", async () => {
	const source = await openOmop(real, {
		conceptMap: join(real, "DERIVED_concept_to_icd9.csv"),
	});
	const { axis, records, people, names, notes } = await load(source);
	expect(axis).toBe("dates");
	const born = people.filter((row) => row.birth !== null);
	expect(born).toHaveLength(1000);
	expect(people.filter((row) => row.death !== null)).toHaveLength(52);
	const diagnoses = records.filter((row) => row.kind === "diagnosis");
	expect(diagnoses).toHaveLength(99_855 - 218); // concept 0 is left out
	expect(records.filter((row) => row.kind === "drug")).toHaveLength(56_257);
	const mapped = diagnoses.filter((row) => row.system === "ICD9CM").length;
	expect(Math.round((1000 * mapped) / 99_855)).toBe(745);
	expect(names).toEqual([]);
	expect(notes.join("\n")).toMatch(/condition_era: 99855 rows: 74\.5 % ICD9CM, 25\.3 % OMOP/);
	expect(notes.join("\n")).toMatch(/condition_era: 218 rows left out: concept 0/);
	expect(people[0]).toMatchObject({
		patient: "1",
		birth: Date.UTC(1923, 4, 1) / 86_400_000,
		sex: "male",
	});
	expect(records[0]).toEqual({
		patient: "1",
		time: Date.UTC(2010, 7, 17) / 86_400_000,
		code: records[0]?.code,
		system: records[0]?.system,
		kind: "diagnosis",
		value: null,
	});
});

test.skipIf(!existsSync(real))("SynPUF 1k: V codes among the observations", async () => {
	const source = await openOmop(real, { observations: true, sourceSystem: "icd9" });
	const { records, notes } = await load(source);
	const observed = records.filter((row) => row.system === "ICD9CM");
	// of 19,339, by source_concept_id all of them ICD-9-CM; 96 stand under a second concept
	expect(observed).toHaveLength(11_961 - 96);
	expect(notes.join("\n")).toMatch(/observation: 96 more rows repeat the source code/);
	expect(observed.every((row) => /^[VE]/.test(row.code))).toBe(true);
});

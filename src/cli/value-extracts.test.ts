import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Cdm, writeCdm } from "../records/omop/testing/cdm.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { writeParquet } from "../records/testing/write-parquet.js";
import { captured } from "./testing/captured.js";

/*
 * Extracts with numeric values, in the layouts of their standards and with invented values: from raw files to a
 * forecast in one `prepare` line.
 */

interface Extract {
	/** Writes the files and returns their folder. */
	write(folder: string): Promise<string>;
	readonly format: string;
	/** Options of the reader, for `prepare` and for new patients. */
	readonly options: readonly string[];
	/** A name of a range that the vocabulary must have. */
	readonly range: RegExp;
	/** The code with values, and its name. */
	readonly code: string;
	readonly name: string;
}

const patients = Array.from({ length: 24 }, (_, at) => at + 1);
const days = [3, 40, 80, 120];
const date = (day: number) => new Date(day * 86_400_000 + 1.5e12).toISOString().slice(0, 10);
/** Between 4 and 11 mmol/L, and on a scale 18 times as wide in mg/dL. */
const glucose = (patient: number, day: number) => 4 + ((patient * 7 + day) % 29) / 4;

const extracts: Readonly<Record<string, Extract>> = {
	"OMOP 5.4 with measurements": {
		format: "omop",
		options: ["--measurements", "--source-system", "icd10"],
		range: /^Glucose .*\d mg\/dL \(quantile 2 of \d\)$/,
		...{ code: "2345-7", name: "Glucose" },
		async write(folder) {
			const concept = (id: number, name: string, vocabulary: string, code: string) => ({
				...{ concept_id: id, concept_name: name, vocabulary_id: vocabulary, concept_code: code },
			});
			const cdm: Cdm = {
				person: patients.map((id) => ({
					...{ person_id: id, gender_concept_id: 8507 + 25 * (id % 2), year_of_birth: 1940 + id },
				})),
				condition_occurrence: patients.map((id) => ({
					...{ condition_occurrence_id: id, person_id: id, condition_concept_id: 201_826 },
					condition_start_date: date(10),
					condition_source_value: "E11.9",
				})),
				measurement: patients.flatMap((id) =>
					days.map((day, at) => ({
						...{ measurement_id: 10 * id + at, person_id: id, measurement_concept_id: 3_004_501 },
						measurement_date: date(day),
						value_as_number: (at % 2 ? 18 : 1) * glucose(id, day),
						unit_concept_id: at % 2 ? 8840 : 8753,
					})),
				),
				concept: [
					concept(3_004_501, "Glucose", "LOINC", "2345-7"),
					concept(8840, "milligram per deciliter", "UCUM", "mg/dL"),
					concept(8753, "millimole per liter", "UCUM", "mmol/L"),
				],
			};
			await writeCdm(folder, cdm);
			return folder;
		},
	},
	"MEDS with numeric values": {
		format: "meds",
		options: ["--kinds", "diagnosis,laboratory"],
		range: /^LAB\/\/50931\/\/mg\/dL .*\d \(quantile 2 of \d\)$/,
		...{ code: "LAB//50931//mg/dL", name: "LAB//50931//mg/dL" },
		async write(folder) {
			const rows = patients.flatMap((id) => [
				`(${id}, TIMESTAMP '${date(10)} 08:00:00', 'DIAGNOSIS//ICD//10//E119', NULL)`,
				...days.map(
					(day) =>
						`(${id}, TIMESTAMP '${date(day)} 07:30:00', 'LAB//50931//mg/dL', ${18 * glucose(id, day)})`,
				),
			]);
			await mkdir(join(folder, "data"));
			await writeParquet(
				join(folder, "data", "0.parquet"),
				`SELECT subject_id::BIGINT AS subject_id, time, code, numeric_value::FLOAT AS numeric_value
				FROM (VALUES ${rows.join(", ")}) AS t(subject_id, time, code, numeric_value)`,
			);
			return folder;
		},
	},
	"FHIR with Observations": {
		format: "fhir",
		options: ["--measurements"],
		range: /^Glucose .*\d mmol\/L \(quantile 2 of \d\)$/,
		...{ code: "2345-7", name: "Glucose" },
		async write(folder) {
			const coded = (system: string, code: string, display: string) => ({
				coding: [{ system, code, display }],
			});
			const resources = patients.flatMap((id) => {
				const subject = { reference: `Patient/${id}` };
				return [
					{
						...{ resourceType: "Patient", id: `${id}`, gender: id % 2 ? "female" : "male" },
						birthDate: `${1940 + id}-02-03`,
					},
					{
						...{ resourceType: "Condition", id: `c${id}`, subject, onsetDateTime: date(10) },
						code: coded("http://hl7.org/fhir/sid/icd-10-cm", "E11.9", "Diabetes"),
					},
					...days.map((day) => ({
						...{ resourceType: "Observation", id: `o${id}-${day}`, status: "final", subject },
						effectiveDateTime: `${date(day)}T07:30:00Z`,
						code: coded("http://loinc.org", "2345-7", "Glucose"),
						valueQuantity: { value: glucose(id, day), unit: "mmol/l", code: "mmol/L" },
					})),
					{
						...{ resourceType: "Observation", id: `b${id}`, status: "final", subject },
						effectiveDateTime: date(days[0] as number),
						code: coded("http://loinc.org", "85354-9", "Blood pressure"),
						component: [
							{
								code: coded("http://loinc.org", "8480-6", "Systolic blood pressure"),
								valueQuantity: { value: 110 + id, unit: "mm[Hg]" },
							},
						],
					},
				];
			});
			await writeFile(
				join(folder, "export.ndjson"),
				resources.map((resource) => `${JSON.stringify(resource)}\n`).join(""),
			);
			return folder;
		},
	},
};

const json = async (...args: readonly string[]) => {
	const { code, stdout, stderr } = await captured([...args, "--json"]);
	expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
	return JSON.parse(stdout);
};

describe("from raw files to a forecast", () => {
	for (const [title, { write, format, options, range, code, name }] of Object.entries(extracts))
		test(title, async () => {
			const own = await temporaryFolder();
			const raw = join(own, "raw");
			await mkdir(raw, { recursive: true });
			const source = await write(raw);
			const [dataset, run] = [join(own, "dataset"), join(own, "run")];
			const { values, counts } = await json(
				...["prepare", source, "--from", format, ...options, "--values", "quantiles:3"],
				...["--splits", "60,20,20", "--out", dataset],
			);
			expect(values).toMatchObject({ quantiles: 3 });
			// All values of training patients have a range, and nearly all of the others.
			expect(values.events).toBeGreaterThanOrEqual(0.75 * (counts.events - patients.length));
			await json(
				...["pretrain", dataset, "--preset", "tiny", "--set", "layers=1", "--epochs", "1"],
				...["--threads", "1", "--out", run],
			);
			const { patients: found } = await json(
				...["forecast", run, "--input", source, "--format", format, ...options, "--patient", "1"],
				...["--at", "+30d", "--top", "30"],
			);
			const { answers, events } = found[0];
			expect(events).toBeGreaterThanOrEqual(1 + days.length);
			const names = answers[0].top.map((one: { name: string }) => one.name);
			expect(names.filter((one: string) => range.test(one))).toHaveLength(1);
			const risk = await json(
				...["risk", run, "--input", source, "--format", format, ...options, "--patient", "1"],
				...["--code", code, "--years", "1"],
			);
			// Glucose was recorded before, whatever its value: a risk of the code, not of a range.
			expect(risk.risks[0]).toMatchObject({ code, name });
		});
});

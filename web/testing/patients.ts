import type { ReadingRules } from "../../src/data/cohort/reading/rules.js";
import { type Token, vocabularyOf } from "../../src/data/cohort/vocabulary.js";
import type { Patient } from "../src/data/patient.js";
import { patientList } from "../src/files/patient-list.js";
import type { FilePatients } from "../src/files/to-patients.js";

/** A diagnosis of a vocabulary. */
export const phecode = (code: string, name = code, category: string | null = null): Token => ({
	kind: "diagnosis",
	system: "PheCode",
	code,
	name,
	category,
	count: 1,
});

/** A small model's vocabulary and rules, to read files with. */
export const smallRules = {
	vocabulary: vocabularyOf(["250", "401", "428"].map((code) => phecode(code))),
	rules: {
		map: "built in (integer level)",
		level: "integer",
		keptUnmapped: false,
		drugs: "none",
		dedup: "none",
		maxRecords: null,
		deathToken: false,
		axis: "dates",
	} satisfies ReadingRules,
};

export const dayOf = (date: string) => Date.parse(date) / 86_400_000;

/** Files of invented patients to drop on the page. */

export const fhirBundle = JSON.stringify({
	resourceType: "Bundle",
	type: "collection",
	entry: [
		{
			fullUrl: "urn:uuid:7",
			resource: { resourceType: "Patient", id: "nobody", gender: "male", birthDate: "1948-02-03" },
		},
		...[
			["I10", "2009-05-06"],
			["E11.9", "2010-01-20"],
			["E78.5", "2010-01-20"],
			["I25.10", "2012-11-02T09:30:00+01:00"],
			["M54.5", "2013-07"],
			["I10", "2014-02-11"],
			["N18.3", "2014-09-30"],
			["I50.9", "2015-03-04"],
			["Z99.89", "2015-04-04"],
		].map(([code, onsetDateTime], at) => ({
			resource: {
				resourceType: "Condition",
				id: `c${at}`,
				subject: { reference: "urn:uuid:7" },
				code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }] },
				onsetDateTime,
			},
		})),
	],
});

/** A CSV file of events a few weeks apart, which cycle through these PheCodes. */
export function longHistory(events: number, codes: readonly string[]): string {
	const rows = Array.from({ length: events }, (_, at) => {
		const date = new Date(Date.UTC(2000, 0, 1) + at * 26 * 86_400_000).toISOString().slice(0, 10);
		return `invented,${date},${codes[(at * 7) % codes.length]},PheCode,female,1950-01-01`;
	});
	return ["patient,time,code,system,sex,birth", ...rows].join("\n");
}

/** The patients that were read of a file, as the page shows them. */
export function patientsOf(file: FilePatients): Patient[] {
	const list = patientList("a.csv", file);
	return Array.from({ length: list.length }, (_, place) => list.at(place));
}

import { expect, test } from "vitest";
import { type Manifest, newPatients } from "../../../data/cohort/index.js";
import type { RecordRow } from "../../../data/records/rows.js";
import type { RecordSource } from "../../../data/records/store.js";
import { readPatient } from "../../../predict/library/patient.js";
import { smallServed } from "../testing/small-served.js";
import { readerFor, readRequestPatient, type ServedModel } from "./predictions.js";
import type { PatientRequest } from "./routes.js";

/** Reads a patient of a session, whose first known record may follow. */
const readSessionPatient = (request: PatientRequest, served: ServedModel) =>
	readPatient(request, readerFor(served), served.manifest.source.axis);

const day = (date: string) => Date.parse(date) / 86_400_000;

const events = [
	{ code: "401.9", system: "ICD9CM", date: "2012-05-03" },
	{ code: "I10", system: "ICD10CM", date: "2012-05-03" },
	{ code: "25000", system: "ICD9CM", date: "2011-01-09" },
	{ code: "E11.9", system: "ICD10CM", date: "2011-01-31" },
	{ code: "428.0", system: "ICD9CM", date: "2012-05-03" },
	{ code: "Z99.99", system: "ICD10CM", date: "2013-01-01" },
	{ code: "250", system: "PheCode", date: "2012-12-24" },
];

function source(birth: string | null): RecordSource {
	return {
		...{ format: "csv", path: "records.csv" },
		async load(store) {
			const rows = events.map(
				({ code, system, date }): RecordRow => ({
					...{ patient: "a", time: day(date), code, system },
					...{ kind: "diagnosis", value: null },
				}),
			);
			await store.append("record", rows);
			await store.append("person", [
				{
					...{ patient: "a", birth: birth === null ? null : day(birth), sex: "male" },
					...{ death: null, split: null, place: "people.csv: row 1" },
				},
			]);
			return { axis: "dates", notes: [] };
		},
	};
}

test.each<[Partial<Manifest["filters"]>, string | null]>([
	[{ dedup: "none" }, "1950-06-01"],
	[{ dedup: "day" }, null],
	[{ dedup: "month" }, "1950-06-01"],
	[{ dedup: "none", maxRecords: 3 }, "1950-06-01"],
	[{ dedup: "none" }, "2012-01-01"],
])("reads a patient as the command line does: %j, born %s", async (filters, birth) => {
	const served = smallServed(filters);
	const { manifest, vocabulary } = served;
	const { patients, unknown } = await newPatients(source(birth), { manifest, vocabulary });
	const asked = readRequestPatient({ sex: "male", birth, events }, served);
	expect(asked.patient).toEqual({ ...patients[0], id: "1", history: expect.anything() });
	expect(asked.patient.history).toEqual({ ...patients[0]?.history, id: "1" });
	expect(asked.unknown).toEqual([{ code: "Z99.99", records: 1 }]);
	expect(unknown.records).toBe(1);
	expect(asked.notes).toHaveLength(birth === "2012-01-01" ? 1 : 0);
});

test("events keep their position in the request", () => {
	const { places, patient } = readRequestPatient(
		{ birth: "1950-06-01", events },
		smallServed({ dedup: "none" }),
	);
	expect(places).toEqual([-1, 2, 3, 0, 1, 4, 6]);
	expect(patient.history.times[1]).toBe(day("2011-01-09"));
});

test("reads a code without a system as one of the model, an ICD code or a PheCode", () => {
	const served = smallServed();
	const tokens = (code: string, system?: string) => [
		...readSessionPatient({ events: [{ code, date: 0, ...(system && { system }) }] }, served)
			.patient.history.tokens,
	];
	const token = (code: string) => served.vocabulary.find(code, "PheCode");
	expect(tokens("428")).toEqual([token("428")]);
	expect(tokens("I50.9")).toEqual([token("428")]);
	expect(tokens("250.2")).toEqual([token("250")]);
	expect(tokens("428", "http://hl7.org/fhir/sid/icd-10-cm")).toEqual([]);
	expect(tokens("nothing")).toEqual([]);
});

test("distinguishes a drug from an unknown code", () => {
	const events = [
		{ code: "C07AB02", system: "ATC", date: 1 },
		{ code: "nothing", date: 2 },
		{ code: "nothing", date: 2 },
	];
	const { notes, unknown } = readSessionPatient({ events }, smallServed({ dedup: "none" }));
	expect(notes).toEqual(["1 event is a drug, and the model has none: left out"]);
	expect(unknown).toEqual([{ code: "nothing", records: 2 }]);
});

test("rejects a mixture of dates and days, and implausible years", () => {
	const served = smallServed();
	const asked = (...dates: (string | number)[]) =>
		readSessionPatient({ events: dates.map((date) => ({ code: "401", date })) }, served);
	expect(() => asked("2010-01-01", 3)).toThrow(
		"`patient.events.0.date` is a date and `patient.events.1",
	);
	expect(() => asked("0010-01-01")).toThrow("is not in a year between 1800 and 2300");
	expect(asked(30, 0.5).patient.history.times).toEqual(Float64Array.of(0.5, 30));
	expect(asked("2010-01-01T12:00:00Z", "2010-01-01T06:00").patient.lastRecord).toBe(
		day("2010-01-01") + 0.5,
	);
});

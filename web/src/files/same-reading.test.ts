import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRequestPatient } from "../../../src/app/server/api/patient.js";
import { type Random, random } from "../../../src/base/random.js";
import { builtInMap } from "../../../src/data/codes/index.js";
import { type History, newPatients, type PrepareOptions } from "../../../src/data/cohort/index.js";
import { readingRules } from "../../../src/data/cohort/reading/rules.js";
import { idsIn, prepared } from "../../../src/data/cohort/testing/prepared.js";
import { specialTokens } from "../../../src/data/cohort/vocabulary.js";
import { openCsv, openFhir } from "../../../src/data/records/index.js";
import { temporaryFolder } from "../../../src/data/records/testing/temporary-folder.js";
import { patientsOf } from "../../testing/patients.js";
import { historyOf, type Patient } from "../data/patient.js";
import { readContent } from "./reader.js";
import { toPatients } from "./to-patients.js";

/** One record and what its row says of the person. */
interface Row {
	readonly patient: string;
	/** A date, an age in days, or a day. */
	readonly time: string;
	readonly code: string;
	readonly system: string;
	readonly sex?: string;
	readonly birth?: string;
	readonly death?: string;
	readonly value?: number;
	readonly unit?: string;
}

const timeColumns = { dates: "date", ages: "age_days", years: "age_years", days: "days" } as const;
type Times = keyof typeof timeColumns;

const tableOf = (rows: readonly Row[], times: Times) =>
	[
		`patient,${timeColumns[times]},code,system,value,unit,sex,birth,death`,
		...rows.map(({ patient, time, code, system, value = "", unit = "", ...person }) => {
			const { sex = "", birth = "", death = "" } = person;
			return [patient, time, code, system, value, unit, sex, birth, death].join(",");
		}),
	].join("\n");

const plain = ({ tokens, times, birthEvents }: Omit<History, "id" | "sex">) => ({
	tokens: [...tokens],
	times: [...times],
	birthEvents,
});

/** The same table through `prepare`, as new patients on the command line, over HTTP, and in the page. */
async function readEverywhere(
	rows: readonly Row[],
	times: Times = "dates",
	options: Partial<PrepareOptions> = {},
) {
	const file = join(await temporaryFolder(), "records.csv");
	const text = tableOf(rows, times);
	await writeFile(file, text);
	const source = () =>
		openCsv(file, {
			...{ people: file, value: "value", unit: "unit" },
			...(times === "days" && { timeIs: "days" as const }),
		});
	const { dataset, histories } = await prepared(await source(), {
		...{ map: builtInMap(), ...options },
	});
	const { manifest, vocabulary } = dataset;
	const asNew = await newPatients(await source(), { manifest, vocabulary, skipBad: true });
	const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
	const opened = toPatients(await readContent(bytes), vocabulary, readingRules(manifest));
	const page = { ...opened, patients: patientsOf(opened) };
	const map = builtInMap();
	const request = (id: string) => {
		const own = rows.filter(({ patient }) => patient === id);
		const isAge = times === "ages" || times === "years";
		const date = (text: string) =>
			times === "dates" ? text.replace(" ", "T") : Number(text) * (times === "years" ? 365.25 : 1);
		const sexes = new Set(own.flatMap(({ sex }) => (sex ? [sex] : [])));
		const [sex] = sexes;
		const birth = own.find((row) => row.birth)?.birth;
		return {
			sex: sexes.size === 1 && sex ? (sex === "F" ? "female" : "male") : null,
			birth: isAge ? 0 : birth === undefined ? null : date(birth),
			events: own.map(({ code, system, time, value, unit }) => ({
				...{ code, system, date: date(time) },
				...(value !== undefined && { value }),
				...(unit !== undefined && { unit }),
			})),
		} as const;
	};
	const read = [...histories].map(([id, history]) => ({
		...{ id, prepare: plain(history) },
		commandLine: plain(asNew.patients.find((one) => one.id === id)?.history as History),
		http: plain(readRequestPatient(request(id), { manifest, vocabulary, map }).patient.history),
		page: plainPage(page.patients.find(({ name }) => name === id)),
	}));
	return {
		dataset,
		read,
		page,
		codes: (of: History["tokens"] | readonly number[]) =>
			Array.from(of, (token) => vocabulary.tokens[token]?.code),
	};
}

const plainPage = (patient: Patient | undefined) => patient && historyOf(patient, patient.events);

/** All four agree, and there is something that they agree on. */
function expectSame(
	read: Awaited<ReturnType<typeof readEverywhere>>["read"],
	{ death = false } = {},
): void {
	expect(read.length).toBeGreaterThan(0);
	for (const { id, prepare, commandLine, http, page } of read) {
		expect({ id, ...commandLine }).toEqual({ id, ...prepare });
		expect({ id, ...page }).toEqual({ id, ...prepare });
		// A request has no death but the event itself.
		if (!death) expect({ id, ...http }).toEqual({ id, ...prepare });
	}
}

const [a, b, c, d] = idsIn("train", 4) as [string, string, string, string];
const row = (
	patient: string,
	time: string,
	code: string,
	system: string,
	more: Partial<Row> = {},
) => ({
	...{ patient, time, code, system, ...more },
});

describe("a table is read alike by the page and by `prepare`:", () => {
	test("codes, rolled up by the map and in its order, or left as they are", async () => {
		const rows = [
			row(a, "2012-05-03", "25002", "icd9"),
			row(a, "2012-05-04", "e11.9", "ICD10CM"),
			row(a, "2012-05-05", "250.2", "phecode"),
			row(a, "2012-05-06", "M05.40", "icd10"),
			row(b, "2012-05-06", "G71", "icd10"),
			row(b, "2012-05-07", "Z99.99", "icd10"),
			row(b, "2012-05-08", "44054006", "SNOMED"),
		];
		const { read, codes } = await readEverywhere(rows);
		expectSame(read);
		expect(codes(read[0]!.prepare.tokens)).toEqual(["250", "250", "250.2", "714", "359"]);
		expectSame((await readEverywhere(rows, "dates", { codes: "as-is" })).read);
		expectSame((await readEverywhere(rows, "dates", { unmapped: "keep" })).read);
	});

	test("values, by their units", async () => {
		const glucose = (patient: string, day: number, value?: number, unit = "mmol/L") =>
			row(patient, `2012-05-1${day}`, "2345-7", "loinc", {
				...(value !== undefined && { value, unit }),
			});
		const rows = [
			...[4.9, 5.1, 5.6, 98.6].map((value, at) => glucose(a, at, value)),
			...[6, 6.4, 7.7, 8].map((value, at) => glucose(b, at, value)),
			...[90, 95, 110, 120].map((value, at) => glucose(c, at, value, "mg/dL")),
			glucose(a, 5),
			glucose(b, 6, 7, "g/L"),
		];
		const { read, codes } = await readEverywhere(rows, "dates", { values: 2, minCount: 2 });
		expectSame(read);
		expect(codes(read.find(({ id }) => id === a)!.prepare.tokens)).toEqual([
			...["Q1", "Q1", "Q1", "Q2"].map((range) => `2345-7 mmol/L ${range}`),
			"2345-7",
		]);
		expectSame(
			(await readEverywhere(rows, "dates", { values: 2, minCount: 2, dedup: "month" })).read,
		);
	});

	test("records repeated on a day or in a month, of dates before 1970 too", async () => {
		const rows = [
			row(a, "1969-12-31 23:00:00", "401", "phecode"),
			row(a, "1969-12-31 01:00:00", "401.9", "icd9"),
			row(a, "1970-01-01 00:30:00", "401", "phecode"),
			row(a, "1970-01-31", "I10", "icd10"),
			row(a, "1970-02-01", "401", "phecode"),
			row(a, "1970-02-01", "250", "phecode"),
			row(a, "1970-02-01", "250", "phecode"),
		];
		const days = await readEverywhere(rows, "dates", { dedup: "day" });
		expectSame(days.read);
		const hours = days.read[0]!.prepare.times.map((time) => Number((time * 24).toFixed(6)));
		expect(hours).toEqual([-23, 0.5, 720, 744, 744]);
		const months = await readEverywhere(rows, "dates", { dedup: "month" });
		expectSame(months.read);
		expect(months.codes(months.read[0]!.prepare.tokens)).toEqual(["401", "401", "401", "250"]);
		expect(months.page.notes).toContain("3 records repeat another within a month: left out");
	});

	test("a record before the birth is kept and makes the birth unknown", async () => {
		const rows = [
			row(a, "1949-12-31", "401", "phecode", { birth: "1950-01-01", sex: "F" }),
			row(a, "1960-01-01", "250", "phecode"),
			row(b, "1950-01-01", "401", "phecode", { birth: "1950-01-01", sex: "M" }),
			row(c, "1949-01-01", "Z99.99", "icd10", { birth: "1950-01-01" }),
			row(c, "1960-01-01", "250", "phecode"),
		];
		const { read, page } = await readEverywhere(rows);
		expectSame(read);
		expect(read.map(({ prepare }) => prepare.birthEvents)).toEqual([0, 1, 0]);
		expect(page.notes).toContain(
			"2 patients have a record before their birth date: birth taken as unknown",
		);
	});

	test("ages count from a birth at 0, and days from the source's day 0", async () => {
		const rows = [
			row(a, "18262.5", "401", "phecode", { sex: "F", birth: "1950-01-01" }),
			row(a, "18270", "401", "phecode"),
			row(a, "18300", "401", "phecode"),
			row(b, "300", "250", "phecode", { sex: "M" }),
		];
		for (const dedup of ["none", "day", "month"] as const) {
			const ages = await readEverywhere(rows, "ages", { dedup });
			expectSame(ages.read);
			expect(ages.read[0]!.prepare.times[0]).toBe(0);
			expect(ages.read[0]!.prepare.tokens[0]).toBe(specialTokens.female);
			const days = rows.map(({ birth: _, ...rest }) => rest);
			const { read, page } = await readEverywhere(days, "days", { dedup });
			expectSame(read);
			expect(read.map(({ prepare }) => prepare.birthEvents)).toEqual([0, 0]);
			expect(page.patients.map(({ axis }) => axis)).toEqual(["days", "days"]);
		}
		const years = [row(a, "50.25", "401", "phecode"), row(a, "51", "401", "phecode")];
		const { read } = await readEverywhere(years, "years");
		expectSame(read);
		expect(read[0]!.prepare.times).toEqual([0, 50.25 * 365.25, 51 * 365.25]);
	});

	test("sex becomes the birth token; contradictory sexes are unknown", async () => {
		const born = { birth: "1950-01-01" };
		const rows = [
			row(a, "1990-01-01", "401", "phecode", { ...born, sex: "F" }),
			row(b, "1990-01-01", "401", "phecode", { ...born, sex: "M" }),
			row(c, "1990-01-01", "401", "phecode", born),
			row(d, "1990-01-01", "401", "phecode", { ...born, sex: "M" }),
			row(d, "1990-01-01", "401", "phecode", { sex: "F" }),
		];
		const { read, page } = await readEverywhere(rows);
		expectSame(read);
		const { female, male, birth } = specialTokens;
		expect(read.map(({ prepare }) => prepare.tokens[0])).toEqual([female, male, birth, birth]);
		expect(page.notes).toContain("1 patients are given two sexes: sex taken as unknown");
	});

	test("long histories keep their last records, unknown codes included in the count", async () => {
		const rows = [
			...["401", "250", "401", "250", "777.1", "401"].map((code, at) =>
				row(a, `2010-01-0${at + 1}`, code, "phecode"),
			),
			row(a, "2010-01-06", "Z99.99", "icd10"),
			row(b, "2010-01-01", "401", "phecode"),
			row(b, "2010-01-01", "250", "phecode"),
		];
		const { read, codes, page } = await readEverywhere(rows, "dates", {
			...{ maxRecords: 4, minCount: 2 },
		});
		expectSame(read);
		expect(codes(read[0]!.prepare.tokens)).toEqual(["401", "250", "401"]);
		expect(page.notes).toContain("2 records beyond the last 4 of a patient: left out");
		expectSame((await readEverywhere(rows, "dates", { maxRecords: 3, dedup: "month" })).read);
	});

	test("at the same time diagnoses come first, then table order; drugs only if they are tokens", async () => {
		const rows = [
			row(a, "2010-01-01", "C07AB02", "atc"),
			row(a, "2010-01-01", "428", "phecode"),
			row(a, "2010-01-01", "401", "phecode"),
			row(a, "2010-01-01", "A10AB01", "atc"),
			row(a, "2009-01-01", "250", "phecode"),
		];
		const tokens = await readEverywhere(rows, "dates", { drugs: "tokens" });
		expectSame(tokens.read);
		expect(tokens.codes(tokens.read[0]!.prepare.tokens)).toEqual([
			...["250", "428", "401", "C07AB02", "A10AB01"],
		]);
		const none = await readEverywhere(rows, "dates", { drugs: "none" });
		expectSame(none.read);
		expect(none.page.notes).toContain("2 records of drugs: the model has no drugs; left out");
		expect(none.page.unknown).toEqual([]);
	});

	test("with times of day", async () => {
		const rows = [
			row(a, "2011-03-04 05:06:07", "401", "phecode", { birth: "1951-02-03" }),
			row(a, "2011-03-05", "250", "phecode"),
		];
		expectSame((await readEverywhere(rows, "dates")).read);
	});

	test("deaths as tokens, not before the last record", async () => {
		const rows = [
			row(a, "2010-01-01 10:00:00", "401", "phecode", { death: "2010-01-01" }),
			row(b, "2010-01-01", "401", "phecode", { death: "2011-01-01" }),
		];
		const { read, codes } = await readEverywhere(rows, "dates", { deathToken: true });
		expectSame(read, { death: true });
		expect(codes(read[0]!.prepare.tokens)).toEqual(["401", "death"]);
	});

	const drawn = (draw: Random, dates: boolean): Row[] => {
		const codes = [
			...[
				["25000", "icd9"],
				["E11.9", "icd10"],
				["401", "phecode"],
				["I10", "icd10"],
			],
			...[
				["M05.40", "icd10"],
				["G71", "icd10"],
				["Z99.99", "icd10"],
				["428.0", "phecode"],
			],
			...[
				["C07AB02", "atc"],
				["99213", "cpt"],
			],
		] as [string, string][];
		return Array.from({ length: 40 }, (_, patient) => {
			const birth = dates ? -9000 + draw.integer(9000) : undefined;
			const text = (day: number) =>
				dates ? new Date(day * 86_400_000).toISOString().slice(0, 19).replace("T", " ") : `${day}`;
			return Array.from({ length: 1 + draw.integer(12) }, (_, at) => {
				const [code, system] = codes[draw.integer(codes.length)] as [string, string];
				const day = draw.integer(80) - (dates ? 40 : 0) + [0, 0, 0.25, 0.5][draw.integer(4)]!;
				return row(`p${patient}`, text(day), code, system, {
					...(at === 0 && birth !== undefined && { birth: text(birth + 8970) }),
					sex: ["F", "M", ""][patient % 3] as string,
				});
			});
		}).flat();
	};
	test.each<[Times, Partial<PrepareOptions>]>([
		["dates", {}],
		["dates", { dedup: "day", drugs: "tokens", maxRecords: 5 }],
		["dates", { dedup: "month", unmapped: "keep", minCount: 6 }],
		["ages", { dedup: "month", maxRecords: 3, minCount: 9, drugs: "tokens" }],
		["days", { dedup: "day", codes: "as-is" }],
	])("any records: %s, %j", async (times, options) => {
		const rows = drawn(random(7), times === "dates");
		const { read } = await readEverywhere(rows, times, options);
		expect(read.length).toBeGreaterThan(20);
		expectSame(read);
	});
});

test("a FHIR bundle is read in the page as `prepare` reads it", async () => {
	const subject = { reference: "Patient/p1" };
	const icd10 = (code: string) => ({
		coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }],
	});
	const atc = (code: string) => ({ coding: [{ system: "http://www.whocc.no/atc", code }] });
	const resources = [
		{
			...{ resourceType: "Patient", id: "p1", gender: "female", birthDate: "1960-05-03" },
			deceasedDateTime: "2020-07",
		},
		{ resourceType: "Medication", id: "m1", code: atc("C07AB02") },
		{
			...{ resourceType: "Condition", id: "1", subject, code: icd10("I10") },
			onsetDateTime: "2010-02-03",
		},
		{
			...{ resourceType: "MedicationRequest", id: "2", subject, authoredOn: "2010-02-03" },
			medicationReference: { reference: "Medication/m1" },
		},
		{
			...{ resourceType: "MedicationRequest", id: "3", subject, authoredOn: "2010-02-03" },
			contained: [{ resourceType: "Medication", id: "in", code: atc("A10AB01") }],
			medicationReference: { reference: "#in" },
		},
		{
			...{ resourceType: "Condition", id: "4", subject, code: icd10("E11.9") },
			onsetDateTime: "2010-02-03",
		},
		// Known to the year of birth only, and so not before it.
		{ resourceType: "Condition", id: "5", subject, code: icd10("J45"), onsetDateTime: "1960" },
		// The last version holds, where it stands.
		{
			...{ resourceType: "Condition", id: "1", subject, code: icd10("I50.9") },
			onsetDateTime: "2010-02-03",
		},
		{
			...{ resourceType: "Condition", id: "6", subject, code: icd10("I10") },
			encounter: { reference: "Encounter/e" },
		},
		{ resourceType: "Encounter", id: "e", period: { start: "2012-01-01T10:00:00+02:00" } },
	];
	const text = JSON.stringify({
		resourceType: "Bundle",
		entry: resources.map((resource) => ({ resource })),
	});
	const file = join(await temporaryFolder(), "bundle.json");
	await writeFile(file, text);
	const { dataset, histories } = await prepared(await openFhir(file), {
		...{
			map: builtInMap(),
			drugs: "tokens",
			deathToken: true,
			splitParts: [100, 0, 0],
		},
	});
	const { manifest, vocabulary } = dataset;
	const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
	const read = toPatients(await readContent(bytes), vocabulary, readingRules(manifest));
	const page = { ...read, patients: patientsOf(read) };
	expect(plainPage(page.patients[0])).toEqual(plain(histories.get("p1") as History));
	expect(page.patients[0]?.events.map(({ token }) => vocabulary.tokens[token]?.code)).toEqual([
		...["495", "250", "428", "C07AB02", "A10AB01", "401", "death"],
	]);
});

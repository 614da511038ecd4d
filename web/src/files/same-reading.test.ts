import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRequestPatient } from "../../../src/app/server/api/predictions.js";
import { random } from "../../../src/base/random.js";
import { builtInMap, readPheCodeMap } from "../../../src/data/codes/index.js";
import { type History, newPatients, type PrepareOptions } from "../../../src/data/cohort/index.js";
import { readingRules } from "../../../src/data/cohort/reading/rules.js";
import { idsIn, prepared } from "../../../src/data/cohort/testing/prepared.js";
import { openCsv, openFhir } from "../../../src/data/records/index.js";
import { temporaryFolder } from "../../../src/data/records/testing/temporary-folder.js";
import { patientsOf } from "../../testing/patients.js";
import { historyOf, type Patient } from "../data/patient.js";
import { readContent, readFiles } from "./reader.js";
import { toPatients } from "./to-patients.js";

const timeColumns = { dates: "date", ages: "age_days", years: "age_years", days: "days" } as const;
type Times = keyof typeof timeColumns;

const [a, b, c, d] = idsIn("train", 4) as [string, string, string, string];
const ids: Readonly<Record<string, string>> = { a, b, c, d };

/** Records, one per line: `a 2012-05-03T05:06:07 250.2 phecode sex=F birth=1950-01-01`. */
const recordsOf = (text: string) =>
	text
		.trim()
		.split("\n")
		.map((line) => {
			const [letter = "", time = "", code = "", system = "", ...fields] = line.trim().split(/\s+/);
			const more: Readonly<Record<string, string>> = Object.fromEntries(
				fields.map((field) => field.split("=")),
			);
			return {
				patient: ids[letter] ?? letter,
				time: time.replace("T", " "),
				code,
				system,
				...more,
			};
		})
		.map((record: Readonly<Record<string, string>>) => record);

const columns = ["code", "system", "value", "unit", "sex", "birth", "death"];

const plain = ({ tokens, times, birthEvents }: Omit<History, "id" | "sex">) => ({
	tokens: [...tokens],
	times: [...times],
	birthEvents,
});
const plainPage = (patient: Patient | undefined) => patient && historyOf(patient, patient.events);
const bytesOf = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

async function fileOf(name: string, text: string) {
	const file = join(await temporaryFolder(), name);
	await writeFile(file, text);
	return file;
}

/** Expects the same table through `prepare`, as new patients on the command line, over HTTP, and in the page. */
async function expectSame(
	text: string,
	times: Times = "dates",
	options: Partial<PrepareOptions> = {},
) {
	const rows = recordsOf(text);
	const lines = rows.map((row) =>
		["patient", "time", ...columns].map((name) => row[name] ?? "").join(","),
	);
	const table = [`patient,${timeColumns[times]},${columns}`, ...lines].join("\n");
	const file = await fileOf("records.csv", table);
	const source = () =>
		openCsv(file, {
			people: file,
			value: "value",
			unit: "unit",
			...(times === "days" && { timeIs: "days" as const }),
		});
	const map = builtInMap();
	const { dataset, histories } = await prepared(await source(), { map, ...options });
	const { manifest, vocabulary } = dataset;
	const asNew = await newPatients(await source(), {
		manifest,
		vocabulary,
		skipBad: true,
		threads: 1,
	});
	const read = toPatients(await readContent(bytesOf(table)), vocabulary, readingRules(manifest));
	const page = { ...read, patients: patientsOf(read) };
	const dateOf = (time: string) =>
		times === "dates" ? time.replace(" ", "T") : Number(time) * (times === "years" ? 365.25 : 1);
	const request = (id: string) => {
		const records = rows.filter(({ patient }) => patient === id);
		const sexes = [...new Set(records.flatMap(({ sex }) => sex || []))];
		const birth = records.find((row) => row.birth)?.birth;
		const isAge = times === "ages" || times === "years";
		return {
			sex: sexes.length !== 1 ? null : sexes[0] === "F" ? "female" : "male",
			birth: isAge ? 0 : birth === undefined ? null : dateOf(birth),
			events: records.map(({ code = "", system = "", time = "", value, unit }) => ({
				code,
				system,
				date: dateOf(time),
				...(value !== undefined && { value: Number(value) }),
				...(unit !== undefined && { unit }),
			})),
		} as const;
	};
	expect(histories.size).toBeGreaterThan(0);
	for (const [id, history] of histories) {
		const expected = { id, ...plain(history) };
		const commandLine = asNew.patients.find((one) => one.id === id)?.history as History;
		expect({ id, ...plain(commandLine) }).toEqual(expected);
		expect({ id, ...plainPage(page.patients.find(({ name }) => name === id)) }).toEqual(expected);
		// A request has no death but the event itself.
		if (rows.some(({ death }) => death)) continue;
		const http = readRequestPatient(request(id), { manifest, vocabulary, map }).patient.history;
		expect({ id, ...plain(http) }).toEqual(expected);
	}
	const codesOf = (id: string) =>
		Array.from(histories.get(id)?.tokens ?? [], (token) => vocabulary.tokens[token]?.code);
	return { page, codesOf };
}

test("values, by their units", async () => {
	const glucose = (patient: string, unit: string, values: readonly number[]) =>
		values.map(
			(value, at) => `${patient} 2012-05-1${at} 2345-7 loinc value=${value} unit=${unit}\n`,
		);
	const rows = [
		...glucose("a", "mmol/L", [4.9, 5.1, 5.6, 98.6]),
		...glucose("b", "mmol/L", [6, 6.4, 7.7, 8]),
		...glucose("c", "mg/dL", [90, 95, 110, 120]),
		"a 2012-05-15 2345-7 loinc\n",
		"b 2012-05-16 2345-7 loinc value=7 unit=g/L",
	].join("");
	const { codesOf } = await expectSame(rows, "dates", { values: 2, minCount: 2 });
	const ranges = ["Q1", "Q1", "Q1", "Q2"].map((range) => `2345-7 mmol/L ${range}`);
	expect(codesOf(a)).toEqual([...ranges, "2345-7"]);
	await expectSame(rows, "dates", { values: 2, minCount: 2, dedup: "month" });
});

test("deaths as tokens, not before the last record", async () => {
	const rows = `
		a 2010-01-01T10:00:00 401 phecode death=2010-01-01
		b 2010-01-01 401 phecode death=2011-01-01`;
	const { codesOf } = await expectSame(rows, "dates", { deathToken: true });
	expect(codesOf(a)).toEqual(["401", "death"]);
});

const drawnCodes =
	"25000 icd9,E11.9 icd10,401 phecode,I10 icd10,M05.40 icd10,G71 icd10,Z99.99 icd10,428.0 phecode,C07AB02 atc,99213 cpt".split(
		",",
	);

test.each<[Times, Partial<PrepareOptions>]>([
	["dates", {}],
	["dates", { dedup: "day", drugs: "tokens", maxRecords: 5 }],
	["dates", { dedup: "month", unmapped: "keep", minCount: 6 }],
	["ages", { dedup: "month", maxRecords: 3, minCount: 9, drugs: "tokens" }],
	["years", { dedup: "month" }],
	["days", { dedup: "day", codes: "as-is" }],
])("any records: %s, %j", async (times, options) => {
	const draw = random(7);
	const isDated = times === "dates";
	const written = (day: number) =>
		isDated ? new Date(day * 86_400_000).toISOString().slice(0, 19) : `${day}`;
	const rows = Array.from({ length: 40 }, (_, patient) => {
		// Some are born after their first record; births of people with ages are not read.
		const birth = written(isDated ? draw.integer(9000) - 30 : 3).replace("T00:00:00", "");
		return Array.from({ length: 1 + draw.integer(12) }, (_, at) => {
			const code = drawnCodes[draw.integer(drawnCodes.length)];
			const day = draw.integer(20) - (isDated ? 10 : 0) + [0, 0, 0.25, 0.5][draw.integer(4)]!;
			const born = at === 0 && times !== "days" ? ` birth=${birth}` : "";
			// A seventh of the people are given two sexes.
			const sex = ["F", "M", ""][patient % 7 === 0 ? at % 2 : patient % 3];
			return `p${patient} ${written(day)} ${code} sex=${sex}${born}`;
		});
	});
	const { page } = await expectSame(rows.flat().join("\n"), times, options);
	expect(page.patients.length).toBeGreaterThan(20);
	expect(new Set(page.patients.map(({ axis }) => axis))).toEqual(
		new Set([isDated ? "dates" : "days"]),
	);
	const { drugs, dedup } = { drugs: "labels", dedup: "none", ...options };
	const notes = page.notes.join("\n");
	expect(notes.includes("records of drugs: the model has no drugs; left out")).toBe(
		drugs !== "tokens",
	);
	expect(notes.includes(`records repeat another within a ${dedup}: left out`)).toBe(
		dedup !== "none",
	);
	expect(notes.includes("records beyond the last")).toBe(options.maxRecords !== undefined);
});

test("a FHIR bundle is read in the page as `prepare` reads it", async () => {
	const subject = { reference: "Patient/p1" };
	const icd10 = (code: string) => ({
		coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }],
	});
	const atc = (code: string) => ({ coding: [{ system: "http://www.whocc.no/atc", code }] });
	const condition = (id: string, code: string, more: object = { onsetDateTime: "2010-02-03" }) => ({
		resourceType: "Condition",
		id,
		subject,
		code: icd10(code),
		...more,
	});
	const request = (id: string, reference: string, contained: readonly object[] = []) => ({
		resourceType: "MedicationRequest",
		id,
		subject,
		authoredOn: "2010-02-03",
		contained,
		medicationReference: { reference },
	});
	const person = { resourceType: "Patient", id: "p1", gender: "female", birthDate: "1960-05-03" };
	const resources = [
		{ ...person, deceasedDateTime: "2020-07" },
		{ resourceType: "Medication", id: "m1", code: atc("C07AB02") },
		condition("1", "I10"),
		request("2", "Medication/m1"),
		request("3", "#in", [{ resourceType: "Medication", id: "in", code: atc("A10AB01") }]),
		condition("4", "E11.9"),
		// Known to the year of birth only, and so not before it.
		condition("5", "J45", { onsetDateTime: "1960" }),
		// The last version holds, where it stands.
		condition("1", "I50.9"),
		condition("6", "I10", { encounter: { reference: "Encounter/e" } }),
		{ resourceType: "Encounter", id: "e", period: { start: "2012-01-01T10:00:00+02:00" } },
	];
	const text = JSON.stringify({
		resourceType: "Bundle",
		entry: resources.map((resource) => ({ resource })),
	});
	const { dataset, histories } = await prepared(await openFhir(await fileOf("b.json", text)), {
		map: builtInMap(),
		drugs: "tokens",
		deathToken: true,
		splitParts: [100, 0, 0],
	});
	const { manifest, vocabulary } = dataset;
	const content = await readContent(bytesOf(text));
	const [patient] = patientsOf(toPatients(content, vocabulary, readingRules(manifest)));
	expect(plainPage(patient)).toEqual(plain(histories.get("p1") as History));
	expect(patient?.events.map(({ token }) => vocabulary.tokens[token]?.code)).toEqual([
		...["495", "250", "428", "C07AB02", "A10AB01", "401", "death"],
	]);
});

/** A table through `prepare` with a format of dates and a map, and in the page. */
async function expectSameFiles(text: string, format: string | undefined, mapText?: string) {
	const file = await fileOf("records.csv", text);
	const source = await openCsv(file, { people: file, dateFormat: format });
	const map =
		mapText === undefined ? builtInMap() : await readPheCodeMap(await fileOf("map.csv", mapText));
	const { dataset, histories } = await prepared(source, { map });
	const reply = await readFiles({
		files: [
			new File([text], "records.csv"),
			...(mapText === undefined ? [] : [new File([mapText], "map.csv")]),
		],
		before: {},
		tokens: dataset.vocabulary.tokens,
		rules: readingRules(dataset.manifest),
	});
	if (reply.state !== "read") throw new Error(JSON.stringify(reply));
	const patients = patientsOf(reply.content);
	for (const patient of patients) {
		const { tokens, times } = plain(histories.get(patient.name) as History);
		expect(plainPage(patient)).toMatchObject({ tokens, times });
	}
	return patients;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

test.each([
	["%d.%m.%Y", (y: string, m: string, d: string) => `${d}.${m}.${y}`],
	["%d/%m/%Y", (y: string, m: string, d: string) => `${d}/${m}/${y}`],
	["%m/%d/%Y", (y: string, m: string, d: string) => `${m}/${d}/${y}`],
	["%m-%d-%Y %H:%M", (y: string, m: string, d: string) => `${m}-${d}-${y} 14:05`],
	["%d-%b-%Y", (y: string, m: string, d: string) => `${d}-${months[Number(m) - 1]}-${y}`],
])("dates as %s are read as `prepare --date-format` reads them", async (format, write) => {
	const draw = random(7);
	const written = (day: number) => {
		const [year = "", month = "", date = ""] = new Date(day * 86_400_000)
			.toISOString()
			.slice(0, 10)
			.split("-");
		return write(year, month, date);
	};
	const rows = [a, b, c].flatMap((id, person) =>
		Array.from({ length: 12 }, () => {
			const day = written(12_000 + draw.integer(6000));
			return `${id},${day},${["I10", "E11.9", "I50.9"][draw.integer(3)]},${written(person - 5000)}`;
		}),
	);
	const table = ["patient,date,icd10,birth", ...rows].join("\n");
	expect(await expectSameFiles(table, format)).toHaveLength(3);
});

test("SNOMED codes are mapped in the page as `prepare --phecode-map` maps them", async () => {
	const table = `patient,date,code,system,sex
${a},2012-05-03,44054006,SNOMED,F
${a},2012-06-03,59621000,http://snomed.info/sct,F
${a},2012-07-03,I50.9,ICD10CM,F
${b},2013-01-01,1234567,SNOMED,
${b},2013-01-02,38341003,SNOMED,
`;
	const map = "SNOMED,PheCode\n44054006,250.2\n59621000,401.1\n38341003,401\n";
	const patients = await expectSameFiles(table, undefined, map);
	expect(patients.map(({ events }) => events.length)).toEqual([3, 1]);
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { builtInMap } from "../../../src/data/codes/index.js";
import { newPatients } from "../../../src/data/cohort/index.js";
import { readingRules } from "../../../src/data/cohort/reading/rules.js";
import { idsIn, prepared } from "../../../src/data/cohort/testing/prepared.js";
import { openCsv } from "../../../src/data/records/index.js";
import { temporaryFolder } from "../../../src/data/records/testing/temporary-folder.js";
import { historyOf } from "../data/patient.js";
import {
	type ColumnChoice,
	choiceKey,
	columnNames,
	missingChoices,
	previewTable,
	usualColumns,
	withColumn,
} from "./columns.js";
import { patientList } from "./patient-list.js";
import { type ReadRequest, readFiles } from "./reader.js";

const [a, b] = idsIn("train", 2) as [string, string];
const first = ["Fall", "Pat-Nr", "Aufnahme", "Diagnose", "Geschlecht", "Geburt"];
const rows = [
	["1", a, "2012-02-03", "I10", "F", "1950-05-12"],
	["2", a, "2013-08-17", "E11.9", "F", "1950-05-12"],
	["3", b, "2014-11-11", "J44.9", "M", "1944-02-01"],
];
const table = [first, ...rows].map((row) => row.join(";")).join("\n");
const choice: ColumnChoice = {
	columns: { patient: 1, time: 2, code: 3, sex: 4, birth: 5 },
	moreCodes: [],
	timeIs: "date",
	systemOfAll: "ICD10CM",
};
const csv = (text: string) => new File([text], "klinik.csv");

/** The command line with the same columns, and a reader of the page for the same model. */
async function commandLine() {
	const file = join(await temporaryFolder(), "klinik.csv");
	await writeFile(file, table);
	const [, patient, time, code, sex, birth] = first;
	const source = () =>
		openCsv(file, { patient, time, code, sex, birth, system: "icd10", people: file });
	const { dataset } = await prepared(await source(), { map: builtInMap() });
	const { manifest, vocabulary } = dataset;
	const { patients } = await newPatients(await source(), { manifest, vocabulary });
	const read = (files: readonly File[], more: Partial<ReadRequest> = {}) =>
		readFiles({
			...{ files, before: {}, tokens: vocabulary.tokens, rules: readingRules(manifest), ...more },
		});
	return { patients, read };
}

describe("columns that the user chooses", () => {
	test("are read as the command line reads them, and are kept for the same first line", async () => {
		const { patients, read } = await commandLine();
		const asked = await read([csv(table)]);
		expect(asked).toMatchObject({
			state: "columns",
			problem: "no column has a usual name for the patient",
			table: { first, rows },
		});
		const columns = new Map([[choiceKey(first), choice]]);
		const reply = await read([csv(table)], { columns });
		if (reply.state !== "read") throw new Error(JSON.stringify(reply));
		const list = patientList("klinik.csv", reply.content);
		expect(list.length).toBe(2);
		for (let at = 0; at < 2; at++) {
			const own = list.at(at);
			const { tokens, times, birthEvents } = historyOf(own, own.events);
			const same = patients.find(({ id }) => id === own.name)?.history;
			expect({ tokens: [...tokens], times: [...times], birthEvents }).toEqual({
				tokens: [...(same?.tokens ?? [])],
				times: [...(same?.times ?? [])],
				birthEvents: same?.birthEvents,
			});
		}
		expect(reply.table?.choice).toEqual(choice);
		const other = await read([csv(table.replace("Fall", "Case"))], { columns });
		expect(other.state).toBe("columns");
	});

	test("can be several of codes, as on the command line", async () => {
		const { read } = await commandLine();
		const wide = ["id,seen,dx1,dx2,dx10", `${a},2012-01-01,I10,,E11.9`, `${b},2013-01-01,,,J44.9`];
		const file = join(await temporaryFolder(), "wide.csv");
		await writeFile(file, wide.join("\n"));
		const source = () => openCsv(file, { time: "seen", code: "dx*", system: "icd10" });
		const { dataset } = await prepared(await source(), { map: builtInMap() });
		const { manifest, vocabulary } = dataset;
		const { patients } = await newPatients(await source(), { manifest, vocabulary });
		const asked = await read([csv(wide.join("\n"))]);
		if (asked.state !== "columns") throw new Error(JSON.stringify(asked));
		expect(asked.table.choice).toEqual({
			columns: { patient: 0, time: 1, code: 2 },
			moreCodes: [3, 4],
			timeIs: "date",
		});
		const columns = new Map([[choiceKey(asked.table.first), asked.table.choice]]);
		const { tokens } = vocabulary;
		const reply = await read([csv(wide.join("\n"))], {
			...{ columns, tokens, rules: readingRules(manifest) },
		});
		if (reply.state !== "read") throw new Error(JSON.stringify(reply));
		const list = patientList("wide.csv", reply.content);
		expect([list.length, list.events]).toEqual([2, 3]);
		for (const at of [0, 1]) {
			const { name, events } = list.at(at);
			const same = patients.find(({ id }) => id === name)?.history;
			expect(events.map(({ token }) => token)).toEqual([...(same?.tokens ?? [])]);
		}
	});

	test("can be a year of birth, of which 1 July is taken", async () => {
		const { read } = await commandLine();
		const text = `patient,date,code,yob\n${a},2012-01-01,I10,1950\n${a},2013-01-01,I10,1950\n`;
		const reply = await read([csv(text)]);
		if (reply.state !== "read") throw new Error(JSON.stringify(reply));
		const born = Date.parse("1950-07-01") / 86_400_000;
		expect(patientList("x", reply.content).at(0).birth).toBe(born);
		expect(await read([csv(text.replaceAll("1950", "50"))])).toMatchObject({
			state: "failed",
			message: expect.stringContaining('yob is "50"; expected a year from 1800 to 2300'),
		});
	});

	test("can be chosen again if the file could not be read from the usual ones", async () => {
		const { read } = await commandLine();
		const text = "patient,date,code,seen\na,soon,I10,2012-01-01\n";
		const reply = await read([csv(text)]);
		expect(reply).toMatchObject({
			state: "failed",
			message: expect.stringContaining('line 2: date is "soon"'),
			table: { choice: { columns: { patient: 0, time: 1, code: 2 } } },
		});
		const seen = { patient: 0, time: 3, code: 2 };
		const columns = new Map([
			[
				choiceKey(["patient", "date", "code", "seen"]),
				{ columns: seen, moreCodes: [], timeIs: "date" } satisfies ColumnChoice,
			],
		]);
		expect((await read([csv(text)], { columns })).state).toBe("read");
		expect(await read([csv("PK\u0003\u0004,b,c\n")])).toMatchObject({
			state: "failed",
			table: null,
		});
	});

	test("can be those of a table whose first line is a record", async () => {
		const { read } = await commandLine();
		const [one, ...others] = rows.map((row) => row.slice(0, 4));
		const text = [one, ...others].map((row) => row?.join(",")).join("\n");
		const unnamed: ColumnChoice = {
			columns: { patient: 1, time: 2, code: 3 },
			moreCodes: [],
			timeIs: "date",
			firstIsRecord: true,
		};
		const columns = new Map([[choiceKey(one as string[]), unnamed]]);
		const reply = await read([csv(text)], { columns });
		if (reply.state !== "read") throw new Error(JSON.stringify(reply));
		expect(patientList("x", reply.content).events).toBe(3);
	});
});

describe("a preview", () => {
	const preview = (text: string) => previewTable(csv(text), new Map());

	test("proposes the one column of dates and the one of ICD codes, and names with blanks", async () => {
		const found = await preview("Patient ID,Seen,Dx made\n7,3.4.2020,I10\n8,5.6.2020,E11.9");
		expect(found?.rows).toHaveLength(2);
		expect(found?.choice).toEqual({
			columns: { patient: 0, time: 1, code: 2 },
			moreCodes: [],
			timeIs: "date",
		});
		const two = await preview("who,from1,to1,dx1\n7,3.4.2020,4.4.2020,I10\n");
		expect(two?.choice.columns).toEqual({ code: 3 });
	});

	test("names the columns that a file with the usual names is read by, and no others", async () => {
		const found = await preview("patient,date,code,Date of Birth\n7,2020-01-02,I10,1950-01-01\n");
		expect(found?.choice.columns).toEqual({ patient: 0, time: 1, code: 2 });
	});

	test("finds dates whose day and month are the same number, but not years", async () => {
		const text = "nr,seen,born,dx\n7,11/11/2014,1950,I10\n7,01/31/2012,1950,I10\n";
		expect((await preview(text))?.choice.columns).toEqual({ time: 1, code: 3 });
	});

	test("is made of packed and of long files, in their encoding", async () => {
		const long = `Größe,Nr,x\n${"ä,1,2\n".repeat(30_000)}`;
		expect((await preview(long))?.first).toEqual(["Größe", "Nr", "x"]);
		const packed = new File([gzipSync(long)], "a.csv.gz");
		expect((await previewTable(packed, new Map()))?.first).toEqual(["Größe", "Nr", "x"]);
	});

	test("gives nothing for a file that is not a table of records", async () => {
		for (const text of ['{"a":1,"b":2,"c":3}', "<a,b,c>", "a,b\n1,2\n", "%PDF,1,2\n", ""])
			expect(await preview(text)).toBeNull();
	});
});

describe("a choice", () => {
	test("gives a column one role, and asks for the unit of ages", () => {
		const moved = withColumn(first, choice, "birth", 2);
		expect(moved.columns).toEqual({ patient: 1, code: 3, sex: 4, birth: 2 });
		expect(missingChoices(moved)).toEqual(["date"]);
		expect(missingChoices(withColumn([...first, "age"], moved, "time", 6))).toEqual([
			"what the times are",
		]);
		expect(withColumn(first, choice, "system", 0).systemOfAll).toBeUndefined();
	});

	test("of places has no columns that are numbered alike, and none with another role", () => {
		const places = ["column 1", "column 2", "column 3"];
		expect(withColumn(places, choice, "code", 2).moreCodes).toEqual([]);
		const named = { ...choice, columns: { patient: 0, time: 1 } };
		expect(withColumn(["c1", "c2", "c3", "c4"], named, "code", 2).moreCodes).toEqual([3]);
	});

	test("of names that are missing goes by number; names that repeat are ambiguous", () => {
		expect(columnNames(["dx", ""])).toEqual(["dx", "column 2"]);
		const { unknown } = usualColumns(["patient", "date", "code", "Code"]);
		expect(unknown?.message).toContain("the columns code and Code could each be the code");
	});
});

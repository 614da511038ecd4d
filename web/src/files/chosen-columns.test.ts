import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { dayOf, smallRules } from "../../testing/patients.js";
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

const { vocabulary, rules } = smallRules;
const [a, b] = ["p1", "p2"];
const [diabetes, pressure, failure] = [5, 6, 7];
const first = ["Fall", "Pat-Nr", "Aufnahme", "Diagnose", "Geschlecht", "Geburt"];
const rows = [
	["1", a, "2012-02-03", "I10", "F", "1950-05-12"],
	["2", a, "2013-08-17", "E11.9", "F", "1950-05-12"],
	["3", b, "2014-11-11", "I50.9", "M", "1944-02-01"],
];
const table = [first, ...rows].map((row) => row.join(";")).join("\n");
const choice: ColumnChoice = {
	columns: { patient: 1, time: 2, code: 3, sex: 4, birth: 5 },
	moreCodes: [],
	timeIs: "date",
	systemOfAll: "ICD10CM",
};
const csv = (text: string) => new File([text], "klinik.csv");

const read = (files: readonly File[], more: Partial<ReadRequest> = {}) =>
	readFiles({ files, before: {}, tokens: vocabulary.tokens, rules, ...more });

/** What is read of the patients of a file: their facts, days and tokens. */
async function patientsIn(text: string, columns: ReadRequest["columns"]) {
	const reply = await read([csv(text)], { columns });
	if (reply.state !== "read") throw new Error(JSON.stringify(reply));
	const list = patientList("x", reply.content);
	return Array.from({ length: list.length }, (_, at) => {
		const { name, sex, birth, events } = list.at(at);
		return { name, sex, birth, events: events.map(({ token, time }) => [token, time]) };
	});
}

describe("columns that the user chooses", () => {
	test("are read, and are kept for the same first line", async () => {
		expect(await read([csv(table)])).toMatchObject({
			state: "columns",
			problem: "no column has a usual name for the patient",
			table: { first, rows },
		});
		const columns = new Map([[choiceKey(first), choice]]);
		expect(await patientsIn(table, columns)).toEqual([
			{
				name: a,
				sex: "female",
				birth: dayOf("1950-05-12"),
				events: [
					[pressure, dayOf("2012-02-03")],
					[diabetes, dayOf("2013-08-17")],
				],
			},
			{
				name: b,
				sex: "male",
				birth: dayOf("1944-02-01"),
				events: [[failure, dayOf("2014-11-11")]],
			},
		]);
		expect(await read([csv(table)], { columns })).toMatchObject({ table: { choice } });
		const other = await read([csv(table.replace("Fall", "Case"))], { columns });
		expect(other.state).toBe("columns");
	});

	test("can be several of codes", async () => {
		const wide = `id,seen,dx1,dx2,dx10\n${a},2012-01-01,I10,,E11.9\n${b},2013-01-01,,,I50.9`;
		const asked = await read([csv(wide)]);
		if (asked.state !== "columns") throw new Error(JSON.stringify(asked));
		const { first, choice } = asked.table;
		expect(choice).toEqual({
			columns: { patient: 0, time: 1, code: 2 },
			moreCodes: [3, 4],
			timeIs: "date",
		});
		const people = await patientsIn(wide, new Map([[choiceKey(first), choice]]));
		expect(people.map(({ events }) => events)).toEqual([
			[
				[pressure, dayOf("2012-01-01")],
				[diabetes, dayOf("2012-01-01")],
			],
			[[failure, dayOf("2013-01-01")]],
		]);
	});

	test("can be a year of birth, of which 1 July is taken", async () => {
		const text = `patient,date,code,yob\n${a},2012-01-01,I10,1950\n${a},2013-01-01,I10,1950\n`;
		expect((await patientsIn(text, undefined))[0]?.birth).toBe(dayOf("1950-07-01"));
		expect(await read([csv(text.replaceAll("1950", "50"))])).toMatchObject({
			state: "failed",
			message: expect.stringContaining('yob is "50"; expected a year from 1800 to 2300'),
		});
	});

	test("can be chosen again if the file could not be read from the usual ones", async () => {
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
		const [one, ...others] = rows.map((row) => row.slice(0, 4));
		const text = [one, ...others].map((row) => row?.join(",")).join("\n");
		const unnamed: ColumnChoice = {
			columns: { patient: 1, time: 2, code: 3 },
			moreCodes: [],
			timeIs: "date",
			firstIsRecord: true,
		};
		const columns = new Map([[choiceKey(one as string[]), unnamed]]);
		const people = await patientsIn(text, columns);
		expect(people.flatMap(({ events }) => events)).toHaveLength(3);
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

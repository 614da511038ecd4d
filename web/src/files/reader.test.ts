import { describe, expect, test } from "vitest";
import { dayOf, smallRules } from "../../testing/patients.js";
import { patientList } from "./patient-list.js";
import { answerFiles, type ReadReply, type ReadRequest, readFiles } from "./reader.js";

const { vocabulary, rules } = smallRules;
const { tokens } = vocabulary;
const file = (name: string, text: string) => new File([text], name);
const request = (files: readonly File[], more: Partial<ReadRequest> = {}): ReadRequest => ({
	files,
	before: {},
	tokens,
	rules,
	...more,
});

async function read(files: readonly File[], more: Partial<ReadRequest> = {}) {
	const reply = await readFiles(request(files, more));
	if (reply.state !== "read") throw new Error(JSON.stringify(reply));
	return { ...reply.content, used: reply.used, list: patientList("a.csv", reply.content) };
}
const firstDays = ({ list }: Awaited<ReturnType<typeof read>>) =>
	list.at(0).events.map(({ time }) => time);

const table = (dates: readonly string[], more = "") =>
	file("a.csv", ["patient,date,code", ...dates.map((date) => `a,${date},I10`)].join("\n") + more);

describe("dates", () => {
	test("with a day above 12 anywhere tell the order", async () => {
		const many = Array.from({ length: 500 }, () => "03/04/2020");
		const own = await read([table([...many, "25/12/2020"])]);
		expect(own.dates).toEqual({ order: "day first", isChosen: false });
		expect(firstDays(own)[0]).toBe(dayOf("2020-04-03"));
		const american = await read([table(["03/04/2020", "12/25/2020"])]);
		expect(american.dates).toEqual({ order: "month first", isChosen: false });
		expect(firstDays(american)[0]).toBe(dayOf("2020-03-04"));
	});

	test("of births tell it too, and the births are read in the same order", async () => {
		const text = "patient,date,code,birth\na,03/04/2020,I10,25/12/1950\n";
		const { list } = await read([file("a.csv", text)]);
		expect(list.at(0)).toMatchObject({ birth: dayOf("1950-12-25") });
		expect(list.at(0).events[0]?.time).toBe(dayOf("2020-04-03"));
	});

	test("with dots begin with the day; ISO dates need no order", async () => {
		expect((await read([table(["03.04.2020"])])).dates?.order).toBe("day first");
		expect((await read([table(["2020-04-03", "20200403"])])).dates).toBeNull();
		const mixed = await read([table(["2020-04-01", "13.04.2020"])]);
		expect(firstDays(mixed)).toEqual([dayOf("2020-04-01"), dayOf("2020-04-13")]);
	});

	test("that can be read in two ways are asked about, and read as chosen", async () => {
		const ambiguous = table(["03/04/2020", "05/06/2020", "07/07/2020"]);
		const asked = await readFiles(request([ambiguous]));
		expect(asked).toMatchObject({
			state: "asked",
			dates: [
				{ text: "03/04/2020", dayFirst: dayOf("2020-04-03"), monthFirst: dayOf("2020-03-04") },
				{ text: "05/06/2020", dayFirst: dayOf("2020-06-05"), monthFirst: dayOf("2020-05-06") },
			],
		});
		const before = { records: ambiguous };
		const chosen = await read([], { before, order: "month first" });
		expect(chosen.dates).toEqual({ order: "month first", isChosen: true });
		expect(firstDays(chosen)).toEqual(["2020-03-04", "2020-05-06", "2020-07-07"].map(dayOf));
	});

	test("are previewed as they are read", async () => {
		const { preview } = await read([table(["3.4.2020"], "\nb,4.4.2020,Z99.9\n")]);
		expect(preview).toEqual([
			{
				line: 2,
				patient: "a",
				time: "3.4.2020",
				day: dayOf("2020-04-03"),
				code: "I10",
				tokens: [6],
			},
			{
				line: 3,
				patient: "b",
				time: "4.4.2020",
				day: dayOf("2020-04-04"),
				code: "Z99.9",
				tokens: [],
			},
		]);
	});
});

describe("bad rows", () => {
	const good = Array.from({ length: 8 }, (_, at) => `a,2020-01-0${at + 1},I10`);
	const withBad = (...bad: readonly string[]) =>
		file("a.csv", ["patient,date,code", ...good.slice(0, 4), ...bad, ...good.slice(4)].join("\n"));

	test("are listed and skipped", async () => {
		const { bad, list } = await read([withBad("a,2020-13-01,I10", ",2020-01-01,I10")]);
		expect(bad).toEqual({
			count: 2,
			rows: [
				{
					where: "line 6",
					column: "date",
					got: '"2020-13-01"',
					expected: expect.stringContaining("a date such as 2020-01-31"),
				},
				{
					where: "line 7",
					column: "patient",
					got: "empty",
					expected: "the id of a patient",
				},
			],
		});
		expect(list.at(0).events).toHaveLength(8);
	});

	test("above a fifth of the file refuse it, with the first and the share", async () => {
		const reply = await readFiles(request([withBad(...Array(3).fill("a,soon,I10"))]));
		expect(reply).toMatchObject({ state: "failed" });
		expect((reply as { message: string }).message).toMatch(
			/^line 6: date is "soon"; expected a date such as .*\. 3 rows of 11 \(27 %\) cannot be read; up to 20 % are skipped$/,
		);
	});

	test("of which none can be read refuse it", async () => {
		const reply = await readFiles(request([table(["soon", "later"])]));
		expect((reply as { message: string }).message).toMatch(
			/None of the 2 rows can be read; up to 20 % are skipped$/,
		);
	});

	test("the first hundred are listed, all are counted", async () => {
		const rows = Array.from({ length: 1000 }, (_, at) => `a,${at % 8 ? "2020-01-01" : "x"},I10`);
		const { bad } = await read([file("a.csv", ["patient,date,code", ...rows].join("\n"))]);
		expect([bad.count, bad.rows.length]).toEqual([125, 100]);
	});

	test("a sex that the model does not know leaves the row, and is noted", async () => {
		const { bad, notes, list } = await read([
			file("a.csv", "patient,date,code,sex\na,2020-01-01,I10,d\n"),
		]);
		expect(bad.count).toBe(0);
		expect(list.at(0).sex).toBeNull();
		expect(notes[0]).toBe('"d" in the column sex: sex taken as unknown');
	});

	test("resources of FHIR with a bad date are listed and skipped", async () => {
		const condition = (onsetDateTime: string) => ({
			resource: {
				resourceType: "Condition",
				subject: { reference: "Patient/p" },
				onsetDateTime,
				code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code: "I10" }] },
			},
		});
		const dates = [...Array(5).fill("2020-01-01"), "13.5.2012"];
		const entry = dates.map(condition);
		const { bad, list } = await read([
			file("b.json", JSON.stringify({ resourceType: "Bundle", type: "collection", entry })),
		]);
		expect(list.at(0).events).toHaveLength(5);
		expect(bad).toMatchObject({
			count: 1,
			rows: [{ where: "entry 6", column: "onsetDateTime", got: '"13.5.2012"' }],
		});
	});
});

describe("files as hospitals export them", () => {
	const rows = 'patient;date;icd10;ward\r\nM\u00fcller;31.01.2020;I10;"Ward 3\nbed 2"\r\n';

	test("in UTF-8 with a mark, in Latin-1 and in UTF-16 are read alike", async () => {
		const latin = Uint8Array.from(rows, (letter) => letter.charCodeAt(0));
		const wide = new Uint8Array(Uint16Array.from(`\ufeff${rows}`, (x) => x.charCodeAt(0)).buffer);
		for (const content of [`\ufeff${rows}`, latin, wide]) {
			const { list } = await read([new File([content], "a.csv")]);
			expect(list.nameAt(0)).toBe("M\u00fcller");
			expect(list.at(0).events).toEqual([{ id: "e0", token: 6, time: dayOf("2020-01-31") }]);
		}
		const { notes } = await read([new File([latin], "a.csv")]);
		expect(notes[0]).toContain("Windows-1252 (Latin-1)");
	});
});

describe("a map of SNOMED codes", () => {
	const records = file(
		"a.csv",
		"patient,date,code,system\na,2020-01-01,44054006,SNOMED\na,2020-02-01,I10,ICD10CM\n",
	);
	const map = file("map.csv", "SNOMED,PheCode\n44054006,250.2\n");

	test("is asked for, and used with the records, in any order of opening", async () => {
		const without = await read([records]);
		expect(without.notes[0]).toContain("1 record has a SNOMED code: drop a map");
		expect(without.list.at(0).events).toHaveLength(1);
		const later = await read([map], { before: without.used });
		const both = await read([map, records]);
		const alone = await readFiles(request([map]));
		expect(alone).toMatchObject({ state: "map", snomed: 1, icd: 0 });
		const after = await read([records], { before: (alone as { used: object }).used });
		for (const own of [later, both, after]) {
			expect(own.list.at(0).events.map(({ token }) => token)).toEqual([5, 6]);
			expect(own.notes).toContain("codes are mapped with map.csv: 1 SNOMED concept");
		}
	});

	test("that is damaged is refused by the rules of the command line", async () => {
		const damaged = file("map.csv", "SNOMED,PheCode\nE11,250\n");
		expect(await readFiles(request([damaged, records]))).toMatchObject({
			message: expect.stringContaining('map.csv: line 2 has code "E11"; expected a SNOMED CT'),
		});
	});

	test("two files of one kind are refused", async () => {
		expect(await readFiles(request([records, file("b.csv", "x")]))).toEqual({
			state: "failed",
			used: {},
			message: "a.csv and b.csv are two files of records; open one at a time",
			table: null,
		});
	});
});

test("the list of patients finds ids, and makes the patients as they were read", async () => {
	const rows = Array.from({ length: 300 }, (_, at) => `p${at},2020-01-01,I10,F,1950-01-01`);
	const { list } = await read([
		file("a.csv", ["patient,date,code,sex,birth", ...rows, "p7,2021-01-01,I10,,"].join("\n")),
	]);
	expect([list.length, list.events, list.nameAt(0)]).toEqual([300, 301, "p7"]);
	const { places, count } = list.find("P2", 5);
	expect(count).toBe(111);
	expect(places.map(list.nameAt)).toEqual(["p2", "p20", "p21", "p22", "p23"]);
	expect(list.find("nobody", 5)).toEqual({ places: [], count: 0 });
	const patient = list.at(0);
	expect(patient).toMatchObject({ sex: "female", birth: dayOf("1950-01-01"), death: null });
	expect(list.placeOf(patient)).toBe(0);
	expect(list.placeOf({ ...patient, sample: "s1" })).toBeUndefined();
	expect(list.countsAt(0)).toMatchObject({ records: 2, unknown: 0 });
});

test("a worker tells the progress, then the result, which can be sent", async () => {
	const sent: ReadReply[] = [];
	const scope = {
		onmessage: null as ((event: { data: ReadRequest }) => void) | null,
		postMessage: (reply: ReadReply) => void sent.push(structuredClone(reply)),
	};
	answerFiles(scope);
	scope.onmessage?.({ data: request([table(["2020-01-01"])]) });
	await expect.poll(() => sent.at(-1)?.state).toBe("read");
	expect(sent[0]).toEqual({ state: "waiting", share: 0.5 });
});

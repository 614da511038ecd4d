import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../base/errors.js";
import { openEvents, parseEventLine } from "./events.js";
import type { PatientRecords } from "./rows.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

async function readAll(text: string) {
	const file = join(await temporaryFolder(), "events.jsonl");
	await writeFile(file, text);
	const source = await openEvents(file);
	const patients: PatientRecords[] = [];
	for await (const patient of source.patients()) patients.push(patient);
	return { patients, notes: source.notes() };
}

describe("parseEventLine", () => {
	test("makes rows of types and times", () => {
		expect(parseEventLine('{"types":[4,"E11"],"times":[0.5,2]}', "f", 7)).toEqual({
			patient: "7",
			birth: null,
			sex: null,
			rows: [
				{ patient: "7", time: 0.5, code: "4", system: "events", kind: "other", value: null },
				{ patient: "7", time: 2, code: "E11", system: "events", kind: "other", value: null },
			],
			where: "f: line 7",
			sorted: false,
		});
	});

	test("takes id, birth and sex", () => {
		const line = '{"id":"p1","birth":-10957,"sex":"F","types":[],"times":[],"more":1}';
		expect(parseEventLine(line, "f", 1)).toMatchObject({
			patient: "p1",
			birth: -10957,
			sex: "female",
		});
		const other = '{"id":12,"birth":null,"sex":"male","types":[],"times":[]}';
		expect(parseEventLine(other, "f", 1)).toMatchObject({
			patient: "12",
			birth: null,
			sex: "male",
		});
		expect(parseEventLine('{"sex":"U","types":[],"times":[]}', "f", 1).sex).toBe(null);
	});

	test("sorts times that run backwards, ties in order", () => {
		const { rows, sorted } = parseEventLine(
			'{"types":["a","b","c","d"],"times":[3,1,3,1]}',
			"f",
			1,
		);
		expect(sorted).toBe(true);
		expect(rows.map(({ code }) => code).join("")).toBe("bdac");
	});

	test.each([
		["", "line 1 is not JSON"],
		["{", "line 1 is not JSON"],
		["[1]", "line 1 is a list"],
		["null", "line 1 is null"],
		["3", "line 1 is a number"],
		['{"times":[1]}', '"types" is nothing; expected a list'],
		['{"types":[1],"times":"x"}', '"times" is a string; expected a list'],
		['{"types":[1,2],"times":[1]}', "2 types and 1 times"],
		['{"types":[1.5],"times":[1]}', "types[0] is 1.5; expected a whole number"],
		['{"types":[""],"times":[1]}', "types[0] is empty"],
		['{"types":[4,null],"times":[1,2]}', "types[1] is null"],
		['{"types":[4],"times":["2020-01-01"]}', "times[0] is a string; expected a finite number"],
		['{"types":[4],"times":[1e999]}', "times[0] is Infinity"],
		['{"types":[],"times":[],"birth":"x"}', '"birth" is a string'],
		['{"types":[],"times":[],"sex":"constructor"}', '"sex" is an unknown word'],
		['{"types":[],"times":[],"sex":2}', '"sex" is a number'],
		['{"types":[],"times":[],"id":""}', '"id" is empty'],
		['{"types":[],"times":[],"id":[1]}', '"id" is a list'],
	])("refuses %j", (line, message) => {
		const parse = () => parseEventLine(line, "f", 1);
		expect(parse).toThrow(message);
		expect(parse).toThrow(InputError);
	});

	test("gives rows or an InputError, whatever the text", () => {
		const fields = {
			id: fc.jsonValue(),
			birth: fc.jsonValue(),
			sex: fc.oneof(fc.jsonValue(), fc.constantFrom("F", "male", "__proto__")),
			types: fc.oneof(
				fc.jsonValue(),
				fc.array(fc.oneof(fc.integer(), fc.string(), fc.jsonValue())),
			),
			times: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.double(), fc.jsonValue()))),
		};
		const line = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.json(),
			fc.record(fields, { requiredKeys: [] }).map((value) => JSON.stringify(value)),
		);
		const cut = fc.tuple(line, fc.nat(), fc.string()).map(([text, at, more]) => {
			const place = at % (text.length + 1);
			return text.slice(0, place) + more + text.slice(place);
		});
		fc.assert(
			fc.property(fc.oneof(line, cut), (text) => {
				try {
					const { rows } = parseEventLine(text, "f", 1);
					for (const [i, row] of rows.entries()) {
						expect(Number.isFinite(row.time)).toBe(true);
						expect(row.time).toBeGreaterThanOrEqual(rows[i - 1]?.time ?? row.time);
						expect(row.code).not.toBe("");
					}
				} catch (error) {
					expect(error).toBeInstanceOf(InputError);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	test("survives very deep and very long lines", () => {
		const parse = (text: string) => () => parseEventLine(text, "f", 1);
		expect(parse("[".repeat(1_000_000))).toThrow(InputError);
		expect(parse(`{"types":${"[".repeat(100_000)}${"]".repeat(100_000)},"times":[1]}`)).toThrow(
			InputError,
		);
		const many = Array.from({ length: 200_000 }, (_, i) => i).join(",");
		expect(parseEventLine(`{"types":[${many}],"times":[${many}]}`, "f", 1).rows.length).toBe(
			200_000,
		);
	});
});

describe("openEvents", () => {
	test("streams patients, skips blank lines, numbers lines as in the file", async () => {
		const { patients, notes } = await readAll(
			'\ufeff{"types":[1],"times":[0]}\r\n\r\n{"types":[2,3],"times":[2,1]}\r\n',
		);
		expect(patients.map(({ patient }) => patient)).toEqual(["1", "3"]);
		expect(notes).toEqual(["times ran backwards in 1 histories: sorted, ties in file order"]);
	});

	test("refuses an empty file and names the bad line", async () => {
		await expect(readAll("\n\n")).rejects.toThrow("holds no history");
		await expect(readAll('{"types":[1],"times":[0]}\n{"types":')).rejects.toThrow(
			"line 2 is not JSON",
		);
	});

	const real = new URL("../../../shared/data/stackoverflow/all_dedup.jsonl", import.meta.url)
		.pathname;
	test.skipIf(!existsSync(real))("reads StackOverflow's badges", async () => {
		const source = await openEvents(real, { names: real.replace(/[^/]*$/, "badges.csv") });
		let patients = 0;
		let rows = 0;
		for await (const patient of source.patients()) {
			patients++;
			rows += patient.rows.length;
		}
		expect([patients, rows]).toEqual([4468, 327_487]);
		expect(source.nameOf("events", "4")?.name).toBe("Popular Question");
	});
});

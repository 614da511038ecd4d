import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { openEvents, parseEventLine } from "./events.js";
import { load } from "./testing/load.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

async function written(name: string, text: string): Promise<string> {
	const file = join(await temporaryFolder(), name);
	await writeFile(file, text);
	return file;
}

const loaded = async (text: string) => load(await openEvents(await written("events.jsonl", text)));

describe("parseEventLine", () => {
	test("turns types and times into rows", () => {
		expect(parseEventLine('{"types":[4,"E11"],"times":[0.5,2]}', "f", 7)).toEqual({
			person: {
				patient: "7",
				birth: null,
				sex: null,
				death: null,
				split: null,
				place: "f: line 7",
			},
			rows: [
				{ patient: "7", time: 0.5, code: "4", system: "events", kind: "other", value: null },
				{ patient: "7", time: 2, code: "E11", system: "events", kind: "other", value: null },
			],
		});
	});

	test("reads id, birth, sex and death", () => {
		const person = (line: string) => parseEventLine(line, "f", 1).person;
		expect(
			person('{"id":"p1","birth":-10957,"sex":"F","death":7.5,"types":[],"times":[],"more":1}'),
		).toMatchObject({ patient: "p1", birth: -10957, sex: "female", death: 7.5 });
		expect(
			person('{"id":12,"birth":null,"sex":"male","death":null,"types":[],"times":[]}'),
		).toMatchObject({ patient: "12", birth: null, sex: "male", death: null });
		expect(person('{"sex":"U","types":[],"times":[]}').sex).toBe(null);
	});

	test("names a history without an id after its line, and its split if it has one", () => {
		const line = '{"types":[],"times":[]}';
		expect(parseEventLine(line, "f", 7).person.patient).toBe("7");
		expect(parseEventLine(line, "f", 7, "train").person).toMatchObject({
			patient: "train:7",
			split: "train",
		});
		expect(parseEventLine('{"id":"x","types":[],"times":[]}', "f", 7, "test").person).toMatchObject(
			{ patient: "x", split: "test" },
		);
	});

	test("keeps times that decrease", () => {
		const { rows } = parseEventLine('{"types":["a","b","c","d"],"times":[3,1,3,1]}', "f", 1);
		expect(rows.map(({ code, time }) => `${code}${time}`)).toEqual(["a3", "b1", "c3", "d1"]);
	});

	test.each([
		["", "line 1 is not JSON"],
		["{", "line 1 is not JSON"],
		[
			'{"types":[1],"times":[0],"types":[2]}',
			'line 1 holds the key "types" twice in one object, and only one could be read; leave one out',
		],
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
		['{"types":[4],"times":[1e300]}', "times[0] is 1e+300; expected a day from -10000000000 to"],
		['{"types":[4],"times":[1e999]}', "times[0] is Infinity"],
		['{"types":[],"times":[],"birth":"x"}', '"birth" is a string'],
		['{"types":[],"times":[],"death":"x"}', '"death" is a string'],
		['{"types":[],"times":[],"sex":"constructor"}', '"sex" is an unknown word'],
		['{"types":[],"times":[],"sex":2}', '"sex" is a number'],
		['{"types":[],"times":[],"id":""}', '"id" is empty'],
		['{"types":[],"times":[],"id":[1]}', '"id" is a list'],
	])("refuses %j", (line, message) => {
		const parse = () => parseEventLine(line, "f", 1);
		expect(parse).toThrow(message);
		expect(parse).toThrow(InputError);
	});

	test("returns rows or an InputError for any text", () => {
		const fields = {
			id: fc.jsonValue(),
			birth: fc.jsonValue(),
			death: fc.jsonValue(),
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
					for (const row of rows) {
						expect(Number.isFinite(row.time)).toBe(true);
						expect(row.code).not.toBe("");
					}
				} catch (error) {
					expect(error).toBeInstanceOf(InputError);
				}
			}),
			{ numRuns: 400 },
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
	test("loads people and records in order, skips blank lines, numbers lines as in the file", async () => {
		const { axis, notes, people, records, names } = await loaded(
			'\ufeff{"types":[1],"times":[0]}\r\n\r\n{"birth":-1,"sex":"M","types":[2,3],"times":[2,1]}\r\n',
		);
		expect({ axis, notes, names }).toEqual({ axis: "days", notes: [], names: [] });
		expect(people.map(({ place, ...person }) => [place.replace(/.*\//, ""), person])).toEqual([
			["events.jsonl: line 1", { patient: "1", birth: null, sex: null, death: null, split: null }],
			["events.jsonl: line 3", { patient: "3", birth: -1, sex: "male", death: null, split: null }],
		]);
		expect(records.map(({ patient, time, code }) => [patient, time, code])).toEqual([
			["1", 0, "1"],
			["3", 2, "2"],
			["3", 1, "3"],
		]);
	});

	test("assigns the file of each split to that split", async () => {
		const line = '{"types":[1],"times":[0]}';
		const files = {
			train: await written("a.jsonl", `${line}\n${line}\n`),
			test: await written("b.jsonl", `${line}\n{"id":"1","types":[1],"times":[0]}\n`),
		};
		const source = await openEvents(files);
		expect(source.path).toBe(`${files.train}, ${files.test}`);
		const { people, records } = await load(source);
		expect(people.map(({ patient, split }) => [patient, split])).toEqual([
			["train:1", "train"],
			["train:2", "train"],
			["test:1", "test"],
			["1", "test"],
		]);
		expect(records.map(({ patient }) => patient)).toEqual(["train:1", "train:2", "test:1", "1"]);
		await expect(openEvents({})).rejects.toThrow("expected `train` FILE");
		await expect(openEvents({ train: files.test, valid: files.test })).rejects.toThrow(
			"is given for train and for valid",
		);
	});

	test("loads a patient in two splits, which is detected later", async () => {
		const file = await written("a.jsonl", '{"id":"p","types":[1],"times":[0]}');
		const other = await written("b.jsonl", '{"id":"p","types":[1],"times":[0]}');
		const { people } = await load(await openEvents({ train: file, valid: other }));
		expect(people.map(({ split }) => split)).toEqual(["train", "valid"]);
	});

	test("reads the names of codes", async () => {
		const names = await written("names.csv", "code,name,category,kind\n4,Guru,x,drug\n5,Critic\n");
		const file = await written("a.jsonl", '{"types":[4],"times":[0]}');
		expect((await load(await openEvents(file, { names }))).names).toEqual([
			{ system: "events", code: "4", name: "Guru", category: "x", kind: "drug" },
			{ system: "events", code: "5", name: "Critic", category: null, kind: null },
		]);
	});

	test("loads more than a batch", async () => {
		const many = (length: number, of: (i: number) => unknown) =>
			JSON.stringify(Array.from({ length }, (_, i) => of(i)));
		const line = `{"types":${many(50_000, (i) => i)},"times":${many(50_000, (i) => i / 2)}}\n`;
		const { records, people } = await loaded(line.repeat(3));
		expect([records.length, people.length]).toEqual([150_000, 3]);
		expect(records[120_001]).toMatchObject({ patient: "3", code: "20001", time: 10_000.5 });
	});

	test("rejects an empty file and reports the bad line", async () => {
		await expect(loaded("\n\n")).rejects.toThrow("contains no history");
		await expect(loaded('{"types":[1],"times":[0]}\n{"types":')).rejects.toThrow(
			"line 2 is not JSON",
		);
		const missing = load(await openEvents("nowhere.jsonl"));
		await expect(missing).rejects.toThrow("nowhere.jsonl: no such file");
		await expect(missing).rejects.toThrow(InputError);
	});

	test("rejects a patient on two lines, and reports both", async () => {
		const line = (id: string) => `{"id":${id},"types":[1],"times":[0]}\n`;
		const twice = loaded(line('"p"') + line("3") + line('"p"') + line('"p"') + line("3"));
		await expect(twice).rejects.toThrow(InputError);
		await expect(twice).rejects.toThrow(
			/events\.jsonl: line 3: patient p was given before, at .*events\.jsonl: line 1;/,
		);
		await expect(
			loaded('{"id":"2","types":[],"times":[]}\n{"types":[],"times":[]}'),
		).rejects.toThrow(/line 2: patient 2 was given before, at .*line 1;/);
	});

	test("stores any text", async () => {
		const codes = fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 20 });
		const odd = fc.constantFrom("a\u0000b", "'; --", "a\ufeff", "\u2028", "é".repeat(5000));
		await fc.assert(
			fc.asyncProperty(codes, odd, async (some, one) => {
				const types = [...some, one];
				const times = types.map(() => 0);
				const { records } = await loaded(JSON.stringify({ id: one, types, times }));
				expect(records.map(({ code }) => code)).toEqual(types);
				expect(new Set(records.map(({ patient }) => patient))).toEqual(new Set([one]));
			}),
			{ numRuns: 20 },
		);
	});

	const real = new URL("../../../../shared/data/stackoverflow/all_dedup.jsonl", import.meta.url)
		.pathname;
	test.skipIf(!existsSync(real))("reads StackOverflow's badges", async () => {
		const source = await openEvents(real, { names: real.replace(/[^/]*$/, "badges.csv") });
		const { people, records, names } = await load(source);
		expect([people.length, records.length]).toEqual([4468, 327_487]);
		expect(names.find(({ code }) => code === "4")).toMatchObject({
			system: "events",
			name: "Popular Question",
		});
	});
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { openEvents, parseEventLine } from "./events.js";
import { checkCase, folderOf, formatCases, refused, rowsOf } from "./testing/format-cases.js";
import { load } from "./testing/load.js";

const loaded = async (text: string) =>
	load(await openEvents(join(await folderOf({ "events.jsonl": text }), "events.jsonl")));

describe("parseEventLine", () => {
	test("names a history without an id after its line, and its split if it has one", () => {
		const parse = (line: string, split?: "train" | "test") =>
			rowsOf([parseEventLine(line, "f", 7, split).person]);
		const line = '{"types":[],"times":[]}';
		expect(parse(line)).toEqual(["7"]);
		expect(parse(line, "train")).toEqual(["train:7 train"]);
		expect(parse('{"id":"x","types":[],"times":[]}', "test")).toEqual(["x test"]);
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
	const cases = String.raw`
lines, blank ones skipped, in order | a.jsonl: \ufeff{"types":[1,"E11"],"times":[0.5,2]}\r\n\r\n{"birth":-1,"sex":"M","types":["a","b","c","d"],"times":[3,1,3,1]}\r\n | axis: days | records: 1 0.5 1 events other ; 1 2 E11 events other ; 3 3 a events other ; 3 1 b events other ; 3 3 c events other ; 3 1 d events other | people: 1 ; 3 -1 male | names:
id, birth, sex and death | a.jsonl: {"id":"p1","birth":-10957,"sex":"F","death":7.5,"types":[],"times":[],"more":1}\n{"id":12,"birth":null,"sex":"male","death":null,"types":[],"times":[]}\n{"sex":"U","types":[],"times":[]} | people(patient birth sex death): p1 -10957 female 7.5 ; 12 null male null ; 3 null null null
names of codes | a.jsonl: {"types":[4],"times":[0]} | names.csv: code,name,category,kind\n4,Guru,x,drug\n5,Critic\n | {"names": "names.csv"} | names: events 4 Guru x drug ; events 5 Critic
nothing | a.jsonl: \n\n | refused: contains no history
half a line | a.jsonl: {"types":[1],"times":[0]}\n{"types": | refused: line 2 is not JSON
a patient twice | a.jsonl: {"id":"p","types":[1],"times":[0]}\n{"id":3,"types":[1],"times":[0]}\n{"id":"p","types":[1],"times":[0]}\n{"id":"p","types":[1],"times":[0]}\n{"id":3,"types":[1],"times":[0]}\n | refused: a.jsonl: line 3: patient p was given before, at & a.jsonl: line 1;
a patient with the name of a line | a.jsonl: {"id":"2","types":[],"times":[]}\n{"types":[],"times":[]} | refused: line 2: patient 2 was given before, at & line 1;
`;
	test.each(formatCases(cases))("%s", (_, cells) => checkCase(cells, openEvents));

	test("assigns the file of each split to that split; twice is detected later", async () => {
		const line = '{"types":[1],"times":[0]}\n';
		const folder = await folderOf({
			"a.jsonl": `${line}${line}{"id":"1","types":[1],"times":[0]}`,
			"b.jsonl": `${line}{"id":"1","types":[1],"times":[0]}\n`,
		});
		const files = { train: join(folder, "a.jsonl"), test: join(folder, "b.jsonl") };
		const source = await openEvents(files);
		expect(source.path).toBe(`${files.train}, ${files.test}`);
		const { people, records } = await load(source);
		const expected = ["train:1 train", "train:2 train", "1 train", "test:1 test", "1 test"];
		expect(rowsOf(people)).toEqual(expected);
		expect(rowsOf(records, "patient")).toEqual(["train:1", "train:2", "1", "test:1", "1"]);
		await refused(openEvents({}), "expected `train` FILE");
		await refused(openEvents({ train: files.test, valid: files.test }), "for train and for valid");
		await refused(openEvents("nowhere.jsonl").then(load), "nowhere.jsonl: no such file");
	});

	test("loads more than a batch", async () => {
		const many = (length: number, of: (i: number) => unknown) =>
			JSON.stringify(Array.from({ length }, (_, i) => of(i)));
		const line = `{"types":${many(50_000, (i) => i)},"times":${many(50_000, (i) => i / 2)}}\n`;
		const { records, people } = await loaded(line.repeat(3));
		expect([records.length, people.length]).toEqual([150_000, 3]);
		expect(records[120_001]).toMatchObject({ patient: "3", code: "20001", time: 10_000.5 });
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

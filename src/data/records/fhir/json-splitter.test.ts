import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { JsonSplitter, type Piece } from "./resource-parser.js";

interface Part {
	readonly kind: Piece["kind"];
	readonly entry: number;
	readonly line: number;
	readonly value: unknown;
}

function split(text: string | Uint8Array, sizes: readonly number[] = [], limit?: number): Part[] {
	const bytes = typeof text === "string" ? Buffer.from(text) : text;
	const splitter = new JsonSplitter("x.json", limit);
	const parts: Part[] = [];
	let at = 0;
	for (let turn = 0; at < bytes.length; turn++) {
		const size = sizes.length > 0 ? (sizes[turn % sizes.length] as number) : bytes.length;
		for (const piece of splitter.push(bytes.subarray(at, at + size))) {
			const { kind, entry, line } = piece;
			parts.push({ kind, entry, line, value: JSON.parse(Buffer.from(piece.bytes).toString()) });
		}
		at += size;
	}
	splitter.end();
	return parts;
}

function messageOf(work: () => unknown): string {
	try {
		work();
	} catch (error) {
		if (error instanceof InputError) return error.message;
		throw error;
	}
	return "";
}

const json = fc.jsonValue({ maxDepth: 2, stringUnit: "binary" });
const object = fc.dictionary(fc.string({ unit: "grapheme" }), json, { maxKeys: 4 });
const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });

describe("the splitter", () => {
	test("splits an object into its entries and the rest", () => {
		const text =
			'{"a":{"entry":[1]},\n"entry":[{"b":"]}"},\n {"c":[{}]}],"resourceType":"Bundle"}\n';
		expect(split(text)).toEqual([
			{ kind: "entry", entry: 1, line: 2, value: { b: "]}" } },
			{ kind: "entry", entry: 2, line: 3, value: { c: [{}] } },
			{
				kind: "rest",
				entry: 2,
				line: 1,
				value: { a: { entry: [1] }, entry: [], resourceType: "Bundle" },
			},
		]);
	});

	test("splits consecutive objects, with or without line ends", () => {
		const values = split('\ufeff{"a":1}\r\n\r\n{"b":"entry"}{"c":[]}\n');
		expect(values.map(({ line, value }) => [line, value])).toEqual([
			[1, { a: 1 }],
			[3, { b: "entry" }],
			[3, { c: [] }],
		]);
		expect(split(" \n ")).toEqual([]);
		expect(split('{"entry":{"entry":[{}]}}')).toMatchObject([{ kind: "rest", entry: 0 }]);
	});

	test("agrees with JSON.parse wherever the chunks are cut", () => {
		fc.assert(
			fc.property(
				fc.array(object, { maxLength: 5 }),
				fc.dictionary(fc.constantFrom("entries", "x", 'en"try', "entr\\y"), json),
				fc.constantFrom(undefined, "\t", 1),
				sizes,
				(entries, others, indent, cuts) => {
					const text = JSON.stringify({ ...others, entry: entries, last: "entry" }, null, indent);
					const parts = split(text, cuts);
					const whole = JSON.parse(text);
					expect(parts.slice(0, -1).map(({ value }) => value)).toEqual(whole.entry);
					expect(parts.at(-1)?.value).toEqual({ ...whole, entry: [] });
				},
			),
			{ numRuns: 100 },
		);
	});

	test("agrees with JSON.parse on one object per line, wherever the chunks are cut", () => {
		fc.assert(
			fc.property(fc.array(object, { maxLength: 5 }), sizes, (values, cuts) => {
				const objects = values.map(({ entry, ...rest }) => rest);
				const lines = objects.map((value) => JSON.stringify(value));
				const parts = split(`${lines.join("\r\n")}\n`, cuts);
				expect(parts.map(({ value }) => value)).toEqual(lines.map((line) => JSON.parse(line)));
				expect(parts.map(({ line }) => line)).toEqual(lines.map((_, at) => at + 1));
			}),
			{ numRuns: 100 },
		);
	});

	test("yields the same pieces or the same message wherever the chunks are cut", () => {
		const bundle = '{"resourceType":"Bundle","entry":[{"a":"\\"é"},{"b":[1,{}]}]}\n{"c":null}\n';
		const outcome = (bytes: Uint8Array, cuts: readonly number[]) => {
			const seen: unknown[] = [];
			const splitter = new JsonSplitter("x.json");
			try {
				for (let at = 0, turn = 0; at < bytes.length; turn++) {
					const size = cuts[turn % cuts.length] as number;
					for (const { bytes: piece, ...rest } of splitter.push(bytes.subarray(at, at + size)))
						seen.push({ ...rest, text: Buffer.from(piece).toString("latin1") });
					at += size;
				}
				splitter.end();
			} catch (error) {
				expect(error).toBeInstanceOf(InputError);
				seen.push((error as Error).message);
			}
			return seen;
		};
		fc.assert(
			fc.property(
				fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\\n\t a<\u0001\u00ff')), {
					maxLength: 3,
				}),
				sizes,
				(edits, cuts) => {
					const bytes = Buffer.from(bundle);
					for (const [at, char] of edits) bytes[at % bytes.length] = char.charCodeAt(0);
					expect(outcome(bytes, cuts)).toEqual(outcome(bytes, [1]));
				},
			),
			{ numRuns: 400 },
		);
	});

	test("reports where a file is malformed", () => {
		const said = (text: string, limit?: number) => messageOf(() => split(text, [7], limit));
		const bundle = '{"resourceType":"Bundle",\n"entry":[{"a":1},\n{"b":2}';
		expect(said(bundle)).toBe(
			"x.json: entry 2 (line 3) cannot be read: the file ends inside it; copy the file again",
		);
		expect(said(`${bundle}}`)).toContain("entry 2 (line 3) cannot be read");
		expect(said('{"a":1')).toContain(
			"the JSON that starts on line 1 cannot be read: the file ends",
		);
		expect(said(`${bundle},]}`)).toContain(
			'line 3: the list "entry" is not well formed after entry 2',
		);
		expect(said(`${bundle}{}]}`)).toContain("not well formed after entry 2");
		expect(said('{"entry":[,{}]}')).toContain("not well formed at its start");
		expect(said('{"entry":[1]}')).toContain("expected objects with commas between them");
		expect(said('{"entry":[[{}]]}')).toContain("expected objects with commas between them");
		expect(said('{"entry":["a"]}')).toContain("expected objects with commas between them");
		expect(said('{"a":[1}')).toContain("its brackets do not match");
		expect(said('{"a":1}\n{"a":1\n{"a":1}\n')).toContain(
			"the JSON that starts on line 2 cannot be read: the line ends inside it",
		);
		expect(said('{"a":"x\n"}')).toContain("a text in it is not closed on its line");
		expect(said("hello")).toContain("line 1 is not a JSON object");
		expect(said('{"a":1}\n,')).toContain("line 2 is not a JSON object");
		expect(said("[{}]")).toContain("line 1 is not a JSON object");
		expect(said('"a"')).toContain("line 1 is not a JSON object");
		expect(said("]")).toContain("line 1 is not a JSON object");
		expect(said("<Bundle/>")).toContain("looks like XML; expected FHIR as JSON");
		expect(messageOf(() => split(Uint8Array.of(0xff, 0xfe, 0x7b, 0)))).toContain("not UTF-8");
		expect(said('{"a":"0123456789"}', 17)).toContain("it is longer than 17 bytes");
		expect(said('{"a":"0123456789"}', 18)).toBe("");
		expect(said('{"entry":[{"a":"0123456789"}]}', 17)).toContain("entry 1 (line 1)");
	});

	test("rejects unclosed brackets quickly", () => {
		expect(messageOf(() => split(`{"a":${"[".repeat(100_000)}`))).toContain("are 1000 deep");
		expect(messageOf(() => split(`{"entry":[${'{"a":'.repeat(100_000)}`))).toContain("1000 deep");
	});

	test("rejects an unclosed text in bounded memory", () => {
		const splitter = new JsonSplitter("x.json");
		const chunk = Buffer.alloc(1 << 20, "a");
		let pushed = 0;
		const message = messageOf(() => {
			for (const _ of splitter.push(Buffer.from('{"entry":[{"a":"'))) expect.unreachable();
			for (; pushed < 1000; pushed++) for (const _ of splitter.push(chunk)) expect.unreachable();
		});
		expect(message).toContain("entry 1 (line 1) cannot be read: it is longer than 67108864 bytes");
		expect(pushed).toBe(63);
	});
});

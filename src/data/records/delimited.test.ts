import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { openDelimited, scanRows } from "./delimited.js";
import { rowsOf } from "./delimited-rows.js";
import { cellsOf, read, withFile } from "./testing/delimited-cells.js";

describe("a delimited file", () => {
	const plain = [
		["a", "b"],
		["1", "2"],
		["3", "4"],
	];
	test.each([
		["Unix", "a,b\n1,2\n3,4\n"],
		["Windows", "a,b\r\n1,2\r\n3,4\r\n"],
		["old Macintosh", "a,b\r1,2\r3,4\r"],
		["without a last line end", "a,b\n1,2\n3,4"],
		["byte order mark", "\ufeffa,b\n1,2\n3,4\n"],
		["empty lines", "\na,b\n\n1,2\n\n\n3,4\n\n"],
		["empty Windows lines", "\r\n\r\na,b\r\n\r\n1,2\r\n3,4\r\n\r\n"],
		["tabs", "a\tb\n1\t2\n3\t4\n"],
		["semicolons", "a;b\n1;2\n3;4\n"],
		["bars", "a|b\n1|2\n3|4\n"],
		["quoted", '"a","b"\n"1","2"\n"3", "4" \n'],
		["a delimiter at the end of a row", "a,b\n1,2,\n3,4\n"],
		["gzip", gzipSync("a,b\n1,2\n3,4\n")],
		["gzip in two members", Buffer.concat([gzipSync("a,b\n1,2\n"), gzipSync("3,4\n")])],
	])("is read: %s", async (_, content) => {
		expect(await read(content)).toEqual(plain);
	});

	test.each([
		["one blank", 'a,b\n1, "2"\n', "2"],
		["two blanks", 'a,b\n1,  "2"\n', '"2"'],
		["two blanks, not closed", 'a,b\n1,  "', '"'],
	])("reads a quote after %s as the scanner does", async (_, content, expected) => {
		const cells = await read(content);
		expect(String(cells[1]?.[1]).trim()).toBe(expected);
		expect([...rowsOf(content, { delimiter: ",", quotes: true })][1]?.texts[1]).toBe(expected);
	});

	test("may contain delimiters, quotes and line ends in quoted fields, and empty fields", async () => {
		expect(await read('a,"b ""c"""\n"x\r\ny, ""z""",é\n,""\n')).toEqual([
			["a", 'b "c"'],
			['x\r\ny, "z"', "é"],
			[null, null],
		]);
	});

	test("may have no header, no names, no quotes, any name and any delimiter", async () => {
		expect(await read("1,2\n3,4\n", { columns: ["a", "b"] })).toEqual(plain);
		expect(await read(",b\n1,2\n")).toEqual([
			["column 1", "b"],
			["1", "2"],
		]);
		expect(await read('a\tb\n1"\t"2\n', { quotes: false })).toEqual([
			["a", "b"],
			['1"', '"2'],
		]);
		expect(await read("a,b\n1,2\n3,4\n", {}, "it's [1]*?.csv")).toEqual(plain);
		expect(await read("a^b\n1^2\n3^4\n", { delimiter: "^" })).toEqual(plain);
		expect(await read("a\tb\n1\t2\n3\t4\n", { delimiter: "tab" })).toEqual(plain);
	});

	const noise = Array.from({ length: 20_000 }, (_, i) => `${(i * 7919) % 10_007},${i}\n`).join("");
	const packed = gzipSync(`a,b\n${noise}`);
	const flipped = Uint8Array.from(packed);
	flipped[packed.length - 6]! ^= 1; // in the check sum

	test.each<[string, string | Uint8Array, string | RegExp]>([
		["nothing", "", "is empty"],
		["line ends alone", "\n\n\r\n", "is empty"],
		["a row too short", "a,b\n1,2\n\n3\n5,6\n", "line 4 has 1 field; expected 2"],
		["a row too long", "a,b\n1,2\n3,4,5\n", "line 3 has 3 fields; expected 2"],
		["a quote left open", 'a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote is opened"],
		["text after a quote", 'a,b\n1,2\n"3"x,4\n', "line 3: text after a closing quote"],
		["mixed line ends", "a,b\n1,2\r\n3,4\n", "line 2 ends another way"],
		["two columns of one name", "a,A\n1,2\n", 'two columns are named "A"'],
		["Latin-1", Buffer.from("a,b\n1,2\n3,é \n", "latin1"), "line 3 is not UTF-8"],
		["a Latin-1 header", Buffer.from("\na,é\n1,2\n", "latin1"), "line 2 is not UTF-8"],
		["UTF-16", Buffer.from("\ufeffa,b\n1,2\n", "utf16le"), "is UTF-16"],
		["zero bytes", "a,b\n\0\0", "is not text"],
		["Parquet", "PAR1....PAR1", "`format` parquet"],
		["Excel", "PK\x03\x04....", "zip or Excel"],
		["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), "zstd"],
		["gzip cut short", packed.subarray(0, packed.length >> 1), "the gzip data end early"],
		["gzip without its last bytes", packed.subarray(0, -4), "the gzip data end early"],
		["gzip with a wrong check sum", flipped, "corrupt gzip"],
		["gzip with zeros after it", Buffer.concat([packed, Buffer.alloc(64)]), "corrupt gzip"],
		["the gzip magic alone", Buffer.from([0x1f, 0x8b]), "the gzip data end early"],
	])("is rejected: %s", async (_, content, message) => {
		const failing = read(content);
		await expect(failing).rejects.toThrow(message);
		await expect(failing).rejects.toThrow(InputError);
	});

	test("is rejected if it does not exist, is a folder or does not match the options", async () => {
		await withFile("a,b\n1,2\n", async (file, _, folder) => {
			await expect(openDelimited(`${file}x`)).rejects.toThrow(/a\.csvx: no such file/);
			await expect(openDelimited(join(file, "x"))).rejects.toThrow("no such file");
			await expect(openDelimited(folder)).rejects.toThrow("is a folder");
			await expect(openDelimited("x".repeat(5000))).rejects.toThrow("so long a name");
			await expect(openDelimited("a\0b")).rejects.toThrow("not a path");
			await expect(openDelimited(file, { delimiter: "::" })).rejects.toThrow("one character");
			await expect(openDelimited(file, { columns: ["a"] })).rejects.toThrow("2 fields; expected 1");
		});
	});

	test("finds the line of a row", async () => {
		await withFile('\na,b\n\n"1\n\n",2\n3,4\n', async (file) => {
			const table = await openDelimited(file);
			expect(await table.places([1])).toEqual([`${file}: line 4`]);
			expect(await table.places([1, 2])).toEqual([4, 7].map((line) => `${file}: line ${line}`));
		});
	});

	test("is read or rejected for any content, and the scanner agrees with DuckDB", async () => {
		const text = fc.string({
			unit: fc.constantFrom("a", "1", ",", ",", '"', " ", "\n", "\n", "\r\n", "\t", "é"),
			maxLength: 60,
		});
		await withFile("", async (file, store) => {
			await fc.assert(
				fc.asyncProperty(text, fc.boolean(), async (body, quotes) => {
					await writeFile(file, `a,b\n${body}`);
					const cells = await cellsOf(file, store, { quotes }).catch((error) => {
						expect(error).toBeInstanceOf(InputError);
						return undefined;
					});
					if (!cells) return;
					let rows = 0;
					await scanRows(file, { delimiter: ",", quotes }, () => ++rows < 0);
					expect(rows).toBe(cells.length);
					const texts = Array.from(rowsOf(`a,b\n${body}`, { delimiter: ",", quotes }), (row) =>
						row.texts.slice(0, 2).map((text) => text.trim()),
					);
					expect(texts).toEqual(cells.map((row) => row.map((text) => String(text ?? "").trim())));
				}),
				{ numRuns: 100 },
			);
		});
	});

	test("is read or rejected after random changes of bytes", async () => {
		const good = Buffer.from('patient,date\n1,2020-01-01\n"2",2020-01-02\r\n');
		const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255));
		await withFile("", async (file, store) => {
			await fc.assert(
				fc.asyncProperty(
					fc.array(change, { maxLength: 4 }),
					fc.boolean(),
					async (changes, pack) => {
						let bytes: Buffer = pack ? gzipSync(good) : Buffer.from(good);
						for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
						bytes = bytes.subarray(0, bytes.length - ((changes[0]?.[0] ?? 0) % 3));
						await writeFile(file, bytes);
						await cellsOf(file, store).catch((error) => expect(error).toBeInstanceOf(InputError));
					},
				),
				{ numRuns: 100 },
			);
		});
	});
});

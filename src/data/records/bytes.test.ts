import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { fileKind, readLines } from "./bytes.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

async function linesOf(bytes: string | Uint8Array, limit?: number): Promise<string[]> {
	const file = join(await temporaryFolder(), "lines.txt");
	await writeFile(file, bytes);
	const lines: string[] = [];
	for await (const { number, text } of readLines(file, limit)) {
		expect(number).toBe(lines.length + 1);
		lines.push(text);
	}
	return lines;
}

const failing = (promise: Promise<unknown>) =>
	promise.then(
		() => undefined,
		(error) => {
			expect(error).toBeInstanceOf(InputError);
			return error.message as string;
		},
	);

describe("readLines", () => {
	test("removes the byte order mark and Windows line ends", async () => {
		expect(await linesOf("\ufeffone\r\ntwo\r\n\r\nfour")).toEqual(["one", "two", "", "four"]);
	});

	test("yields no line after a final line end, and none for an empty file", async () => {
		expect(await linesOf("one\n")).toEqual(["one"]);
		expect(await linesOf("")).toEqual([]);
		expect(await linesOf("\ufeff")).toEqual([]);
	});

	test("unpacks gzip regardless of the name", async () => {
		expect(await linesOf(gzipSync("één\ntwee"))).toEqual(["één", "twee"]);
	});

	test("joins lines and characters across chunks", async () => {
		const long = "é€😀".repeat(300_000); // 2.7 MB: three chunks, cut inside characters
		expect(await linesOf(`x${long}\n${long}\n`)).toEqual([`x${long}`, long]);
	});

	test("agrees with split on any text", async () => {
		await fc.assert(
			fc.asyncProperty(fc.string({ unit: fc.constantFrom("a", "\n", "é", "😀") }), async (text) => {
				const expected = text.split("\n");
				if (expected.at(-1) === "") expected.pop();
				expect(await linesOf(text)).toEqual(expected);
			}),
			{ numRuns: 50 },
		);
	});

	test("rejects unreadable input, with its location", async () => {
		const folder = await temporaryFolder();
		const read = (name: string) => readLines(join(folder, name)).next();
		expect(await failing(read("absent"))).toContain("no such file");
		expect(await failing(readLines(folder).next())).toContain("is a folder; expected a file");
		expect(await failing(linesOf(Uint8Array.of(0x61, 0x0a, 0xff, 0xfe)))).toContain("not UTF-8");
		expect(await failing(linesOf(Uint8Array.of(0x61, 0x0a, 0xc3)))).toContain("not UTF-8");
		expect(await failing(linesOf("ok\n1234567890\n", 9))).toContain("line 2 is longer than 9");
		expect(await failing(linesOf("ok\n1234567890", 9))).toContain("line 2 is longer than 9");
		const packed = gzipSync("a line\n".repeat(1000));
		expect(await failing(linesOf(packed.subarray(0, 30)))).toContain("end early");
		packed.fill(0x55, 20, 40);
		expect(await failing(linesOf(packed))).toContain("corrupt gzip");
	});
});

test("tells what a file holds by its beginning", async () => {
	const folder = await temporaryFolder();
	const kindOf = async (content: string | Uint8Array) => {
		const file = join(folder, "file");
		await writeFile(file, content);
		return fileKind(file);
	};
	const bundle = '{\n  "resourceType": "Bundle", "entry": []}';
	expect(await kindOf("PAR1…")).toBe("parquet");
	expect(await kindOf(bundle)).toBe("fhir");
	expect(await kindOf(gzipSync(bundle))).toBe("fhir");
	expect(await kindOf(`\uFEFF[${bundle}]`)).toBe("fhir");
	expect(await kindOf('{"id":"a","types":[4,9],"times":[0,2.5]}\n')).toBe("events");
	expect(await kindOf('{"a":1}')).toBe("json");
	expect(await kindOf("[1,2,3]")).toBe("json");
	expect(await kindOf("patient,date,icd9\n")).toBe("text table");
	expect(await kindOf("[patient],[date],[icd9]\n")).toBe("text table");
	expect(await kindOf("")).toBeUndefined();
	expect(await kindOf("hello\n")).toBeUndefined();
	expect(await kindOf(new Uint8Array([0x1f, 0x8b, 1, 2]))).toBeUndefined();
	expect(await fileKind(join(folder, "none"))).toBeUndefined();
	await mkdir(join(folder, "inside"));
	expect(await fileKind(join(folder, "inside"))).toBeUndefined();
});

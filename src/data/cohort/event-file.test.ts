import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetWriteFile } from "hyparquet-writer";
import { expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { openEventFile } from "./dataset-files.js";

const rows = 50;
const written = async (shift: number) => {
	const filename = join(await temporaryFolder(), "events.parquet");
	const numbers = Array.from({ length: rows }, (_, row) => row + shift);
	await parquetWriteFile({
		filename,
		columnData: [
			{ name: "time", data: numbers.map((n) => n / 2), type: "DOUBLE" },
			{ name: "token", data: numbers, type: "INT32" },
		],
		rowGroupSize: 8,
	});
	return filename;
};
const [enough, tooLittle] = [rows * 12, rows * 12 - 1];
const pieces: readonly (readonly [first: number, count: number])[] = [
	...[[0, 3] as const, [6, 4] as const, [7, 30] as const],
	...[[48, 2] as const, [0, 50] as const, [50, 0] as const, [16, 8] as const],
];
const expected = (first: number, count: number, shift = 0) => {
	const tokens = Int32Array.from({ length: count }, (_, i) => first + i + shift);
	return { times: Float64Array.from(tokens, (token) => token / 2), tokens };
};

test.each([
	["memory", enough],
	["a temporary file", tooLittle],
])("any events, kept in %s", async (_, memory) => {
	const before = readdirSync(tmpdir()).filter((name) => name.startsWith("trajgpt-events-"));
	const events = await openEventFile(await written(0), memory);
	expect("file" in events.shared.place).toBe(memory === tooLittle);
	for (const [first, count] of pieces)
		expect(await events.read(first, count)).toEqual(expected(first, count));
	// At the same time, too.
	const all = await Promise.all(pieces.map(([first, count]) => events.read(first, count)));
	expect(all).toEqual(pieces.map(([first, count]) => expected(first, count)));
	const after = readdirSync(tmpdir()).filter((name) => name.startsWith("trajgpt-events-"));
	expect(after).toEqual(before);
});

test.each([
	["memory", enough],
	["a temporary file", tooLittle],
])("what is decoded is not decoded again by others who share %s", async (_, memory) => {
	const { read, shared } = await openEventFile(await written(0), memory);
	await read(0, 10); // the first two row groups
	expect([...shared.decoded]).toEqual([1, 1, 0, 0, 0, 0, 0]);
	// Another file shows which rows the second one decodes itself.
	const other = await openEventFile(await written(1000), memory, shared);
	expect(await other.read(8, 8)).toEqual(expected(8, 8));
	expect(await other.read(16, 8)).toEqual(expected(16, 8, 1000));
	expect(await read(16, 8)).toEqual(expected(16, 8, 1000));
});

test("a piece belongs to its reader", async () => {
	const events = await openEventFile(await written(0), enough);
	(await events.read(0, 5)).tokens.fill(-1);
	expect(await events.read(0, 5)).toEqual(expected(0, 5));
});

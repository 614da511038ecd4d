import { open } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { cellsOf, read, withFile } from "./testing/delimited-cells.js";

describe("a large delimited file", () => {
	test.each([["header"], ["row"]])("is refused with a field of 64 MB in its %s", async (where) => {
		await withFile("", async (file, store) => {
			const handle = await open(file, "w");
			await handle.write(where === "header" ? "a," : "a,b\n1,2\n3,");
			const piece = Buffer.alloc(2 ** 20, "x");
			for (let i = 0; i < 64; i++) await handle.write(piece);
			await handle.write("\n5,6\n");
			await handle.close();
			const before = process.memoryUsage.rss();
			const line = where === "header" ? 1 : 3;
			await expect(cellsOf(file, store)).rejects.toThrow(`line ${line} is longer than 2097152`);
			expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 2 ** 20);
		});
	});

	test.each([
		["empty lines that fill what one thread reads", "1,2\n", "\n".repeat(18_000_000), 14],
		["empty lines all over", "1,2\n\n\n", "\n", 14],
	])("loses no row among %s", async (_, row, between, rows) => {
		await withFile(`a,b\n${row.repeat(7)}${between}${row.repeat(7)}`, async (file, store) => {
			const cells = await cellsOf(file, store).catch((error) => {
				expect(error).toBeInstanceOf(InputError);
				return undefined;
			});
			if (cells) expect(cells.length - 1).toBe(rows);
		});
	});

	test.each([["a.csv"], ["a.csv.gz"]])("refuses a last row of 40 MB in %s", async (name) => {
		const text = `a,b\n${"1,2\n".repeat(1000)}1,${"x".repeat(40 * 2 ** 20)}`;
		const failing = read(name.endsWith("gz") ? gzipSync(text) : text, {}, name);
		await expect(failing).rejects.toThrow("line 1002 is longer than 2097152 bytes");
	});
});

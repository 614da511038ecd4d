import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { openStore, type Store } from "./store.js";
import { openTable } from "./table.js";
import { temporaryFolder } from "./testing/temporary-folder.js";
import { writeParquet } from "./testing/write-parquet.js";

let store: Store;
let folder: string;
beforeEach(async () => {
	folder = await temporaryFolder();
	const files = ["a.csv", "b.csv", "a.parquet", "year=2020/a.parquet"];
	store = await openStore({
		folder,
		memory: 2 ** 27,
		threads: 1,
		files: files.map((name) => join(folder, name)),
	});
});
afterEach(() => store.close());

const parquet = (name: string, sql: string) => writeParquet(join(folder, name), sql);

test("detects the format from the content, and both formats behave alike", async () => {
	const text = join(folder, "a.csv");
	await writeFile(text, 'a;b\n1;"x\ny"\n2;z\n');
	const csv = await openTable(store, text);
	expect(csv.format).toBe("csv");
	expect(csv.columns).toMatchObject([
		{ name: "a", type: "VARCHAR" },
		{ name: "b", type: "VARCHAR" },
	]);
	expect(await store.all(`SELECT * FROM ${csv.sql}`)).toEqual([
		{ a: "1", b: "x\ny" },
		{ a: "2", b: "z" },
	]);
	expect(await csv.places([2])).toEqual([`${text}: line 4`]);
	expect((await openTable(store, text, ",")).columns.length).toBe(1);

	const file = await parquet("b.csv", "SELECT 1::BIGINT AS a, 'x'::BLOB AS b");
	const table = await openTable(store, file);
	expect(table.format).toBe("parquet");
	expect(table.columns).toMatchObject([
		{ name: "a", type: "BIGINT" },
		{ name: "b", type: "VARCHAR" },
	]);
	expect(await table.places([1])).toEqual([`${file}: row 1`]);
});

test("a folder such as year=2020 adds no column", async () => {
	await mkdir(join(folder, "year=2020"));
	const table = await openTable(store, await parquet("year=2020/a.parquet", "SELECT 1 AS a"));
	expect(table.columns.map(({ name }) => name)).toEqual(["a"]);
	expect(await store.all(`SELECT * FROM ${table.sql}`)).toEqual([{ a: 1 }]);
});

test("explains errors of the file, and leaves other errors unchanged", async () => {
	const table = await openTable(store, await parquet("a.parquet", "SELECT 1 AS a"));
	const explained = async (message: string) => {
		const error = new Error(message);
		const said = await table.explain(error);
		return said === error ? "as it is" : (said as InputError).message.replace(table.file, "F");
	};
	expect(await explained("Binder Error: no such column")).toBe("as it is");
	expect(await explained("IO Error: Cannot open file: Permission denied")).toBe(
		"F: permission denied; check who may read it",
	);
	expect(await explained("Invalid Input Error: file is encrypted")).toBe(
		"F: encrypted Parquet; decrypt it first",
	);
	expect(await explained("Invalid Input Error: Invalid string encoding found")).toBe(
		"F: a text in it is not UTF-8; write it again with text as UTF-8",
	);
	expect(await explained("IO Error: reading out of bounds")).toBe(
		"F: corrupt or incomplete Parquet; copy or write the file again",
	);
	const own = new InputError("the disk is full");
	expect(await table.explain(own)).toBe(own);

	const named = join(folder, "c.parquet");
	await writeFile(named, "a,b\n1,2\n");
	await expect(openTable(store, named)).rejects.toThrow("c.parquet is not a Parquet file");
	await expect(openTable(store, folder)).rejects.toThrow(`${folder} is a folder`);
	await expect(openTable(store, join(folder, "none"))).rejects.toThrow("none: no such file");
});

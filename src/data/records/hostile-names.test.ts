import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openDelimited } from "./delimited.js";
import { openMeds } from "./meds/index.js";
import { named, quoted } from "./sql.js";
import { literalPath, openStore, withStore } from "./store.js";
import { openCsv, openParquetRecords } from "./tables/index.js";
import { folderOf } from "./testing/format-cases.js";
import { load } from "./testing/load.js";
import { temporaryFolder } from "./testing/temporary-folder.js";
import { writeParquet } from "./testing/write-parquet.js";

const quotedField = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** Texts that end a literal, a pattern or a replacement, or mean something in one of them. */
const hostile = [
	..."$& $` $' $$ $1 $<a> ' '' \" ';-- ] [ [*] * ? \\ \\' /* */ { } % ~ é 💊".split(" "),
	"; DROP TABLE record; --",
	"a\nb",
	"': 'VARCHAR'",
];

describe("names of columns", () => {
	const day = 18_262; // 2020-01-01

	test.each(hostile)("%j is a column like any other", async (name) => {
		const file = join(await temporaryFolder(), "a.csv");
		const [patient, code] = [`patient ${name}`, `code ${name}`];
		const header = [patient, name, code].map(quotedField).join(",");
		await writeFile(file, `${header}\np,2020-01-01,25000\n`);
		const source = await openCsv(file, { patient, time: name, code, system: "icd9" });
		expect((await load(source)).records).toMatchObject([
			{ patient: "p", time: day, code: "25000" },
		]);
	});

	test("any column may contain the dates", async () => {
		const folder = await temporaryFolder();
		const piece = fc.oneof(
			fc.constantFrom(...hostile),
			fc.string({ maxLength: 6, unit: "grapheme" }),
		);
		const name = fc
			.array(piece, { minLength: 1, maxLength: 4 })
			.map((pieces) => pieces.join("").replaceAll("\0", "").trim())
			.filter((text) => text !== "");
		const names = fc.uniqueArray(name, {
			minLength: 3,
			maxLength: 5,
			selector: (text) => text.toLowerCase(),
		});
		const file = join(folder, "a.csv");
		const store = await openStore({ folder, memory: 2 ** 27, threads: 1, files: [file] });
		await fc.assert(
			fc.asyncProperty(names, fc.nat(2), async (columns, at) => {
				const cells = columns.map((_, place) => (place === at ? "2020-01-01" : `x${place}`));
				await writeFile(file, `${columns.map(quotedField).join(",")}\n${cells.join(",")}\n`);
				const table = await openDelimited(file, { delimiter: "," });
				expect(table.columns.map(({ name }) => name)).toEqual(columns);
				const dated = table.dated!(columns[at] as string);
				const list = columns.map((column, place) => `${named(column)}::VARCHAR AS c${place}`);
				const types = columns.map((column, place) => `typeof(${named(column)}) AS t${place}`);
				const [row] = await store.all(`SELECT ${[...list, ...types].join(", ")} FROM ${dated}`);
				expect(row).toEqual({
					...Object.fromEntries(cells.map((cell, place) => [`c${place}`, cell])),
					...Object.fromEntries(
						cells.map((_, place) => [`t${place}`, place === at ? "DATE" : "VARCHAR"]),
					),
				});
			}),
			{ numRuns: 30, seed: 1 },
		);
		store.close();
	});

	test.each(["\n", "\r\n", "\r"])(
		"a name with a line end loses no rows that end in %j",
		async (end) => {
			const folder = await temporaryFolder();
			const file = join(folder, "a.csv");
			const store = await openStore({ folder, memory: 2 ** 27, threads: 1, files: [file] });
			for (const name of ["a\nb", "a\r\nb", "a\rb"]) {
				await writeFile(file, [`"${name}",x`, "1,2", "3,4", ""].join(end));
				const table = await openDelimited(file, { delimiter: "," });
				const rows = await store.all(`SELECT * FROM ${table.sql}`);
				expect(rows).toEqual([
					{ [name]: "1", x: "2" },
					{ [name]: "3", x: "4" },
				]);
			}
			store.close();
		},
	);

	test("a name with replacement patterns injects no SQL", async () => {
		const folder = await temporaryFolder();
		const [file, made] = [join(folder, "a.csv"), join(folder, "made.csv")];
		// As the text of a replacement, $& closes the quotes around the name.
		const name = `: $$VARCHAR$$}) AS m; COPY (SELECT 42 AS a) TO $$${made}$$; --$&`;
		await writeFile(file, `patient,icd9,${quotedField(name)}\np,25000,2020-01-01\n`);
		// Even where the file could be written.
		const files = [file, made];
		const store = await openStore({ folder, memory: 2 ** 27, threads: 1, files });
		const table = await openDelimited(file);
		const rows = await store.all(`SELECT patient FROM ${table.dated!(name)} AS m`);
		store.close();
		expect(rows).toEqual([{ patient: "p" }]);
		expect((await load(await openCsv(file, { time: name }))).records).toMatchObject([
			{ time: day, code: "25000" },
		]);
		expect(existsSync(made)).toBe(false);
	});
});

describe("names of files", () => {
	const names = hostile.filter((name) => !/[/\\]/.test(name)).map((name) => `a${name}.csv`);

	test.each(names)("%j is read, and nothing else", async (name) => {
		const folder = await temporaryFolder();
		const text = (code: string) => `patient,date,icd9\np,2020-01-01,${code}\n`;
		await writeFile(join(folder, "ab.csv"), text("other"));
		await writeFile(join(folder, name), text("25000"));
		for (const path of [join(folder, name), relative(process.cwd(), join(folder, name))])
			expect((await load(await openCsv(path))).records.map(({ code }) => code)).toEqual(["25000"]);
		await mkdir(join(folder, "data"));
		const parquet = join(
			folder,
			"data",
			name.replace(".csv", () => ".parquet"),
		);
		await writeParquet(
			parquet,
			"SELECT 'p' AS subject_id, TIMESTAMP '2020-01-01' AS time, 'ICD9CM/250' AS code",
		);
		const meds = await load(await openMeds(folder));
		expect(meds.records.map(({ code }) => code)).toEqual(["250"]);
		const records = await openParquetRecords(parquet, { system: "icd9" });
		expect((await load(records)).records.length).toBe(1);
	});
});

describe("SQL of a store", () => {
	const inStore = async (
		work: (attempt: (sql: string) => Promise<string>, folder: string) => Promise<void>,
	) => {
		const folder = await folderOf({ "named.csv": "a\n1\n", "other.csv": "a\n2\n" });
		const files = [join(folder, "named.csv")];
		await withStore({ memory: 2 ** 27, threads: 1, files }, (store) =>
			work(
				(sql) =>
					store.all(sql).then(
						(rows) => JSON.stringify(rows),
						(error: Error) => error.message,
					),
				folder,
			),
		);
	};

	test("reads only the given files", () =>
		inStore(async (attempt, folder) => {
			const named = quoted(literalPath(join(folder, "named.csv")));
			expect(await attempt(`FROM read_csv(${named})`)).toBe('[{"a":1}]');
			const refused = /file system operations are disabled by configuration/;
			for (const sql of [
				`FROM read_csv(${quoted(join(folder, "other.csv"))})`,
				`FROM read_csv(${quoted(join(folder, "*.csv"))})`,
				`FROM glob(${quoted(join(folder, "*"))})`,
				"FROM read_text('/etc/passwd')",
				"FROM read_csv('/etc/passwd')",
				"FROM read_blob('/proc/self/environ')",
				"FROM read_csv('http://127.0.0.1:9/a.csv')",
			])
				expect(await attempt(sql), sql).toMatch(refused);
		}));

	test("writes no file, attaches none and loads no extension", () =>
		inStore(async (attempt, folder) => {
			const before = await readdir(folder, { recursive: true });
			const refused = /disabled (by|through) configuration/;
			for (const sql of [
				`COPY (SELECT 1) TO ${quoted(join(folder, "made.csv"))}`,
				`COPY (SELECT 1) TO ${quoted(join(folder, "other.csv"))}`,
				`EXPORT DATABASE ${quoted(join(folder, "exported"))}`,
				`ATTACH ${quoted(join(folder, "made.duckdb"))} AS made`,
				"INSTALL httpfs",
				"LOAD httpfs",
			])
				expect(await attempt(sql), sql).toMatch(refused);
			expect(await readdir(folder, { recursive: true })).toEqual(before);
			expect(await readFile(join(folder, "other.csv"), "utf8")).toBe("a\n2\n");
		}));

	test("cannot lift the restrictions", () =>
		inStore(async (attempt) => {
			for (const setting of [
				"enable_external_access = true",
				"allowed_paths = ['/etc/passwd']",
				"allowed_directories = ['/']",
				"lock_configuration = false",
				"autoload_known_extensions = true",
				"memory_limit = '1TB'",
				"temp_directory = '/'",
			])
				expect(await attempt(`SET ${setting}`), setting).toMatch(/configuration has been locked/);
			expect(await attempt("PRAGMA profiling_output = '/tmp/profile.json'")).toMatch(/locked/);
		}));
});

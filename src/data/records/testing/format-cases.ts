import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { InputError } from "../../../base/errors.js";
import { BadRows } from "../bad-rows.js";
import type { RecordSource } from "../store.js";
import { load } from "./load.js";
import { temporaryFolder } from "./temporary-folder.js";
import { writeParquet } from "./write-parquet.js";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Writes files into a new folder: `.gz` packed, and `.parquet` from SQL. */
export async function folderOf(files: Files): Promise<string> {
	const folder = await temporaryFolder();
	for (const [name, content] of Object.entries(files)) {
		const file = join(folder, name);
		await mkdir(dirname(file), { recursive: true });
		if (typeof content !== "string") await writeFile(file, content);
		else if (name.endsWith(".parquet")) await writeParquet(file, content);
		else await writeFile(file, name.endsWith(".gz") ? gzipSync(content) : content);
	}
	return folder;
}

/** The message with which something is refused. */
export async function refusal(work: Promise<unknown>): Promise<string> {
	const error = await work.then(
		() => undefined,
		(error) => error,
	);
	expect(error).toBeInstanceOf(InputError);
	return (error as InputError).message;
}

/** Refuses with an InputError whose message has these parts. */
export async function refused(work: Promise<unknown>, ...parts: string[]): Promise<void> {
	const message = await refusal(work);
	for (const part of parts) expect(message).toContain(part);
}

/** Rows as texts: the values of the named columns, or all that are not null, but for the place. */
export const rowsOf = (rows: readonly object[], columns?: string): string[] =>
	rows.map((row) =>
		Object.entries(row)
			.filter(([name, value]) =>
				columns ? columns.split(" ").includes(name) : name !== "place" && value !== null,
			)
			.map(([, value]) => `${value}`)
			.join(" "),
	);

/** A case: a row of a text table. */
type FormatCase = readonly [title: string, cells: readonly string[]];

/**
 * The cases of a text table, one per line, whose cells are separated by ` | `: a title, options as JSON, files
 * (`p.csv: a,b\n1,2`) and what is expected. `\n` is the end of a line of a file.
 *
 * | cell | expected |
 * |---|---|
 * | `records: …`, `people: …`, `names: …`, `periods: …` | the rows, separated by ` ; `: their values but for null |
 * | `records(time code): …` | the same of some columns |
 * | `notes: … & …`, `notes(all): … & …` | parts of notes; each note |
 * | `warnings: … & …` | a part of each warning; `none` |
 * | `bad: … & …`, `count: 3` | a part of each message on rows that are left out, in order; their number |
 * | `axis: days`, `observation: file` | the axis, the origin of the observation periods |
 * | `refused: … & …`, `refused(all): …` | parts of an error; all of it |
 *
 * Rows and errors name files of the case without their folder.
 */
export const formatCases = (text: string): FormatCase[] =>
	text
		.split("\n")
		.filter((line) => line.trim() !== "")
		.map((line) => line.trim().split(/ +\| +/))
		.map(([title = "", ...cells]) => [title, cells]);

const unescaped = (name: string) =>
	({ n: "\n", r: "\r", t: "\t", ufeff: "\ufeff" })[name] as string;

/** Reads the files of a case, the one that begins with `a.` or the folder, and checks what is expected. */
export async function checkCase(
	cells: readonly string[],
	open: (path: string, options: object) => Promise<RecordSource>,
): Promise<void> {
	const files: Record<string, string> = {};
	const expected: { what: string; columns: string | undefined; texts: string }[] = [];
	let options: Record<string, unknown> = {};
	for (const cell of cells) {
		const [, key = "", columns, value = ""] = /^(\S+?)(?:\(([^)]*)\))?: ?(.*)$/.exec(cell) ?? [];
		if (cell.startsWith("{")) options = JSON.parse(cell);
		else if (key.includes("."))
			files[key] = value.replace(/\\([nrt]|ufeff)/g, (_, name) => unescaped(name));
		else expected.push({ what: key, columns, texts: value });
	}
	const folder = await folderOf(files);
	const inFolder = (text: string) => text.replaceAll(`${folder}/`, "");
	for (const [name, value] of Object.entries(options))
		if (typeof value === "string" && value in files) options[name] = join(folder, value);
	const main = Object.keys(files).find((name) => name.startsWith("a.")) ?? "";
	const bad = expected.some(({ what }) => what === "bad") ? new BadRows() : undefined;
	const loading = open(join(folder, main), options).then((source) => load(source, bad));
	for (const { what, columns, texts } of expected) {
		const parts = texts.split(" & ");
		if (what === "refused") {
			if (columns === "all") expect(inFolder(await refusal(loading))).toBe(texts);
			else await refused(loading, ...parts);
			continue;
		}
		const loaded = await loading;
		if (what === "axis" || what === "observation") expect(`${loaded[what]}`).toBe(texts);
		else if (what === "notes" && columns === "all")
			expect(loaded.notes).toEqual(texts === "" ? [] : parts);
		else if (what === "notes")
			for (const part of parts) expect(loaded.notes.join("\n")).toContain(part);
		else if (what === "warnings")
			expect(loaded.warnings ?? []).toEqual(
				texts === "none" ? [] : parts.map((part) => expect.stringContaining(part)),
			);
		else if (what === "count") expect(`${bad?.count}`).toBe(texts);
		else if (what === "bad")
			expect(bad?.first).toEqual(parts.map((part) => expect.stringContaining(part)));
		else {
			const rows = loaded[what as "records" | "people" | "names" | "periods"];
			expect({ what, rows: rowsOf(rows, columns).map(inFolder) }).toEqual({
				what,
				rows: texts === "" ? [] : texts.split(" ; "),
			});
		}
	}
}

import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { explainBytes } from "../bytes.js";
import type { Column, Table } from "../sql.js";
import { columnOf, noColumn } from "../tables/columns.js";

const kindOf = async (path: string): Promise<"file" | "folder" | undefined> => {
	try {
		return (await stat(path)).isDirectory() ? "folder" : "file";
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw explainBytes(path, error);
	}
};

/**
 * Finds the files of a dataset, given its root, its data folder or a single file: the shards in the order of their paths,
 * and the files in `metadata/`; none for a single file.
 */
export async function findMeds(path: string) {
	const kind = await kindOf(path);
	if (!kind) throw new InputError(`${path}: no such file or folder; check the path`);
	if (kind === "file") return { shards: [path], metadata: undefined };
	const inside = join(path, "data");
	const data = (await kindOf(inside)) === "folder" ? inside : path;
	const shards = await parquetIn(data);
	if (shards.length === 0)
		throw new InputError(
			data === path
				? `${path} has no data folder and no .parquet file; expected a MEDS dataset: data/*.parquet and metadata/`
				: `${data} holds no .parquet file; expected the shards of a MEDS dataset`,
		);
	const metadata = join(data === path ? dirname(join(path, ".")) : path, "metadata");
	const there = async (name: string) => {
		const file = join(metadata, name);
		return (await kindOf(file)) ? file : undefined;
	};
	const codes = await there("codes.parquet");
	const splits = await there("subject_splits.parquet");
	return { shards, metadata: { codes, splits } };
}

/** The Parquet files below a folder, in the order of their paths. */
export async function parquetIn(folder: string): Promise<string[]> {
	try {
		const names = await readdir(folder, { recursive: true });
		return names
			.filter((name) => /(^|[\\/])[^.\\/][^\\/]*\.parquet$/i.test(name))
			.sort((a, b) => (a < b ? -1 : 1))
			.map((name) => join(folder, name));
	} catch (error) {
		throw explainBytes(folder, error);
	}
}

type Wanted = (typeof wanted)[keyof typeof wanted];

/** Finds a column by name, ignoring case. */
export function findColumn(table: Table, { names, types, expected }: Wanted): Column | undefined {
	const column = columnOf(table, names);
	if (!column || types.test(column.type)) return column;
	throw new InputError(
		`${table.file}: column ${column.name} is ${column.type}; expected ${expected}`,
	);
}

export function needColumn(table: Table, wanted: Wanted): Column {
	const column = findColumn(table, wanted);
	if (column) return column;
	const expected = `the columns of MEDS (subject_id, time, code), or read it with \`format\` ${table.format}`;
	throw noColumn(table, wanted.names[0] ?? "", expected);
}

const text = { types: /^VARCHAR$/, expected: "text" };

/** The columns that are read: the name of the standard first, then synonyms; the types of DuckDB that are accepted, in its words. */
export const wanted = {
	subject: {
		names: ["subject_id", "patient_id"],
		types: /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|UUID)$/,
		expected: "whole numbers (int64) or text",
	},
	time: {
		names: ["time"],
		types: /^(TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?|DATE|VARCHAR|"NULL")$/,
		expected: "timestamps, dates or text",
	},
	code: { names: ["code"], ...text },
	number: {
		names: ["numeric_value"],
		types: /^(FLOAT|DOUBLE|DECIMAL\(.*\)|U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|"NULL")$/,
		expected: "numbers (float32)",
	},
	split: { names: ["split"], ...text },
	description: { names: ["description"], ...text },
} as const;

/** SQL for an identifier as text. */
export const idText = ({ sql, type }: Column): string =>
	type === "VARCHAR" ? `trim(${sql})` : `CAST(${sql} AS VARCHAR)`;

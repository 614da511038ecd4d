import { InputError, type InputErrorOptions } from "../../../base/errors.js";
import { type Column, named, type Table } from "../sql.js";
import type { Store } from "../store.js";
import { reading } from "../table.js";
import { type Groups, matchingColumns } from "./column-names.js";
import { textOf } from "./values.js";

const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

export function listed(columns: readonly Column[]): string {
	const names = columns.slice(0, 40).map(({ name }) => name.slice(0, 60));
	return names.join(", ") + (columns.length > 40 ? `, … (${columns.length})` : "");
}

const has = (tables: readonly Table[]) =>
	tables.map(({ file, columns }) => `${file} has ${listed(columns)}`).join("; ");

/** Finds a column by name, in the first table that has it. */
export const columnNamed = (tables: readonly Table[], name: string): Column | undefined =>
	tables.flatMap(({ columns }) => columns).find((column) => same(column.name, name));

/** Finds a column of a table by the first of these names that the table has. */
export function columnOf(table: Table, names: readonly string[]): Column | undefined {
	for (const name of names) {
		const column = columnNamed([table], name);
		if (column) return column;
	}
	return undefined;
}

/** The error for a table without a column. */
export const noColumn = (
	table: Table,
	what: string,
	expected: string,
	details?: InputErrorOptions,
): InputError =>
	new InputError(
		`${table.file} has no column ${what}; it has ${listed(table.columns)}; expected ${expected}`,
		details,
	);

/** Finds a column that an option names. */
export function columnAsked(tables: readonly Table[], name: string, option: string): Column {
	const column = columnNamed(tables, name);
	if (column) return column;
	throw new InputError(`no column is named "${name}" (${option}); ${has(tables)}`);
}

/** A list of one or more texts, which an option may give as a single text. */
export const listOf = (
	names: string | readonly string[] | undefined,
): readonly string[] | undefined => (typeof names === "string" ? [names] : names);

/** Finds the columns that an option names; `*` stands for any characters. */
export function columnsAsked(tables: readonly Table[], names: readonly string[], option: string) {
	const columns = names.flatMap((name) => {
		if (columnNamed(tables, name) || !name.includes("*"))
			return [columnAsked(tables, name, option)];
		const parts = name.trim().split("*").map(escaped);
		const pattern = new RegExp(`^${parts.join(".*")}$`, "is");
		const matches = tables.flatMap((table) =>
			table.columns.filter((column) => pattern.test(column.name.trim())),
		);
		if (matches.length > 0) return matches;
		throw new InputError(`no column matches "${name}" (${option}); ${has(tables)}`);
	});
	return [...new Set(columns)];
}

const escaped = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&");

/** Finds a column by its usual names. */
export function columnLikely(tables: readonly Table[], groups: Groups, option?: string) {
	for (const { file, columns } of tables) {
		const matches = matchingColumns(columns, groups);
		if (matches.length > 1)
			throw new InputError(
				`${file}: ambiguous columns ${matches.map(({ name }) => name).join(" and ")}; ${
					option ? `say which one to read with ${option}` : "rename or remove one of them"
				}`,
			);
		if (matches[0]) return matches[0];
	}
	return undefined;
}

/** The column that an option names, or else one with a usual name. */
export const columnOr = (tables: readonly Table[], name: string | undefined, groups: Groups) =>
	(name === undefined ? undefined : columnNamed(tables, name)) ?? columnLikely(tables, groups);

/** The error for a missing required column. */
export const missingColumn = (tables: readonly Table[], what: string, remedy: string): InputError =>
	new InputError(
		`${tables.map(({ file }) => file).join(" and ")}: no column is known to hold ${what}; ${remedy}; there are ${tables.map(({ columns }) => listed(columns)).join("; ")}`,
	);

export const joinKey = '"trajgpt key"';
const joinTable = "trajgpt_joined";

/** A second table with further columns, joined by a common column. */
export type Join = ReturnType<typeof openJoin>;

export const openJoin = (table: Table, on: string) => ({
	/** Its columns are those of `joinTable`. */
	table: {
		...table,
		columns: table.columns.map((column) => ({
			...column,
			sql: named(`trajgpt joined ${column.name}`),
		})),
	},
	/** The column of the file. */
	key: columnAsked([table], on, "`on`"),
	on,
});

/** SQL that joins a table with the table that `fillJoin` created. */
export const joinSql = (key: Column): string =>
	`LEFT JOIN ${joinTable} ON ${textOf(key, "whole")} = ${joinKey}`;

/** Creates a table with the needed columns of the second table; a key must not have different values. */
export async function fillJoin(store: Store, { table, key }: Join, columns: readonly Column[]) {
	const list = columns.map(({ name, sql }) => `, ${named(name)} AS ${sql}`);
	await reading(table, () =>
		store.run(
			`CREATE OR REPLACE TEMP TABLE ${joinTable} AS SELECT DISTINCT ${textOf(key, "whole")} AS ${joinKey}${list.join("")} FROM ${table.sql} WHERE ${joinKey} IS NOT NULL`,
		),
	);
	const [twice] = await store.all<{ key: string }>(
		`SELECT ${joinKey} AS key FROM ${joinTable} GROUP BY ${joinKey} HAVING count(*) > 1 ORDER BY key LIMIT 1`,
	);
	if (twice)
		throw new InputError(
			`${table.file}: ${key.name} ${twice.key.slice(0, 40)} stands in rows that differ in ${columns.map(({ name }) => named(name)).join(" or ")}; a record could belong to each: join on another column (\`on\`)`,
		);
}

export const dropJoin = (store: Store) => store.run(`DROP TABLE IF EXISTS ${joinTable}`);

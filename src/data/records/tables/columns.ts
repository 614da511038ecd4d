import { InputError } from "../../../base/errors.js";
import { named } from "../sql.js";
import type { Store } from "../store.js";
import { type Column, type Found, reading, type Table } from "../table.js";
import { type Groups, matchingColumns } from "./column-names.js";
import { textOf } from "./values.js";

/** A table with its SQL alias. */
export interface Aliased {
	readonly table: Table;
	readonly alias: string;
}

const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

const withSql = ({ table, alias }: Aliased, column: Column): Found => ({
	...column,
	table,
	sql: `${alias}.${named(column.name)}`,
});

export function listed(columns: readonly Column[]): string {
	const names = columns.slice(0, 40).map(({ name }) => name.slice(0, 60));
	return names.join(", ") + (columns.length > 40 ? `, … (${columns.length})` : "");
}

/** Finds a column by name, in the first table that has it. */
export function columnNamed(tables: readonly Aliased[], name: string): Found | undefined {
	for (const aliased of tables)
		for (const column of aliased.table.columns)
			if (same(column.name, name)) return withSql(aliased, column);
	return undefined;
}

/** Finds a column of a table by the first of these names that the table has. */
export function columnOf(table: Table, names: readonly string[]): Found | undefined {
	for (const name of names) {
		const column = table.columns.find((candidate) => same(candidate.name, name));
		if (column) return { ...column, table, sql: named(column.name) };
	}
	return undefined;
}

/** Finds a column that an option names. */
export function columnAsked(tables: readonly Aliased[], name: string, option: string): Found {
	const column = columnNamed(tables, name);
	if (column) return column;
	const has = tables.map(({ table }) => `${table.file} has ${listed(table.columns)}`);
	throw new InputError(`no column is named "${name}" (${option}); ${has.join("; ")}`);
}

/** A list of one or more texts, which an option may give as a single text. */
export const listOf = (
	names: string | readonly string[] | undefined,
): readonly string[] | undefined => (typeof names === "string" ? [names] : names);

/** Finds the columns that an option names; `*` stands for any characters. */
export function columnsAsked(
	tables: readonly Aliased[],
	names: readonly string[],
	option: string,
): readonly Found[] {
	const columns = names.flatMap((name) => {
		if (columnNamed(tables, name) || !name.includes("*"))
			return [columnAsked(tables, name, option)];
		const parts = name.trim().split("*").map(escaped);
		const pattern = new RegExp(`^${parts.join(".*")}$`, "is");
		const matches = tables.flatMap((aliased) =>
			aliased.table.columns
				.filter((column) => pattern.test(column.name.trim()))
				.map((column) => withSql(aliased, column)),
		);
		if (matches.length > 0) return matches;
		const has = tables.map(({ table }) => `${table.file} has ${listed(table.columns)}`);
		throw new InputError(`no column matches "${name}" (${option}); ${has.join("; ")}`);
	});
	return [...new Map(columns.map((column) => [column.sql, column])).values()];
}

const escaped = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&");

/** Finds a column by its usual names. */
export function columnLikely(
	tables: readonly Aliased[],
	groups: Groups,
	option?: string,
): Found | undefined {
	for (const aliased of tables) {
		const [column, ...others] = matchingColumns(aliased.table.columns, groups);
		if (others.length > 0)
			throw new InputError(
				`${aliased.table.file}: ambiguous columns ${[column, ...others].map((one) => one?.name).join(" and ")}; ${
					option ? `say which one to read with ${option}` : "rename or remove one of them"
				}`,
			);
		if (column) return withSql(aliased, column);
	}
	return undefined;
}

/** The column that an option names, or else one with a usual name. */
export const columnOr = (tables: readonly Aliased[], name: string | undefined, groups: Groups) =>
	(name === undefined ? undefined : columnNamed(tables, name)) ?? columnLikely(tables, groups);

/** The error for a missing required column. */
export const missingColumn = (
	tables: readonly Aliased[],
	what: string,
	remedy: string,
): InputError =>
	new InputError(
		`${tables.map(({ table }) => table.file).join(" and ")}: no column is known to hold ${what}; ${remedy}; there are ${tables.map(({ table }) => listed(table.columns)).join("; ")}`,
	);

export const joinKey = '"trajgpt key"';
const joinTable = "trajgpt_joined";

/** A second table with further columns, joined by a common column. */
export interface Join {
	readonly aliased: Aliased;
	/** The column of the second table. */
	readonly key: Found;
	readonly on: string;
}

export const openJoin = (aliased: Aliased, on: string): Join => ({
	aliased,
	key: columnAsked([aliased], on, "`on`"),
	on,
});

/** SQL that joins the table `m` with the table that `fillJoin` created. */
export const joinSql = (key: Found): string =>
	`LEFT JOIN ${joinTable} AS j ON ${textOf(key, "whole")} = j.${joinKey}`;

/** Creates a table with the needed columns of the second table; a key must not have different values. */
export async function fillJoin(
	store: Store,
	{ aliased, key }: Join,
	columns: readonly Found[],
): Promise<void> {
	const { table } = aliased;
	const names = [...new Set(columns.map(({ name }) => named(name)))];
	const list = [`${textOf(key, "whole")} AS ${joinKey}`, ...names.map((name) => `j.${name}`)];
	await reading(table, () =>
		store.run(
			`CREATE OR REPLACE TEMP TABLE ${joinTable} AS SELECT DISTINCT * FROM (SELECT ${list.join(", ")} FROM ${table.sql} AS j) WHERE ${joinKey} IS NOT NULL`,
		),
	);
	const [twice] = await store.all<{ key: string }>(
		`SELECT ${joinKey} AS key FROM ${joinTable} GROUP BY ${joinKey} HAVING count(*) > 1 ORDER BY key LIMIT 1`,
	);
	if (twice)
		throw new InputError(
			`${table.file}: ${key.name} ${twice.key.slice(0, 40)} stands in rows that differ in ${names.join(" or ")}; a record could belong to each: join on another column (\`on\`)`,
		);
}

export const dropJoin = (store: Store) => store.run(`DROP TABLE IF EXISTS ${joinTable}`);

import { InputError } from "../../../base/errors.js";
import { named } from "../sql.js";
import type { Store } from "../store.js";
import { reading } from "../table.js";
import { type Aliased, columnAsked, type Found } from "./columns.js";
import { textOf } from "./values.js";

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

import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { explainBytes } from "../bytes.js";
import { type DelimitedTable, headOf, openDelimited, textOf } from "../delimited.js";
import { rowsOf } from "../delimited-rows.js";
import { named, quoted } from "../sql.js";
import type { Store } from "../store.js";
import {
	delimitedTable,
	isParquet,
	openParquet,
	reading,
	rowOfFile,
	type Table,
	withNumberedRows,
} from "../table.js";
import type { CdmTable, TableSource } from "./tables.js";
import { cdmTables } from "./tables.js";

const delimiters = ["\t", ",", "|", ";"] as const;

/** The files of the CDM tables in a folder, by table name. */
export async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
	let entries: string[];
	try {
		if (!(await stat(folder)).isDirectory())
			throw new InputError(
				`${folder} is a file; expected a folder with person.csv, condition_occurrence.csv, …`,
			);
		entries = (await readdir(folder)).sort();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT")
			throw new InputError(`${folder}: no such folder; check the path`, { cause: error });
		throw explainBytes(folder, error);
	}
	const files = new Map<string, string>();
	for (const entry of entries) {
		const [, name, suffix] = /^(\w+)((?:\.(?:csv|tsv|txt|parquet|gz))+)$/i.exec(entry) ?? [];
		const table = cdmTables.find((table) => table.name === name?.toLowerCase());
		if (!table || !suffix) continue;
		const other = files.get(table.name);
		if (other !== undefined)
			throw new InputError(
				`${folder} contains the table ${table.name} twice: ${other} and ${entry}; remove one of them`,
			);
		files.set(table.name, entry);
	}
	return files;
}

/** The tables of a CDM in a folder: CSV or TSV, packed or not, and Parquet. */
export function folderTables(folder: string, files: ReadonlyMap<string, string>): TableSource {
	const opened = new Map<string, Table>();
	const headless = new Map<string, string[]>(); // by version of the CDM
	const pathOf = ({ name }: CdmTable) => join(folder, files.get(name) ?? name);
	const open = async (store: Store, table: CdmTable): Promise<CdmFile> => {
		const file = pathOf(table);
		if (await isParquet(file)) return { ...(await openParquet(store, file)), unquote: false };
		const { delimited, version } = await openText(store, file, table).catch((error) => {
			throw explainBytes(file, error);
		});
		if (version) headless.set(version, [...(headless.get(version) ?? []), basename(file)]);
		return { ...delimitedTable(delimited), unquote: !delimited.quotes };
	};
	return {
		get notes() {
			return [...headless].map(
				([version, names]) =>
					`no header in ${names.join(", ")}: the columns were read in the order of CDM ${version}`,
			);
		},
		has: ({ name }) => files.has(name),
		nameOf: pathOf,
		async stage(store, { table, into, select }) {
			const found = await open(store, table);
			opened.set(table.name, found);
			const columns = columnsIn(found, table);
			await withNumberedRows(store, found, [...columns.values()], (rows) =>
				store.run(`CREATE TEMP TABLE ${into} AS ${select(rawSelect(rows, table, found, columns))}`),
			);
		},
		placeOf: async (table, row) =>
			(await opened.get(table.name)?.place(row)) ?? `${pathOf(table)}: row ${row}`,
		placeSql: (table) => `${quoted(`${pathOf(table)}: row `)} || row`,
	};
}

interface CdmFile extends Table {
	/** Whether quotes around a whole field must still be removed. */
	readonly unquote: boolean;
}

/** The columns of a file that are read, by our names. */
function columnsIn({ file, columns }: CdmFile, table: CdmTable): ReadonlyMap<string, string> {
	const names = new Map(columns.map(({ name }) => [bare(name), name]));
	const used = new Map<string, string>();
	for (const [ours, theirs] of Object.entries(table.columns)) {
		const column = names.get(theirs);
		if (column !== undefined) used.set(ours, column);
		else if (table.required.includes(ours))
			throw new InputError(
				`${file} has no column ${theirs}; it has ${columns.map(({ name }) => name).join(", ")}; name the columns as in the OMOP CDM`,
			);
	}
	return used;
}

/** SQL for the rows of a file, with their numbers and with our names, as text. */
function rawSelect(
	rows: string,
	table: CdmTable,
	{ unquote }: CdmFile,
	columns: ReadonlyMap<string, string>,
): string {
	const list = Object.keys(table.columns).map((ours) => {
		const column = columns.get(ours);
		if (column === undefined) return `CAST(NULL AS VARCHAR) AS ${ours}`;
		const text = `CAST(${named(column)} AS VARCHAR)`;
		return `${unquote ? unquoted(text) : text} AS ${ours}`;
	});
	return `(SELECT ${rowOfFile} AS row, ${list.join(", ")} FROM ${rows})`;
}

/** Vocabularies are tab-separated and contain literal quotes; other tab-separated files quote fields. */
const unquoted = (text: string): string =>
	`CASE WHEN starts_with(${text}, '"') AND ends_with(${text}, '"') AND length(${text}) > 1
		THEN nullif(replace(substr(${text}, 2, length(${text}) - 2), '""', '"'), '') ELSE ${text} END`;

interface FoundText {
	readonly delimited: DelimitedTable;
	/** The CDM version whose column order was assumed, if there is no header. */
	readonly version: string | undefined;
}

async function openText(store: Store, file: string, table: CdmTable): Promise<FoundText> {
	const [line = ""] = /[^\r\n]+/.exec(textOf(await headOf(file))) ?? [];
	if (!line) await openDelimited(file); // throws a specific error
	const known = new Set(Object.values(table.orders).flat());
	const options = (delimiter: string) => ({ delimiter, quotes: delimiter !== "\t" });
	for (const delimiter of delimiters)
		if (fieldsOf(line, delimiter).some((field) => known.has(field)))
			return { delimited: await openDelimited(file, options(delimiter)), version: undefined };
	for (const delimiter of delimiters) {
		const count = fieldsOf(line, delimiter).length;
		const orders = Object.entries(table.orders).filter(([, order]) => order.length === count);
		if (orders.length === 0) continue;
		const [version, columns] = (await fittingOrder(store, file, orders, options(delimiter))) ?? [];
		if (!columns) continue;
		return {
			delimited: await openDelimited(file, { ...options(delimiter), columns }),
			version,
		};
	}
	const counts = [...new Set(Object.values(table.orders).map((order) => order.length))];
	const got = Math.max(...delimiters.map((delimiter) => fieldsOf(line, delimiter).length));
	throw new InputError(
		`${file}: the first line has ${got} ${got === 1 ? "field" : "fields"} and names no column of the table ${table.name}; expected a header such as ${Object.values(table.columns).join(",")}, or ${counts.join(" or ")} columns in the order of the OMOP CDM`,
	);
}

const bare = (field: string): string => field.replaceAll('"', "").trim().toLowerCase();

function fieldsOf(line: string, delimiter: string): string[] {
	const [row] = rowsOf(line, { delimiter, quotes: delimiter !== "\t" });
	return (row?.texts ?? [""]).map(bare);
}

/** Chooses between versions with equal numbers of columns: every id column must contain numbers. */
async function fittingOrder(
	store: Store,
	file: string,
	orders: readonly (readonly [string, readonly string[]])[],
	options: { readonly delimiter: string; readonly quotes: boolean },
): Promise<readonly [string, readonly string[]] | undefined> {
	if (orders.length < 2) return orders[0];
	for (const order of orders) {
		const [, columns] = order;
		const delimited = await openDelimited(file, { ...options, columns });
		const ids = columns
			.filter((name) => /_concept_id$|^visit_detail_id$/.test(name))
			.map((name) => `(${named(name)} IS NULL OR try_cast(${named(name)} AS DOUBLE) IS NOT NULL)`);
		const [found] = await reading(delimitedTable(delimited), () =>
			store.all<{ fits: boolean | null }>(
				`SELECT bool_and(${ids.join(" AND ")}) AS fits FROM (SELECT * FROM ${delimited.sql} LIMIT 10000)`,
			),
		);
		if (found?.fits) return order;
	}
	return orders[0];
}

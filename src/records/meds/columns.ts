import { InputError } from "../../base/errors.js";
import { named } from "../sql.js";
import type { Column, Table } from "../table.js";

export interface Wanted {
	/** The standard's name first, then others that mean the same. */
	readonly names: readonly string[];
	/** DuckDB's types that will do. */
	readonly types: RegExp;
	/** The type in the standard's words. */
	readonly expected: string;
}

/** A column by name, whatever its case, if the file has it. */
export function findColumn({ file, columns }: Table, wanted: Wanted): Column | undefined {
	for (const name of wanted.names) {
		const column = columns.find((one) => one.name.toLowerCase() === name);
		if (!column) continue;
		if (wanted.types.test(column.type)) return column;
		throw new InputError(
			`${file}: column ${column.name} is ${column.type}; expected ${wanted.expected}`,
		);
	}
	return undefined;
}

export function needColumn(table: Table, wanted: Wanted): Column {
	const column = findColumn(table, wanted);
	if (column) return column;
	const names = table.columns.map(({ name }) => name);
	throw new InputError(
		`${table.file} has no column ${wanted.names[0]}; it has ${names.slice(0, 20).join(", ")}; expected the columns of MEDS (subject_id, time, code), or read it with \`format\` ${table.format}`,
	);
}

export const textType = /^VARCHAR$/;
export const idType = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|UUID)$/;

/** SQL for an identifier as text. */
export const idText = ({ name, type }: Column): string =>
	type === "VARCHAR" ? `trim(${named(name)})` : `CAST(${named(name)} AS VARCHAR)`;

/** SQL for the number of a row of a Parquet file, from 1. */
export const rowNumber = ({ columns }: Table): string =>
	columns.some(({ name }) => name.toLowerCase() === "file_row_number")
		? "row_number() OVER ()" // slower, but the file's own column hides what DuckDB knows
		: "file_row_number + 1";

/** Does what reads a table; what DuckDB says of the file comes out as an InputError that names it. */
export async function reading<T>(table: Table, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw await table.explain(error);
	}
}

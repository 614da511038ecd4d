import { InputError } from "../../base/errors.js";
import { quoted } from "../sql.js";
import type { Table } from "../table.js";
import type { Found } from "./columns.js";
import { codeOfField, type SystemFrom } from "./systems-sql.js";
import { plainText, textOf } from "./values.js";

/** SQL for the codes of a row. */
export interface CodeFields {
	readonly code: string;
	/** Makes one row per code, if a row can have several; a row without a code stays. */
	readonly rows?: (rows: string) => string;
}

/** The codes in one column, or in several: every field with a code gives a record, in the order of the columns. */
export function codeFields(
	table: Table,
	columns: readonly Found[],
	system: SystemFrom,
): CodeFields {
	const [only, another] = columns;
	if (only && !another) return { code: plainText(only) };
	const joined = columns.find((column) => column.table !== table);
	if (joined)
		throw new InputError(
			`${joined.name} is a column of ${joined.table.file}; of several columns of codes (\`code\`), expected all in ${table.file}`,
		);
	const systems = "systems" in system ? system.systems : [];
	const fields = columns.map(
		(column, at) => `{'code': ${textOf(column)}, 'system': ${quoted(systems[at] ?? "")}}`,
	);
	const codes = `list_filter([${fields.join(", ")}], lambda field: field.code IS NOT NULL)`;
	return {
		code: `${codeOfField}.code`,
		rows: (rows) =>
			`(SELECT * EXCLUDE (${codeOfField}), unnest(CASE WHEN len(${codeOfField}) = 0 THEN [NULL] ELSE ${codeOfField} END) AS ${codeOfField} FROM (SELECT *, ${codes} AS ${codeOfField} FROM ${rows} AS m))`,
	};
}

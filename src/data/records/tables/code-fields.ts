import { InputError } from "../../../base/errors.js";
import { quoted } from "../sql.js";
import { rowOfFile, type Table } from "../table.js";
import type { Found } from "./columns.js";
import { codeOfField, type SystemFrom } from "./systems-sql.js";
import { plainText, textOf } from "./values.js";

/** More than a row can have: its length is limited (see `delimited.ts`). */
const codesPerRow = 2 ** 20;
const placeInRow = '"trajgpt place"';

/** SQL for the codes of a row. */
export interface CodeFields {
	readonly code: string;
	/** Makes one row per code, if a row can have several; a row without a code stays. */
	readonly rows?: (rows: string) => string;
	/** SQL for a whole number that orders the codes: by row of the file, then as they are in the row. */
	readonly order: string;
}

/**
 * The codes in one column, or in several: every field with a code gives a record, in the order of the columns. With a
 * separator, a field may hold several codes.
 */
export function codeFields(
	table: Table,
	columns: readonly Found[],
	system: SystemFrom,
	separator?: string | undefined,
): CodeFields {
	const [only, another] = columns;
	if (only && !another && separator === undefined)
		return { code: plainText(only), order: `m.${rowOfFile}` };
	const joined = columns.find((column) => column.table !== table);
	if (joined)
		throw new InputError(
			`${joined.name} is a column of ${joined.table.file}; where a row has several codes, expected all in ${table.file}`,
		);
	const systems = "systems" in system ? system.systems : [];
	const fields = columns.map((column, at) => {
		const field = (code: string) => `{'code': ${code}, 'system': ${quoted(systems[at] ?? "")}}`;
		if (separator === undefined) return `[${field(textOf(column))}]`;
		const parts = `coalesce(string_split(${textOf(column)}, ${quoted(separator)}), [])`;
		return `list_transform(${parts}, lambda part: ${field("nullif(trim(part), '')")})`;
	});
	const codes = `list_filter(flatten([${fields.join(", ")}]), lambda field: field.code IS NOT NULL)`;
	return {
		code: `${codeOfField}.code`,
		order: `m.${rowOfFile} * ${codesPerRow} + ${placeInRow}`,
		rows: (rows) =>
			`(SELECT * EXCLUDE (${codeOfField}), unnest(${codeOfField}) AS ${codeOfField}, generate_subscripts(${codeOfField}, 1) AS ${placeInRow} FROM (SELECT * REPLACE (CASE WHEN len(${codeOfField}) = 0 THEN [NULL] ELSE ${codeOfField} END AS ${codeOfField}) FROM (SELECT *, ${codes} AS ${codeOfField} FROM ${rows} AS m)))`,
	};
}

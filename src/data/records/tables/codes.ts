import { InputError } from "../../../base/errors.js";
import { type Column, quoted, type Table } from "../sql.js";
import {
	eitherIcd,
	icd9Form,
	kindOf,
	knownSystems,
	systemAliases,
	systemNamed,
} from "../systems.js";
import { rowOfFile } from "../table.js";
import { chosen, plainText, textOf } from "./values.js";

/** The source of code systems: one system for all codes, a column, or one system per column of codes. */
export type SystemFrom =
	| { readonly system: string }
	| { readonly column: Column; readonly allowed: readonly string[] }
	| { readonly systems: readonly string[] }
	| { readonly byForm: true };

/** SQL for ICD-9-CM or ICD-10-CM by the form of a code. */
const icdByFormSql = (code: string): string =>
	`CASE WHEN regexp_full_match(upper(${code}), ${quoted(icd9Form)}) THEN 'ICD9CM' ELSE 'ICD10CM' END`;

/** The code of a row that has several, and its system. */
const codeOfField = '"trajgpt code"';

export const systemRemedy = `known are ${knownSystems.join(", ")}, and ${eitherIcd} for ICD-9-CM or ICD-10-CM by the form of the code; pass \`allowSystems\` NAME to keep the codes of another one as they are`;

/** The system that an option names. */
export function systemAsked(
	name: string,
	allowed: readonly string[],
	option: string,
): { readonly system: string } {
	const system = systemNamed(name) ?? allowed.find((one) => sameName(one, name));
	if (system) return { system };
	throw new InputError(
		`${option} "${name}" is ${option === "`system`" ? "neither a column nor" : "not"} a code system; ${systemRemedy.replace("NAME", () => name)}`,
	);
}

/** The system that `system` names for all codes. */
export const systemOfAll = (name: string, allowed: readonly string[]): SystemFrom =>
	sameName(name, eitherIcd) ? { byForm: true } : systemAsked(name, allowed, "`system`");

const sameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

const textOfSystem = (column: Column) => `rtrim(lower(${textOf(column, "whole")}), '/')`;

const namesOf = (allowed: readonly string[]): Map<string, string> =>
	// A known name keeps its meaning.
	new Map([
		...systemAliases,
		...allowed
			.map((name) => [name.trim().toLowerCase(), name.trim()] as const)
			.filter(([name]) => name !== eitherIcd && !systemAliases.has(name)),
	]);

/** SQL for the system of a record, given SQL for its code. */
export function systemSql(from: SystemFrom, code: string): string {
	if ("system" in from) return quoted(from.system);
	if ("byForm" in from) return icdByFormSql(code);
	if ("systems" in from) return `${codeOfField}.system`;
	const text = textOfSystem(from.column);
	return `CASE WHEN ${text} = ${quoted(eitherIcd)} THEN ${icdByFormSql(code)} ELSE ${chosen(text, namesOf(from.allowed))} END`;
}

/** SQL for the kind of a record, given its system. */
export function kindSql(from: SystemFrom): string {
	if ("system" in from) return quoted(kindOf(from.system));
	if ("byForm" in from) return quoted(kindOf("ICD10CM"));
	if ("systems" in from)
		return chosen(
			`${codeOfField}.system`,
			[...new Set(from.systems)].map((system) => [system, kindOf(system)] as const),
		);
	const names = [[eitherIcd, "ICD10CM"] as const, ...namesOf(from.allowed)];
	const kinds = names.map(([name, system]) => [name, kindOf(system)] as const);
	return chosen(textOfSystem(from.column), kinds);
}

/** More than a row can have: its length is limited (see `delimited.ts`). */
const codesPerRow = 2 ** 20;
const placeInRow = '"trajgpt place"';

/** SQL for the codes of a row. */
interface CodeFields {
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
	columns: readonly Column[],
	system: SystemFrom,
	separator?: string | undefined,
): CodeFields {
	const [only, another] = columns;
	if (only && !another && separator === undefined)
		return { code: plainText(only), order: rowOfFile };
	const joined = columns.find((column) => column.file !== table.file);
	if (joined)
		throw new InputError(
			`${joined.name} is a column of ${joined.file}; where a row has several codes, expected all in ${table.file}`,
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
		order: `${rowOfFile} * ${codesPerRow} + ${placeInRow}`,
		rows: (rows) =>
			`(SELECT * EXCLUDE (${codeOfField}), unnest(${codeOfField}) AS ${codeOfField}, generate_subscripts(${codeOfField}, 1) AS ${placeInRow} FROM (SELECT * REPLACE (CASE WHEN len(${codeOfField}) = 0 THEN [NULL] ELSE ${codeOfField} END AS ${codeOfField}) FROM (SELECT *, ${codes} AS ${codeOfField} FROM ${rows})))`,
	};
}

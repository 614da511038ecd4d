import { InputError } from "../../../base/errors.js";
import { quoted } from "../sql.js";
import {
	eitherIcd,
	icd9Form,
	kindOf,
	knownSystems,
	systemAliases,
	systemNamed,
} from "../systems.js";
import type { Found } from "./columns.js";
import { chosen, textOf } from "./values.js";

/** The source of code systems: one system for all codes, a column, or one system per column of codes. */
export type SystemFrom =
	| { readonly system: string }
	| { readonly column: Found; readonly allowed: readonly string[] }
	| { readonly systems: readonly string[] }
	| { readonly byForm: true };

/** SQL for ICD-9-CM or ICD-10-CM by the form of a code. */
const icdByFormSql = (code: string): string =>
	`CASE WHEN regexp_full_match(upper(${code}), ${quoted(icd9Form)}) THEN 'ICD9CM' ELSE 'ICD10CM' END`;

/** The code of a row that has several, and its system. */
export const codeOfField = '"trajgpt code"';

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

const textOfSystem = (column: Found) => `rtrim(lower(${textOf(column, "whole")}), '/')`;

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

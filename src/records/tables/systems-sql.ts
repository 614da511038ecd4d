import { InputError } from "../../base/errors.js";
import { quoted } from "../sql.js";
import { kindOf, knownSystems, systemAliases, systemNamed } from "../systems.js";
import type { Found } from "./columns.js";
import { chosen, textOf } from "./values.js";

/** The source of code systems: one system for all codes, a column, or one system per column of codes. */
export type SystemFrom =
	| { readonly system: string }
	| { readonly column: Found; readonly allowed: readonly string[] }
	| { readonly systems: readonly string[] }
	| { readonly byForm: true };

/** The name for ICD-9-CM and ICD-10-CM codes that are told apart by their form. */
const eitherIcd = "icd";

/**
 * SQL condition: the form of an ICD code is that of ICD-9-CM: 428.0, V58.67, E888.9. Diagnoses of ICD-10-CM that begin
 * with V have more characters (V58.6XXA). Without a dot, E8889 is E88.89 of ICD-10-CM, which is far more frequent.
 */
const isIcd9Form = (code: string): string =>
	`regexp_full_match(upper(${code}), '[0-9]{3}([.]?[0-9]{1,2})?|V[0-9]{2}([.]?[0-9]{1,2})?|E[0-9]{3}[.][0-9]|E9[0-9]{2,3}')`;

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
			.filter(([name]) => !systemAliases.has(name)),
	]);

/** SQL for the system of a record, given SQL for its code. */
export function systemSql(from: SystemFrom, code: string): string {
	if ("system" in from) return quoted(from.system);
	if ("byForm" in from) return `CASE WHEN ${isIcd9Form(code)} THEN 'ICD9CM' ELSE 'ICD10CM' END`;
	if ("systems" in from) return `${codeOfField}.system`;
	return chosen(textOfSystem(from.column), namesOf(from.allowed));
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
	const kinds = [...namesOf(from.allowed)].map(([name, system]) => [name, kindOf(system)] as const);
	return chosen(textOfSystem(from.column), kinds);
}

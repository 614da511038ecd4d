import { InputError } from "../../base/errors.js";
import { quoted } from "../sql.js";
import { kindOf, knownSystems, systemAliases, systemNamed } from "../systems.js";
import type { Found } from "./columns.js";
import { chosen, textOf } from "./values.js";

/** The source of code systems: one system for all codes, a column, or one system per column of codes. */
export type SystemFrom =
	| { readonly system: string }
	| { readonly column: Found; readonly allowed: readonly string[] }
	| { readonly systems: readonly string[] };

/** The code of a row that has several, and its system. */
export const codeOfField = '"trajgpt code"';

export const systemRemedy = `known are ${knownSystems.join(", ")}; pass \`allowSystems\` NAME to keep the codes of another one as they are`;

export function systemAsked(name: string, allowed: readonly string[]): string {
	const system = systemNamed(name) ?? allowed.find((one) => sameName(one, name));
	if (system) return system;
	throw new InputError(
		`\`system\` "${name}" is neither a column nor a code system; ${systemRemedy.replace("NAME", () => name)}`,
	);
}

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

export function systemSql(from: SystemFrom): string {
	if ("system" in from) return quoted(from.system);
	if ("systems" in from) return `${codeOfField}.system`;
	return chosen(textOfSystem(from.column), namesOf(from.allowed));
}

/** SQL for the kind of a record, given its system. */
export function kindSql(from: SystemFrom): string {
	if ("system" in from) return quoted(kindOf(from.system));
	if ("systems" in from)
		return chosen(
			systemSql(from),
			[...new Set(from.systems)].map((system) => [system, kindOf(system)] as const),
		);
	const kinds = [...namesOf(from.allowed)].map(([name, system]) => [name, kindOf(system)] as const);
	return chosen(textOfSystem(from.column), kinds);
}

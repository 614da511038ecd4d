import type { Schema } from "../api/openapi.js";
import { escaped, withCode } from "./html.js";

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

export const schemaLink = (ref: string): string => {
	const name = escaped(nameIn(ref));
	return `<a href="#${name}">${name}</a>`;
};

/** The type of a value in words, with links to named schemas. */
export function typeHtml(schema: Schema): string {
	if (schema.$ref !== undefined) return schemaLink(schema.$ref);
	if (schema.anyOf) return [...new Set(schema.anyOf.map(typeHtml))].join(" or ");
	if (schema.enum)
		return schema.enum.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(", ");
	if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
	if (schema.type === "array" && schema.items) return `list of ${typeHtml(schema.items)}`;
	const types = [schema.type ?? "any"].flat();
	return types.map((type) => escaped(String(type))).join(" or ");
}

interface Field {
	readonly name: string;
	readonly schema: Schema;
	readonly isRequired: boolean;
	/** What its description is preceded by. */
	readonly note?: string;
}

/** A table of fields: name, type, description. Its label, unique on the page, also says of what. */
export function fieldTable(fields: readonly Field[], caption: string, label = caption): string {
	if (fields.length === 0) return "";
	const rows = fields.map(({ name, schema, isRequired, note }) => {
		const remarks = [
			note,
			isRequired ? "required" : undefined,
			schema.default === undefined
				? undefined
				: `default <code>${escaped(JSON.stringify(schema.default))}</code>`,
			schema.description === undefined ? undefined : withCode(schema.description),
		].filter((text) => text !== undefined);
		return `<tr><th scope="row"><code>${escaped(name)}</code></th><td>${typeHtml(schema)}</td><td>${remarks.join("; ")}</td></tr>`;
	});
	return `<div class="scroll" tabindex="0" role="region" aria-label="${escaped(label)}"><table><caption>${escaped(caption)}</caption>
<thead><tr><th scope="col">field</th><th scope="col">type</th><th scope="col">meaning</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>`;
}

/** The fields of an object. */
export const fieldsOf = (schema: Schema, showRequired: boolean): Field[] =>
	Object.entries(schema.properties ?? {}).map(([name, own]) => ({
		...{ name, schema: own },
		isRequired: showRequired && (schema.required ?? []).includes(name),
	}));

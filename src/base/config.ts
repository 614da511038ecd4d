import { z } from "zod";
import { InputError } from "./errors.js";

/** A field of a schema, as in JSON Schema. */
export interface Field {
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
	readonly enum?: readonly string[];
	readonly type?: string;
	readonly description?: string;
	readonly default?: unknown;
}

/** Every field's JSON type, range or choices, from the schema itself. */
function fieldsOf(schema: z.ZodType): Readonly<Record<string, Field>> {
	const json = z.toJSONSchema(schema, { io: "input" }) as { properties?: Record<string, Field> };
	return json.properties ?? {};
}

function allowed(field: Field | undefined): string | undefined {
	if (!field) return undefined;
	if (field.enum) return `one of ${field.enum.join(", ")}`;
	const kind = field.type === "integer" ? "a whole number" : `a ${field.type ?? "value"}`;
	const low = field.minimum ?? field.exclusiveMinimum;
	const from =
		field.minimum !== undefined ? `from ${low}` : low !== undefined ? `above ${low}` : "";
	const to =
		field.maximum !== undefined && field.maximum < 2 ** 53 - 1 ? `to ${field.maximum}` : "";
	return [kind, from, to].filter(Boolean).join(" ");
}

export interface Setting {
	readonly name: string;
	readonly description: string;
	/** The allowed values in words: type and range, or choices. */
	readonly allowed: string;
	/** Undefined if the setting is required. */
	readonly default: unknown;
}

/** The settings of a schema, for a help text. */
export const settingsIn = (schema: z.ZodType): Setting[] =>
	Object.entries(fieldsOf(schema)).map(([name, field]) => ({
		name,
		description: field.description ?? "",
		allowed: allowed(field) ?? "",
		default: field.default,
	}));

/** Like JSON, but with NaN and Infinity. */
const show = (value: unknown): string =>
	typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing");

/** Checks settings against their schema; an error names the field, the value and what is allowed. */
export function checkConfig<C>(schema: z.ZodType<C>, value: unknown, where: string): C {
	const result = schema.safeParse(value);
	if (result.success) return result.data;
	const fields = fieldsOf(schema);
	const problems = result.error.issues.map((issue) => {
		if (issue.code === "unrecognized_keys")
			return `${issue.keys.join(", ")}: no such setting; known: ${Object.keys(fields).join(", ")}`;
		const name = issue.path.map(String).join(".");
		const got = issue.path.reduce<unknown>(
			(v, key) => (v as Record<PropertyKey, unknown>)?.[key],
			value,
		);
		const expected = issue.code === "custom" ? issue.message : allowed(fields[name]);
		return `${name}: got ${show(got)}; expected ${expected ?? issue.message}`;
	});
	throw new InputError(`${where}: ${problems.join("; ")}`);
}

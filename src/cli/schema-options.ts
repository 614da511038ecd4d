import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";

interface Field {
	readonly type?: string;
	readonly enum?: readonly string[];
	readonly description?: string;
	readonly default?: unknown;
}

const flag = (name: string) =>
	`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function numberOf(text: string): number {
	const value = Number(text);
	if (text.trim() === "" || Number.isNaN(value))
		throw new InvalidArgumentError("Expected a number.");
	return value;
}

/** One option a field of a schema, with the field's help and default; ranges are checked by the schema. */
export function addSchemaOptions(command: Command, schema: z.ZodType): Command {
	const json = z.toJSONSchema(schema, { io: "input" });
	for (const [name, property] of Object.entries(json.properties ?? {})) {
		const field = property as Field;
		const option = new Option(`${flag(name)} <${field.enum ? "choice" : "n"}>`, field.description);
		option.default(field.default);
		if (field.enum) option.choices(field.enum);
		else option.argParser(numberOf);
		command.addOption(option);
	}
	return command;
}

/** The values of a schema's fields among a command's options; `given` alone are those the user typed. */
export function schemaValues(
	command: Command,
	schema: z.ZodType,
	which: "all" | "given" = "all",
): Record<string, unknown> {
	const names = Object.keys(z.toJSONSchema(schema, { io: "input" }).properties ?? {});
	return Object.fromEntries(
		names
			.filter((name) => which === "all" || command.getOptionValueSource(name) === "cli")
			.map((name) => [name, command.getOptionValue(name)]),
	);
}

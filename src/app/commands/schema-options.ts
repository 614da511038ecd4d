import { type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { type Field, fieldsOf } from "../../base/config.js";

const flag = (name: string) =>
	`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A parser for a number within the bounds of its field. */
function numberWithin(field: Field): (text: string) => number {
	const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
	const above = field.exclusiveMinimum ?? Number.NEGATIVE_INFINITY;
	const isWhole = field.type === "integer";
	const low = field.exclusiveMinimum === undefined ? `from ${minimum}` : `above ${above}`;
	return (text) => {
		const value = Number(text);
		const isNumber =
			text.trim() !== "" && (isWhole ? Number.isSafeInteger(value) : !Number.isNaN(value));
		if (isNumber && value >= minimum && value > above && value <= maximum) return value;
		throw new InvalidArgumentError(
			`Expected a ${isWhole ? "whole number" : "number"} ${low} to ${maximum}.`,
		);
	};
}

/** One option per field of a schema, with the field's help, default and bounds. */
export function addSchemaOptions(command: Command, schema: z.ZodType): Command {
	for (const [name, field] of Object.entries(fieldsOf(schema))) {
		const option = new Option(`${flag(name)} <${field.enum ? "choice" : "n"}>`, field.description);
		option.default(field.default);
		if (field.enum) option.choices(field.enum);
		else option.argParser(numberWithin(field));
		command.addOption(option);
	}
	return command;
}

/** The fields of a schema that the user set; the library has the same defaults for the others. */
export function typedValues(command: Command, schema: z.ZodType): Record<string, unknown> {
	return Object.fromEntries(
		Object.keys(fieldsOf(schema))
			.filter((name) => isTyped(command, name))
			.map((name) => [name, command.getOptionValue(name)]),
	);
}

/** Whether the user set an option on the command line. */
export const isTyped = (command: Command, name: string): boolean =>
	command.getOptionValueSource(name) === "cli";

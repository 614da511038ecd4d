import type { Command, Option } from "commander";
import { InputError } from "../../base/errors.js";

const repeatable = new WeakSet<Option>();

/** Adds a value to those given before. */
const several = (value: string, before: readonly string[] = []) => [...before, value];

/** Lets an option be given several times; its parser receives the values given before. */
export function mayRepeat<T>(option: Option, parse?: (text: string, before: T) => T): Option {
	repeatable.add(option);
	return parse ? option.argParser(parse) : option.argParser(several);
}

export const isRepeatable = (option: Option): boolean => option.variadic || repeatable.has(option);

/** Refuses a second value for the options of a command that take one; Commander would keep the last. */
export function refuseRepeats(command: Command): void {
	for (const option of command.options) {
		if (!(option.required || option.optional) || isRepeatable(option)) continue;
		let first: string | undefined;
		command.on(`option:${option.name()}`, (value: string | null) => {
			const text = value ?? "";
			if (first === undefined) first = text;
			else
				throw new InputError(
					`${option.long} is given twice, with ${JSON.stringify(first)} and ${JSON.stringify(text)}; expected one value: leave one out`,
				);
		});
	}
}

import type { Command } from "commander";
import { replaceOptions } from "../../base/errors.js";

/** Flags whose name differs from the library's option. */
const otherNames: Readonly<Record<string, string>> = {
	replace: "force",
	settings: "set",
	allowSystems: "allowSystem",
};

const renamed = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Names the flags of a command that set library options of another name. */
export function nameFlags(command: Command, flags: Readonly<Record<string, string>>): void {
	renamed.set(command, flags);
}

/**
 * Replaces library options in a message with the flags of the running command. Library messages quote options
 * in backticks: `batchSlots` becomes --batch-slots, `explorer: false` becomes --no-explorer, `patients: "all"` becomes
 * --patients all.
 */
export const withFlags = (text: string, command: Command | undefined): string =>
	command === undefined ? text : replaceOptions(text, (name) => flagOf(name, command));

function flagOf(name: string, command: Command): string | undefined {
	const renamedFlag = renamed.get(command)?.[name];
	if (renamedFlag !== undefined) return renamedFlag;
	const last = name.slice(name.lastIndexOf(".") + 1);
	const attribute = otherNames[last] ?? last;
	const option = command.options.find((option) => option.attributeName() === attribute);
	// Of two long names, show the first.
	return (option?.short?.startsWith("--") ? option.short : option?.long) ?? undefined;
}

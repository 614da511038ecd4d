import type { Command } from "commander";

/** Options of the library that flags have other names for. */
const otherNames: Readonly<Record<string, string>> = {
	replace: "force",
	settings: "set",
	allowSystems: "allowSystem",
};

const renamed = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Says which flags of a command set options that the library knows by other names. */
export function nameFlags(command: Command, flags: Readonly<Record<string, string>>): void {
	renamed.set(command, flags);
}

/**
 * Messages of the library name its options in backticks: `batchSlots`, `explorer: false`. This is the one place
 * where they become the flags of the command that runs: --batch-slots, --no-explorer.
 */
export const withFlags = (text: string, command: Command | undefined): string =>
	command === undefined
		? text
		: text.replace(
				/`([a-z][\w.]*)(?:: false)?`/gi,
				(quoted, name: string) => flagOf(name, command) ?? quoted,
			);

function flagOf(name: string, command: Command): string | undefined {
	const given = renamed.get(command)?.[name];
	if (given !== undefined) return given;
	const last = name.slice(name.lastIndexOf(".") + 1);
	const own = otherNames[last] ?? last;
	const option = command.options.find((option) => option.attributeName() === own);
	// Of two long names the first is the one to show.
	return (option?.short?.startsWith("--") ? option.short : option?.long) ?? undefined;
}

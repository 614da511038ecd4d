import { Command } from "commander";
import type { z } from "zod";
import { InputError, replaceOptions } from "../../base/errors.js";
import { addArguments, addFields, type Fields, type Values } from "./fields.js";
import type { Io } from "./io.js";

/** How the user called a command. */
export type Usage = ReturnType<typeof usageOf>;

interface Definition<A extends Fields, O extends Fields> {
	readonly name: string;
	readonly description: string;
	/** In order: the last may be a list. */
	readonly arguments?: A;
	readonly options?: O;
	/** Command lines, each with its description: the last section of the help. */
	readonly examples?: Readonly<Record<string, string>>;
	/** Library options of another name than their flag, for messages: `{ lookBackDays: "--look-back" }`. */
	readonly flags?: Readonly<Record<string, string>>;
	/** A section of the help between the options and the examples. */
	readonly details?: (values: Partial<Values<O>>) => string;
	run(io: Io, values: Values<A> & Values<O>, usage: Usage): unknown;
}

/** A command from the schemas of its arguments and options. */
export function defineCommand<
	A extends Fields = Record<never, never>,
	O extends Fields = Record<never, never>,
>(definition: Definition<A, O>): (io: Io) => Command {
	const { name, arguments: positional = {}, options = {}, flags, details } = definition;
	return (io) => {
		const command = new Command(name).description(definition.description);
		addArguments(command, positional);
		addFields(command, options);
		if (flags) renamed.set(command, flags);
		if (details) command.addHelpText("after", () => details(command.opts()));
		if (definition.examples) command.addHelpText("after", examples(definition.examples));
		return command.action(() => {
			const positions = Object.keys(positional).map((key, i) => [key, command.processedArgs[i]]);
			const values = { ...Object.fromEntries(positions), ...command.opts() };
			return definition.run(io, values, usageOf(command)) as void | Promise<void>;
		});
	};
}

export const defineCommands =
	(
		{
			name,
			description,
			examples: lines,
		}: Required<Pick<Definition<Fields, Fields>, "name" | "description" | "examples">>,
		children: Readonly<Record<string, (io: Io) => Command>>,
	) =>
	(io: Io): Command => {
		const command = new Command(name).description(description);
		for (const [summary, child] of Object.entries(children))
			command.addCommand(child(io).summary(summary));
		return command.addHelpText("after", examples(lines));
	};

function usageOf(command: Command) {
	const typed: ReadonlySet<string> = new Set(
		command.options
			.map((option) => option.attributeName())
			.filter((name) => command.getOptionValueSource(name) === "cli"),
	);
	return {
		/** The options that the user set, in the order of the help. */
		typed,
		/** Those that belong to a schema of the library, which has the same defaults for the others. */
		typedIn: ({ shape }: z.ZodObject): Record<string, unknown> =>
			Object.fromEntries(
				Object.entries(command.opts()).filter(([name]) => typed.has(name) && name in shape),
			),
		/** Refuses the first option that the user set and that has no effect: `why` ends the sentence. */
		refuse(why: (name: string) => string | undefined): void {
			for (const option of command.options) {
				const name = option.attributeName();
				const reason = typed.has(name) ? why(name) : undefined;
				if (reason !== undefined) throw new InputError(`${option.long} ${reason}`, { field: name });
			}
		},
		/** A message of the library, with flags instead of the names of its options. */
		withFlags: (text: string) => withFlags(text, command),
	};
}

/** Lines of the help: names or command lines, each with its description. */
export function listed(lines: Readonly<Record<string, string>>): string {
	const width = Math.max(...Object.keys(lines).map((line) => line.length));
	return Object.entries(lines)
		.map(([line, does]) => `  ${line.padEnd(width)}  ${does}`)
		.join("\n");
}

export const examples = (lines: Readonly<Record<string, string>>) =>
	`\nExamples:\n${listed(lines)}`;

/** Flags whose name differs from the library's option. */
const otherNames: Readonly<Record<string, string>> = {
	replace: "force",
	settings: "set",
	allowSystems: "allowSystem",
};

/** The same for single commands. */
const renamed = new WeakMap<Command, Readonly<Record<string, string>>>();

/** Replaces library options in a message with the flags of the running command. */
export const withFlags = (text: string, command: Command | undefined): string =>
	command === undefined ? text : replaceOptions(text, (name) => flagOf(name, command));

function flagOf(name: string, command: Command): string | undefined {
	const last = name.slice(name.lastIndexOf(".") + 1);
	const attribute = otherNames[last] ?? last;
	const option = command.options.find((option) => option.attributeName() === attribute);
	// Of two long names, show the first.
	const flag = option?.short?.startsWith("--") ? option.short : option?.long;
	return renamed.get(command)?.[name] ?? flag ?? undefined;
}

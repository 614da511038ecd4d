import { type Command, Option } from "commander";
import { byteSize, threadCount } from "../option-values.js";
import { formatOptions, formats } from "../prepare/formats.js";

/** Whom a command asks about, as its options say. */
export interface AskingOptions {
	readonly input?: readonly string[];
	readonly format?: string;
	readonly patient?: string;
	readonly dataset?: string;
	readonly phecodeMap?: string;
	readonly keepIgnored?: true;
	readonly memory: number;
	readonly threads?: number;
	readonly [format: string]: unknown;
}

/** Options of prepare that mean something else here, under the names they have instead. */
const columns: Readonly<Record<string, string>> = {
	patient: "patientColumn",
	time: "timeColumn",
	code: "codeColumn",
};
/** What concerns splits has no use here. */
const useless = new Set(["train", "valid", "test", "ignoreSplits"]);

/** By prepare's own name: an option for the files, and the name it has here. */
const fileOptions = Object.entries(formatOptions).map(([heading, options]) => ({
	heading: heading.replace("--from", "--format"),
	options: options
		.filter((option) => !useless.has(option.attributeName()))
		.map((option) => ({ option, name: columns[option.attributeName()] ?? option.attributeName() })),
}));

/** The options of forecast and risk that say whom they are about. */
export function addAskingOptions(command: Command): void {
	command
		.option("--input <file...>", "records of new patients; the run's own dataset if left out")
		.addOption(
			new Option("--format <format>", "of the records; by default what the file's ending tells")
				.choices(Object.keys(formats))
				.helpGroup("Input:"),
		)
		.addOption(
			new Option("--dataset <folder>", "the run's dataset, if it was moved").helpGroup("Input:"),
		)
		.addOption(
			new Option(
				"--map, --phecode-map <file>",
				"the map of codes, where the dataset was prepared with one",
			).helpGroup("Input:"),
		)
		.addOption(
			new Option("--keep-ignored", "as given to prepare, with that map").helpGroup("Input:"),
		)
		.addOption(
			new Option("--memory <size>", "what reading may hold in memory")
				.argParser(byteSize)
				.default(2 * 1024 ** 3, "2GB")
				.helpGroup("Input:"),
		)
		.option("--threads <n>", "threads; those of the training if left out", threadCount);
	for (const { heading, options } of fileOptions)
		for (const { option } of options) command.addOption(renamed(option).helpGroup(heading));
}

function renamed(option: Option): Option {
	const flags = columns[option.attributeName()]
		? option.flags.replace(/^--\w+/, (name) => `${name}-column`)
		: option.flags;
	const made = new Option(flags, option.description.replace("SOURCE", "--input"));
	if (option.argChoices) made.choices(option.argChoices);
	else if (option.parseArg) made.argParser(option.parseArg);
	return made;
}

/** What was given for the files, by the names that prepare knows. */
export function fileSettings(given: AskingOptions): Record<string, unknown> {
	const entries = fileOptions
		.flatMap(({ options }) => options)
		.map(({ option, name }) => [option.attributeName(), given[name]] as const)
		.filter(([, value]) => value !== undefined);
	return Object.fromEntries(entries);
}

/** An option for files that was given, as it is written. */
export function firstFileOption(given: AskingOptions): string | undefined {
	const all = fileOptions.flatMap(({ options }) => options);
	const found = all.find(({ name }) => given[name] !== undefined);
	return found && (renamed(found.option).long ?? undefined);
}

/** A message of a reader, which names options as prepare does. */
export const inOwnWords = (message: string): string =>
	message
		.replace(/--(patient|time|code)\b(?!-)/g, "--$1-column")
		.replace(/--from\b/g, "--format")
		.replace(/^SOURCE is missing/, "--input is missing");

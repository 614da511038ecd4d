import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../base/errors.js";
import type { Trained } from "../train/index.js";
import { openPatients, type PatientOptions, type QueriedPatients } from "../workflows/patients.js";
import { recordFormats } from "../workflows/record-formats.js";
import { nameFlags } from "./flags.js";
import type { Io } from "./io.js";
import { openRun } from "./open-run.js";
import { byteSize, threadCount } from "./option-values.js";
import { formatOptions } from "./record-options.js";

/** Which patients a command is about. */
export interface PatientFlags extends Omit<PatientOptions, "records"> {
	readonly [records: string]: unknown;
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
export function addPatientOptions(command: Command): void {
	command
		.option("--input <file...>", "records of new patients; the run's own dataset if left out")
		.addOption(
			new Option("--format <format>", "of the records; by default what the file's ending tells")
				.choices(Object.keys(recordFormats))
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
	nameFlags(command, {
		"records.source": "--input",
		...Object.fromEntries(
			Object.keys(columns).map((name) => [`records.${name}`, `--${name}-column`]),
		),
	});
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

/** Opens a run and the patients that the options name; notes and warnings go to standard error. */
export async function openRunAndPatients(
	io: Io,
	folder: string,
	flags: PatientFlags,
): Promise<{ readonly trained: Trained; readonly queried: QueriedPatients }> {
	const trained = openRun(io, folder);
	const queried = await openPatients(trained, { ...flags, records: readerOptions(flags) });
	for (const note of queried.notes) io.stderr.write(`note: ${note}\n`);
	return { trained, queried };
}

/** What was given for the files, by the names that their readers know. */
const readerOptions = (flags: PatientFlags): Record<string, unknown> =>
	Object.fromEntries(
		fileOptions
			.flatMap(({ options }) => options)
			.map(({ option, name }) => [option.attributeName(), flags[name]] as const)
			.filter(([, value]) => value !== undefined),
	);

/** A reader of texts as one of arguments: what it refuses is told with the option's name. */
export const asArgument =
	<T, Rest extends readonly unknown[]>(read: (text: string, ...rest: Rest) => T) =>
	(text: string, ...rest: Rest): T => {
		try {
			return read(text, ...rest);
		} catch (error) {
			if (error instanceof InputError) throw new InvalidArgumentError(error.message);
			throw error;
		}
	};

import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../base/errors.js";
import type { Trained } from "../../model/train/index.js";
import {
	hasRecords,
	openPatients,
	type PatientOptions,
	type QueriedPatients,
} from "../workflows/patients.js";
import { recordFormats } from "../workflows/record-formats.js";
import { nameFlags } from "./flags.js";
import type { Io } from "./io.js";
import { openRun } from "./open-run.js";
import {
	addComputeOptions,
	addGroup,
	byteSize,
	codeMapOptions,
	datasetOption,
	threadCount,
} from "./option-values.js";
import { formatOptions } from "./record-options.js";
import { isRepeatable, mayRepeat } from "./repeated-options.js";

/** Options that select patients. */
export interface PatientFlags extends Omit<PatientOptions, "records"> {
	readonly [records: string]: unknown;
}

/** Options of prepare whose flag has another meaning here, with their name here. */
const columns: Readonly<Record<string, string>> = {
	patient: "patientColumn",
	time: "timeColumn",
	code: "codeColumn",
};
/** Options on splits, which new patients do not need. */
const omitted = new Set(["train", "valid", "test", "ignoreSplits"]);

/** Options on record files: prepare's option, and its name here. */
const fileOptions = Object.entries(formatOptions).map(([heading, options]) => ({
	heading: heading.replace("--from", "--format"),
	options: options
		.filter((option) => !omitted.has(option.attributeName()))
		.map((option) => ({ option, name: columns[option.attributeName()] ?? option.attributeName() })),
}));

/** Adds the options that select patients. */
export function addPatientOptions(command: Command): void {
	command
		.option(
			"--input <file...>",
			"records of new patients (default: the patients of the run's dataset)",
		)
		.option("--threads <n>", "number of threads (default: as in training)", threadCount);
	addComputeOptions(command);
	addGroup(command, "Input:", [
		new Option("--format <format>", "format of the records (default: by file extension)").choices(
			Object.keys(recordFormats),
		),
		new Option(
			"--skip-bad",
			"leave out bad rows, and patients without a record whose code the model knows, which nothing is predicted for; without it they are refused",
		),
		datasetOption(),
		...codeMapOptions(),
		new Option("--memory <size>", "memory limit for reading records")
			.argParser(byteSize)
			.default(2 * 1024 ** 3, "2GB"),
	]);
	for (const { heading, options } of fileOptions)
		addGroup(
			command,
			heading,
			options.map(({ option }) => renamed(option)),
		);
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
	else if (isRepeatable(option)) mayRepeat(made, option.parseArg);
	else if (option.parseArg) made.argParser(option.parseArg);
	return made;
}

/** Opens a run and the selected patients; notes and warnings go to standard error. */
export async function openRunAndPatients(
	io: Io,
	folder: string,
	flags: PatientFlags,
): Promise<{ readonly trained: Trained; readonly queried: QueriedPatients }> {
	const trained = openRun(io, folder);
	return { trained, queried: await openQueried(io, trained, flags) };
}

/** Opens the selected patients; notes go to standard error. */
export async function openQueried(
	io: Io,
	trained: Trained,
	flags: PatientFlags,
): Promise<QueriedPatients> {
	const queried = await openPatients(trained, patientOptions(flags));
	for (const note of queried.notes) io.stderr.write(`note: ${note}\n`);
	return queried;
}

/** Refuses options on records where none are read. */
export const refuseRecordOptions = (flags: PatientFlags): void => {
	hasRecords(patientOptions(flags));
};

/** Opens the patients of --input, if it is given. */
export const openNewPatients = async (
	io: Io,
	trained: Trained,
	flags: PatientFlags,
): Promise<QueriedPatients | undefined> =>
	hasRecords(patientOptions(flags)) ? openQueried(io, trained, flags) : undefined;

const patientOptions = (flags: PatientFlags): PatientOptions => ({
	...flags,
	records: readerOptions(flags),
});

/** The options on record files, under prepare's names. */
const readerOptions = (flags: PatientFlags): Record<string, unknown> =>
	Object.fromEntries(
		fileOptions
			.flatMap(({ options }) => options)
			.map(({ option, name }) => [option.attributeName(), flags[name]] as const)
			.filter(([, value]) => value !== undefined),
	);

/** Makes a text parser an argument parser: Commander adds the option's name to its errors. */
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

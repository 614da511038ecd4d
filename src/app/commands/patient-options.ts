import { z } from "zod";
import type { Trained } from "../../model/train/index.js";
import {
	hasRecords,
	openPatients,
	type PatientOptions,
	type QueriedPatients,
} from "../workflows/patients.js";
import {
	byteSize,
	codeMapFields,
	computeFields,
	datasetField,
	type Fields,
	flag,
	inGroup,
	option,
	texts,
	threads,
	type Values,
} from "./fields.js";
import type { Io } from "./io.js";
import { openRun } from "./open-run.js";
import { recordFields, recordFormats } from "./records.js";

/** Options of prepare whose flag has another meaning here, with their name here. */
const renamed: Readonly<Record<string, string>> = {
	patient: "patientColumn",
	time: "timeColumn",
	code: "codeColumn",
};

/** Options on record files: prepare's name of each and, unless it is on splits, its name here. */
const readerNames = Object.keys(recordFields)
	.filter((name) => !["train", "valid", "test", "ignoreSplits"].includes(name))
	.map((name) => ({ name, here: renamed[name] ?? name }));

const readerFields = Object.fromEntries(
	readerNames.map(({ name, here }) => {
		const field: z.ZodType = (recordFields as Fields)[name] as z.ZodType;
		const { description = "", group, ...shown } = field.meta() as Record<string, string>;
		return [
			here,
			field.meta({
				...shown,
				description: description.replace("SOURCE", "--input"),
				group: group?.replace("--from", "--format"),
			}),
		];
	}),
) as Pick<typeof recordFields, "db">;

/** The options that select patients, and how to compute. */
export const patientFields = {
	input: option(
		"file...",
		"records of new patients (default: the patients of the run's dataset)",
		texts.optional(),
	),
	threads: option("n", "number of threads (default: as in training)", threads.optional()),
	...computeFields(),
	...inGroup("Input:", {
		format: option(
			"format",
			"format of the records (default: by file extension)",
			z.enum(Object.keys(recordFormats)).optional(),
		),
		skipBad: flag(
			"leave out bad rows, and patients without a record whose code the model knows, which nothing is predicted for; without it they are refused",
		),
		dataset: datasetField,
		...codeMapFields,
		memory: option("size", "memory limit for reading records", byteSize.default(2 * 1024 ** 3), {
			defaultText: "2GB",
		}),
	}),
	...readerFields,
};

/** The flags of library options on patients. */
export const patientFlags: Readonly<Record<string, string>> = {
	"records.source": "--input",
	...Object.fromEntries(
		Object.keys(renamed).map((name) => [`records.${name}`, `--${name}-column`]),
	),
};

/** What the user chose; a patient is named by `--patient`, which some commands describe in words of their own. */
export type PatientFlags = Values<typeof patientFields> & { readonly patient?: string };

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

/** The options, with those on record files under prepare's names. */
function patientOptions(flags: PatientFlags): PatientOptions {
	const values: Readonly<Record<string, unknown>> = { ...flags };
	const set = readerNames.filter(({ here }) => values[here] !== undefined);
	return {
		...flags,
		records: Object.fromEntries(set.map(({ name, here }) => [name, values[here]])),
	};
}

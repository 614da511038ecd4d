import { InputError } from "../../../src/base/errors.js";
import { isMapHeader, mapOfLines } from "../../../src/data/codes/map-lines.js";
import { knownPeople } from "../../../src/data/cohort/reading/people.js";
import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import { fromTokens, type Token } from "../../../src/data/cohort/vocabulary.js";
import type { DateOrder } from "../../../src/data/records/dates.js";
import { firstRow } from "../../../src/data/records/delimited-rows.js";
import { readFhirInMemory } from "../../../src/data/records/fhir/resources-to-records.js";
import { matchingColumns, usualNames } from "../../../src/data/records/tables/column-names.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import {
	type ColumnChoices,
	choiceKey,
	previewTable,
	type TablePreview,
	UnknownColumns,
} from "./columns.js";
import { type AmbiguousDate, AmbiguousDates, readCsv, type TableOptions } from "./csv.js";
import { bytesOf, checkSize, headOf, textOf } from "./read-file.js";
import { type BadRow, badRows, type FileContent, type FileRules } from "./records.js";
import { type FilePatients, toPatients, type UserMap } from "./to-patients.js";

/** `the file: entry 12: onsetDateTime is "x"; expected …` in parts. */
function badResource(message: string): BadRow {
	const [, where, column, got, expected] =
		/^the file: ([^:]+): (\S+) is (.+?); expected (.+)$/s.exec(message) ?? [];
	return where && column && got && expected
		? { where, column, got, expected }
		: { where: "a resource", column: "it", got: `refused: ${message}`, expected: "" };
}

/** Reads diagnoses and drugs from FHIR R4 by the rules of `trajgpt prepare`, but leniently. */
function readFhir(bytes: Uint8Array, measurements: boolean): FileContent {
	const bad = badRows();
	const { resources, records, people, skipped, unresolved } = readFhirInMemory(
		"the file",
		bytes,
		{ unusable: "leave out", measurements },
		({ message }) => bad.add(badResource(message)),
	);
	const badResources = bad.end(resources, "resource");
	if (records.length === 0)
		throw new InputError(
			`the file is FHIR (${counted(resources, "resource")}), but holds no Condition with a code and a time; export the patient's conditions too`,
		);
	const leftOut: (readonly [count: number, one: string, many: string])[] = [
		[unresolved.olderVersions, "older version of a resource", "older versions of resources"],
		[
			skipped.invalid.total,
			"resource entered in error or refuted",
			"resources entered in error, refuted or not taken",
		],
		[
			skipped.uncoded.total + unresolved.drugsWithoutCode,
			"record without a code of a known system",
			"records without a code of a known system",
		],
		[
			unresolved.diagnosesWithoutTime +
				unresolved.drugsWithoutTime +
				unresolved.measurementsWithoutTime,
			"record without a time",
			"records without a time",
		],
		[
			skipped.aboutOthers.total,
			"record that is about no patient",
			"records that are about no patient",
		],
		[skipped.otherTypes.total, "resource of another type", "resources of other types"],
	];
	return {
		format: "FHIR",
		axis: "dates",
		bad: badResources,
		dates: null,
		first: [],
		records: records.map(({ time, ...record }) => ({ ...record, day: time })),
		known: knownPeople(people),
		notes: leftOut.flatMap(([count, one, many]) =>
			count > 0 ? [`${counted(count, one, many)}: left out`] : [],
		),
	};
}

/** A file of records, and a map of codes; either may be missing. */
export interface UsedFiles {
	readonly records?: File | undefined;
	readonly map?: File | undefined;
}

export interface ReadRequest {
	/** Those that were chosen now. */
	readonly files: readonly File[];
	/** Those that were in use before. */
	readonly before: UsedFiles;
	readonly order?: DateOrder | undefined;
	/** The columns that the user chose for these or other files. */
	readonly columns?: ColumnChoices | undefined;
	readonly tokens: readonly Token[];
	readonly rules: ReadingRules;
}

type ReadResult = { readonly used: UsedFiles } & (
	| { readonly state: "asked"; readonly dates: readonly AmbiguousDate[] }
	| { readonly state: "columns"; readonly problem: string; readonly table: TablePreview }
	| { readonly state: "map"; readonly icd: number; readonly snomed: number }
	/** Without a table if the file is not one. */
	| { readonly state: "read"; readonly content: FilePatients; readonly table: TablePreview | null }
	/** With a table, which may have been read from other columns than were meant. */
	| { readonly state: "failed"; readonly message: string; readonly table: TablePreview | null }
);

/** Every reply but the progress is the last. */
export type ReadReply = ReadResult | { readonly state: "waiting"; readonly share: number };

/** Whether a file is a map of codes, as `--phecode-map` takes it, by its first line. */
async function isMapFile(file: Blob): Promise<boolean> {
	const head = await headOf(file).catch(() => "");
	const row = firstRow(head, { quotes: true, delimiter: "," })?.row.texts ?? [];
	const columns = row.map((name) => ({ name: name.trim() }));
	return isMapHeader(row) && matchingColumns(columns, usualNames.patient).length === 0;
}

/** Reads a map of codes by the rules of the command line, as the model's records were mapped. */
async function readMap(file: File, { level }: ReadingRules): Promise<UserMap> {
	const bytes = await bytesOf(new Uint8Array(await file.arrayBuffer()));
	const lines = mapOfLines(file.name, { level: level ?? "integer" });
	for (const [index, text] of textOf(bytes).text.split(/\r?\n/).entries())
		lines.add({ number: index + 1, text });
	return { map: lines.end(), ...lines.counts() };
}

/** Tells which of the new files is which; what is missing stays as it was. */
async function sortFiles(files: readonly File[], before: UsedFiles): Promise<UsedFiles> {
	const used: { records?: File | undefined; map?: File | undefined } = {};
	for (const file of files) {
		const kind = (await isMapFile(file)) ? "map" : "records";
		const other = used[kind];
		if (other)
			throw new InputError(
				`${other.name} and ${file.name} are two ${kind === "map" ? "maps of codes" : "files of records"}; open one at a time`,
			);
		used[kind] = file;
	}
	return { ...before, ...used };
}

interface ReadOptions extends TableOptions {
	/** Whether to read FHIR Observations. */
	readonly measurements?: boolean;
}

/** Reads the records of a file; the format is detected from its content, not from its name. */
export async function readContent(file: Uint8Array<ArrayBuffer>, options: ReadOptions = {}) {
	const bytes = await bytesOf(file);
	const { text, notes } = textOf(bytes);
	if (text.includes("\u0000"))
		throw new InputError("the file is not text; expected a CSV table or a FHIR R4 Bundle");
	const start = text.trimStart()[0];
	if (start === "<")
		throw new InputError("the file is XML or HTML; export FHIR as JSON (application/fhir+json)");
	const isJson = start === "{" || start === "[";
	if (isJson && notes.length > 0)
		throw new InputError("the file is JSON, but not in UTF-8; FHIR is UTF-8: export it again");
	const content = isJson ? readFhir(bytes, options.measurements ?? false) : readCsv(text, options);
	return { ...content, notes: [...notes, ...content.notes] };
}

/** The share of the time that goes into reading rows; the rest into patients. */
const rowsShare = 0.5;

/** Reads the patients of a file. Any error becomes an `InputError`, except a question about dates. */
export async function openFile(
	file: Pick<Blob, "size" | "arrayBuffer">,
	{ vocabulary, rules }: FileRules,
	{ order, columns, onProgress = () => {} }: TableOptions = {},
	map?: UserMap,
): Promise<FilePatients> {
	checkSize(file.size);
	const bytes = await file.arrayBuffer().catch((cause: unknown) => {
		throw new InputError(
			"the file could not be read from the disk; see whether it is still there and may be opened",
			{ cause },
		);
	});
	const isMeasured = ({ system, value }: Token) => value !== undefined || system === "LOINC";
	try {
		const content = await readContent(new Uint8Array(bytes), {
			order,
			columns,
			measurements: vocabulary.tokens.some(isMeasured),
			onProgress: (share) => onProgress(rowsShare * share),
		});
		onProgress(rowsShare);
		return toPatients(content, vocabulary, rules, map, (share) =>
			onProgress(rowsShare + (1 - rowsShare) * share),
		);
	} catch (error) {
		if (error instanceof InputError || error instanceof AmbiguousDates) throw error;
		const name = error instanceof Error ? error.name : "unknown";
		throw new InputError(
			`the file holds something that the page cannot deal with (${name}); export it again, or try it as CSV with the columns patient, time and code`,
			{ cause: error },
		);
	}
}

/** Reads files; the last reply is returned. */
export async function readFiles(
	{ files, before, order, columns = new Map(), tokens, rules }: ReadRequest,
	onProgress: (share: number) => void = () => {},
): Promise<ReadResult> {
	let used: UsedFiles = {};
	const preview = async () => (used.records ? previewTable(used.records, columns) : null);
	try {
		used = await sortFiles(files, before);
		const map = used.map && (await readMap(used.map, rules));
		if (!used.records) return { state: "map", used, icd: map?.icd ?? 0, snomed: map?.snomed ?? 0 };
		const content = await openFile(
			used.records,
			{ vocabulary: fromTokens(tokens), rules },
			{ order, columns: (first) => columns.get(choiceKey(first)), onProgress },
			map,
		);
		return { state: "read", used, content, table: await preview() };
	} catch (error) {
		if (error instanceof AmbiguousDates) return { state: "asked", used, dates: error.examples };
		const table = await preview();
		if (error instanceof UnknownColumns && table)
			return { state: "columns", used, problem: error.problem, table };
		return { state: "failed", used: before, message: (error as Error).message, table };
	}
}

interface WorkerScope {
	onmessage: ((event: { readonly data: ReadRequest }) => void) | null;
	postMessage(reply: ReadReply): void;
}

/** Answers the page, in a worker. */
export function answerFiles(scope: WorkerScope): void {
	scope.onmessage = async ({ data }) => {
		const onProgress = (share: number) => scope.postMessage({ state: "waiting", share });
		scope.postMessage(await readFiles(data, onProgress));
	};
}

import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import { fromTokens, type Token } from "../../../src/data/cohort/vocabulary.js";
import type { DateOrder } from "../../../src/data/records/dates.js";
import { type ColumnChoices, choiceKey, previewTable, type TablePreview } from "./column-choice.js";
import { UnknownColumns } from "./csv-columns.js";
import { type AmbiguousDate, AmbiguousDates } from "./date-reading.js";
import { type GivenFiles, openFile, openMap, sortFiles } from "./open-file.js";
import type { FileRules } from "./records.js";
import type { FilePatients } from "./to-patients.js";

/** A request to read files. */
export interface ReadRequest {
	/** Those that were chosen now. */
	readonly files: readonly File[];
	/** Those that were in use before. */
	readonly before: GivenFiles;
	readonly order?: DateOrder | undefined;
	/** The columns that the user chose for these or other files. */
	readonly columns?: ColumnChoices | undefined;
	readonly tokens: readonly Token[];
	readonly rules: ReadingRules;
}

/** What comes of it. Every reply but the first kind is the last. */
export type ReadReply =
	| { readonly kind: "progress"; readonly share: number }
	| { readonly kind: "asked"; readonly used: GivenFiles; readonly dates: readonly AmbiguousDate[] }
	| {
			readonly kind: "columns";
			readonly used: GivenFiles;
			readonly problem: string;
			readonly table: TablePreview;
	  }
	| {
			readonly kind: "map";
			readonly used: GivenFiles;
			readonly icd: number;
			readonly snomed: number;
	  }
	| {
			readonly kind: "read";
			readonly used: GivenFiles;
			readonly file: FilePatients;
			/** Null if the file is not a table. */
			readonly table: TablePreview | null;
	  }
	| {
			readonly kind: "failed";
			readonly message: string;
			/** Of a table, which may have been read from other columns than were meant. */
			readonly table: TablePreview | null;
	  };

const noChoices: ColumnChoices = new Map();

/** Reads files; the last reply is returned. */
export async function readFiles(
	{ files, before, order, columns = noChoices, tokens, rules }: ReadRequest,
	onProgress: (share: number) => void = () => {},
): Promise<Exclude<ReadReply, { readonly kind: "progress" }>> {
	let used: GivenFiles = {};
	const preview = async () => (used.records ? previewTable(used.records, columns) : null);
	try {
		used = await sortFiles(files, before);
		const known: FileRules = { vocabulary: fromTokens(tokens), rules };
		const map = used.map && (await openMap(used.map, known));
		if (!used.records) {
			const { icd = 0, snomed = 0 } = map ?? {};
			return { kind: "map", used, icd, snomed };
		}
		const chosen = (first: readonly string[]) => columns.get(choiceKey(first));
		const options = { order, columns: chosen, onProgress };
		const patients = await openFile(used.records, known, options, map);
		return { kind: "read", used, file: patients, table: await preview() };
	} catch (error) {
		if (error instanceof AmbiguousDates) return { kind: "asked", used, dates: error.examples };
		const table = await preview();
		if (error instanceof UnknownColumns && table)
			return { kind: "columns", used, problem: error.problem, table };
		return { kind: "failed", message: (error as Error).message, table };
	}
}

interface WorkerScope {
	onmessage: ((event: { readonly data: ReadRequest }) => void) | null;
	postMessage(reply: ReadReply): void;
}

/** Answers the page, in a worker. */
export function answerFiles(scope: WorkerScope): void {
	scope.onmessage = async ({ data }) => {
		scope.postMessage(
			await readFiles(data, (share) => scope.postMessage({ kind: "progress", share })),
		);
	};
}

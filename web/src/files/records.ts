import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";
import type { TimeAxis } from "../../../src/base/time.js";
import type { knownPeople } from "../../../src/data/cohort/reading/people.js";
import type { GivenRecord } from "../../../src/data/cohort/reading/records-to-events.js";
import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { DateOrder } from "../../../src/data/records/dates.js";
import { counted, percent } from "../../../src/evaluate/charts/numbers.js";
import type { About } from "../data/contract.js";
import type { Loaded } from "../data/use-loaded.js";

/** A record of a file, before its code is looked up. */
export interface FileRecord extends GivenRecord {
	readonly patient: string;
}

/** A record with its time as it stands in the file. */
export interface WrittenRecord extends FileRecord {
	readonly line: number;
	readonly time: string;
}

/** The content of a file. */
export interface FileContent {
	readonly format: "CSV" | "FHIR";
	readonly axis: TimeAxis;
	readonly records: readonly FileRecord[];
	readonly known: ReturnType<typeof knownPeople>;
	/** What was corrected or left out. */
	readonly notes: readonly string[];
	readonly bad: BadRows;
	/** How dates that are not ISO dates were read, and whether the user chose it; null if there are none. */
	readonly dates: { readonly order: DateOrder; readonly isChosen: boolean } | null;
	/** The first records of a table. */
	readonly first: readonly WrittenRecord[];
}

/** A row, or a resource, that could not be read. */
export interface BadRow {
	/** `line 12`; of FHIR, the resource. */
	readonly where: string;
	readonly column: string;
	readonly got: string;
	readonly expected: string;
}

export interface BadRows {
	readonly count: number;
	/** The first of them. */
	readonly rows: readonly BadRow[];
}

/** A field that cannot be read, and so its row. */
export class BadField extends Error {
	override readonly name = "BadField";

	constructor(
		readonly column: string,
		readonly got: string,
		readonly expected: string,
	) {
		super(`${column} is ${got}; expected ${expected}`);
	}
}

const mostListed = 100;
/** With more bad rows than this, the file was probably not understood. */
const mostBadShare = 0.2;

const sentence = ({ where, column, got, expected }: BadRow) =>
	`${where}: ${column} is ${got}${expected && `; expected ${expected}`}`;

/** Collects bad rows, which are skipped. */
export function badRows() {
	const rows: BadRow[] = [];
	let count = 0;
	return {
		add(row: BadRow): void {
			count++;
			if (rows.length < mostListed) rows.push(row);
		},
		/** Refuses a file in which no row can be read, or too few. */
		end(of: number, what: string): BadRows {
			const [first] = rows;
			if (!first || (count < of && count / of <= mostBadShare)) return { count, rows };
			const others =
				count === 1
					? ""
					: `. ${count === of ? `None of the ${counted(of, what)}` : `${counted(count, what)} of ${thousands(of)} (${percent(count / of)})`} can${count === of ? "" : "not"} be read; up to ${percent(mostBadShare)} are skipped`;
			throw new InputError(sentence(first) + others);
		},
	};
}

/** The rules for reading a file's records. */
export interface FileRules {
	readonly vocabulary: Vocabulary;
	readonly rules: ReadingRules;
}

/** The rules, once the server has sent all of them; nothing is guessed before. */
export function fileRules(about: Loaded<About>, vocabulary: Loaded<Vocabulary>): Loaded<FileRules> {
	if (about.state === "error") return about;
	if (vocabulary.state === "error") return vocabulary;
	if (about.state === "loading" || vocabulary.state === "loading") return { state: "loading" };
	return {
		state: "ready",
		value: { vocabulary: vocabulary.value, rules: about.value.records },
	};
}

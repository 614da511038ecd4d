import type { TimeAxis } from "../../../src/base/time.js";
import type { knownPeople } from "../../../src/data/cohort/reading/people.js";
import type { GivenRecord } from "../../../src/data/cohort/reading/records-to-events.js";
import type { BadRows } from "./bad-rows.js";
import type { DateReading } from "./date-reading.js";

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
	/** Null if all dates are ISO dates, or there are none. */
	readonly dates: DateReading | null;
	/** The first records of a table. */
	readonly first: readonly WrittenRecord[];
}

import type { TimeAxis } from "../../../src/base/time.js";
import type { knownPeople } from "../../../src/cohort/reading/people.js";
import type { GivenRecord } from "../../../src/cohort/reading/records-to-events.js";

/** A record of a file, before its code is looked up. */
export interface FileRecord extends GivenRecord {
	readonly patient: string;
}

/** The content of a file. */
export interface FileContent {
	readonly format: "CSV" | "FHIR";
	readonly axis: TimeAxis;
	readonly records: readonly FileRecord[];
	readonly known: ReturnType<typeof knownPeople>;
	/** What was corrected or left out. */
	readonly notes: readonly string[];
}

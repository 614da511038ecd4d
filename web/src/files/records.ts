import type { TimeAxis } from "../../../src/base/time.js";
import type { knownPeople } from "../../../src/cohort/reading/people.js";
import type { GivenRecord } from "../../../src/cohort/reading/records-to-events.js";

/** A record as a file has it, before its code is looked up. */
export interface FileRecord extends GivenRecord {
	readonly patient: string;
}

/** What a file holds. */
export interface FileContent {
	readonly format: "CSV" | "FHIR";
	readonly axis: TimeAxis;
	readonly records: readonly FileRecord[];
	readonly known: ReturnType<typeof knownPeople>;
	/** What was put right or left out on the way. */
	readonly notes: readonly string[];
}

/** 1 record, 2 records */
export const counted = (count: number, one: string, many = `${one}s`): string =>
	`${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

import { InputError } from "../../base/errors.js";
import { BadRows } from "../records/bad-rows.js";
import type { RecordSource } from "../records/rows.js";
import type { Store } from "../records/store.js";
import { mapCodes } from "./concepts.js";
import { addDeaths, gatherPeople } from "./people.js";
import { peopleWarnings } from "./plausible-times.js";
import type { PrepareOptions } from "./prepare.js";
import { badRowNotes, mappedWarnings } from "./prepare-messages.js";

/** What is known of the records once they are read. */
export type ReadRecords = Awaited<ReturnType<typeof readRecords>>;

/** Reads the source, gathers its people and maps its codes. */
export async function readRecords(
	store: Store,
	source: RecordSource,
	options: PrepareOptions,
	stage: (name: string) => void,
) {
	const bad = options.skipBad ? new BadRows() : undefined;
	const loaded = await source.load(store, bad);
	const records = await store.count("record");
	if (records === 0)
		throw new InputError(
			`${source.path} contains no records; expected at least one (patient, time, code)`,
		);
	stage("gathering the people");
	const people = await gatherPeople(store, options);
	const peopleTimes = await peopleWarnings(store, loaded);
	const deathEvents = options.deathToken ? await addDeaths(store) : 0;
	stage("mapping codes");
	const concepts = await mapCodes(store, options);
	return {
		...{ loaded, records, people, deathEvents, concepts },
		notes: [...loaded.notes, ...(bad ? badRowNotes(bad) : []), ...people.notes],
		warnings: [...(loaded.warnings ?? []), ...peopleTimes, ...mappedWarnings(concepts.codes)],
		valued: await store.count("record WHERE value IS NOT NULL"),
	};
}

import type { BadRows } from "../bad-rows.js";
import type { CodeNameRow, Loaded, ObservationRow, PersonRow, RecordRow } from "../rows.js";
import { openStore, type RecordSource, type Value } from "../store.js";
import { temporaryFolder } from "./temporary-folder.js";

type Row<T> = T & Record<string, Value>;

/** Loads a source into a store of its own and gives back all that it put there, in order. */
export async function load(
	source: RecordSource,
	bad?: BadRows,
): Promise<
	Loaded & {
		records: RecordRow[];
		people: PersonRow[];
		names: CodeNameRow[];
		periods: ObservationRow[];
	}
> {
	const store = await openStore({
		folder: await temporaryFolder(),
		memory: 2 ** 28,
		threads: 1,
		files: source.files,
	});
	try {
		const loaded = await source.load(store, bad);
		return {
			...loaded,
			records: (
				await store.all<Row<RecordRow>>("SELECT * EXCLUDE row FROM record ORDER BY row")
			).map(({ unit = null, ...row }): RecordRow => (unit === null ? row : { ...row, unit })),
			people: await store.all<Row<PersonRow>>("SELECT * FROM person ORDER BY rowid"),
			names: await store.all<Row<CodeNameRow>>("SELECT * FROM code_name ORDER BY rowid"),
			periods: await store.all<Row<ObservationRow>>("SELECT * FROM observation ORDER BY rowid"),
		};
	} finally {
		store.close();
	}
}

import type { BadRows } from "../bad-rows.js";
import type { CodeNameRow, Loaded, ObservationRow, PersonRow, RecordRow } from "../rows.js";
import { type RecordSource, type Store, type Value, withStore } from "../store.js";

type Row<T> = T & Record<string, Value>;

const loaded = async (store: Store, source: RecordSource, bad?: BadRows) => {
	const all = <T>(table: string) => store.all<Row<T>>(`SELECT * FROM ${table} ORDER BY rowid`);
	const rest: Loaded = await source.load(store, bad);
	const records = await store.all<Row<RecordRow>>("SELECT * EXCLUDE row FROM record ORDER BY row");
	return {
		...rest,
		records: records.map(
			({ unit = null, ...row }): RecordRow => (unit === null ? row : { ...row, unit }),
		),
		people: await all<PersonRow>("person"),
		names: await all<CodeNameRow>("code_name"),
		periods: await all<ObservationRow>("observation"),
	};
};

/** Loads a source into a store of its own and gives back all that it put there, in order. */
export const load = (source: RecordSource, bad?: BadRows) =>
	withStore({ memory: 2 ** 28, threads: 1, files: source.files }, (store) =>
		loaded(store, source, bad),
	);

import { InputError } from "../../../base/errors.js";
import { notesFor } from "../notes.js";
import { type RecordKind, type RecordSource, recordKinds } from "../rows.js";
import type { Store } from "../store.js";
import { findMeds } from "./layout.js";
import { loadNames, loadSplits } from "./metadata.js";
import type { Counts } from "./shard.js";
import { createCodes, loadShard } from "./shard.js";

export interface MedsOptions {
	/** The kinds of records to keep; diagnosis and drug by default. */
	readonly kinds?: readonly RecordKind[] | undefined;
	/** Whether to use the dataset's own splits; `use` by default. */
	readonly splits?: "use" | "ignore" | undefined;
}

/** Opens a dataset of the Medical Event Data Standard: its folder, its data folder, or one file. */
export async function openMeds(path: string, options: MedsOptions = {}): Promise<RecordSource> {
	const kinds = options.kinds ?? ["diagnosis", "drug"];
	if (kinds.length === 0)
		throw new InputError(
			"no kind of record to keep; expected at least one of diagnosis, drug, procedure, laboratory, other",
		);
	const { shards, metadata } = await findMeds(path);
	const useSplits = options.splits !== "ignore";
	return {
		format: "meds",
		path,
		files: [...shards, ...[metadata?.codes, metadata?.splits].filter((file) => file !== undefined)],
		async load(store, bad) {
			const notes: string[] = [];
			await loadSplits(store, useSplits ? metadata?.splits : undefined);
			await createCodes(store);
			const counts: Counts = { rows: 0, kept: 0, others: 0, untimed: 0, unsexed: 0 };
			for (const shard of shards) {
				const more = await loadShard(store, shard, kinds, bad);
				for (const name of Object.keys(more) as (keyof Counts)[]) counts[name] += more[name];
			}
			refuseNothing(path, counts, kinds);
			notes.push(...notesOf(counts, kinds));
			if (metadata?.codes) await loadNames(store, metadata.codes, kinds);
			else if (metadata) notes.push("no metadata/codes.parquet: codes have no names");
			if (useSplits && metadata) notes.push(...(await splitNotes(store, metadata.splits)));
			await store.run("DROP TABLE meds_code");
			await store.run("DROP TABLE meds_split");
			return { axis: "dates", notes };
		},
	};
}

function refuseNothing(path: string, counts: Counts, kinds: readonly RecordKind[]): void {
	if (counts.rows === 0)
		throw new InputError(`${path} contains no rows; expected rows of subject_id, time, code`);
	if (counts.kept === 0)
		throw new InputError(
			`${path} contains no record of kind ${kinds.join(" or ")} with a time: ${counts.others} rows are of other kinds, ${counts.untimed} have no time; pass \`kinds\` ${recordKinds.join(",")} for codes of the dataset's own`,
		);
}

function notesOf({ others, untimed, unsexed }: Counts, kinds: readonly RecordKind[]): string[] {
	return notesFor([
		[others, `${others} rows of other kinds than ${kinds.join(" and ")} left out; see --kinds`],
		[untimed, `${untimed} rows without a time left out`],
		[unsexed, `${unsexed} rows give a sex that is neither female nor male`],
	]);
}

async function splitNotes(store: Store, file: string | undefined): Promise<string[]> {
	if (!file)
		return ["no metadata/subject_splits.parquet: patients are split by a hash of their id"];
	const without = await store.count(
		"(SELECT patient FROM person GROUP BY patient HAVING max(split) IS NULL)",
	);
	const text = `${without} subjects have no split in ${file}: they are split by a hash of their id`;
	return notesFor([[without, text]]);
}

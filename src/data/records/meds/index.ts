import { InputError } from "../../../base/errors.js";
import { notesFor } from "../bad-rows.js";
import type { MedsOptions } from "../options.js";
import { type RecordKind, recordKinds, type Split } from "../rows.js";
import { quoted } from "../sql.js";
import type { RecordSource, Store } from "../store.js";
import { openTable, rowOfFile, stageRows, withNumberedRows } from "../table.js";
import { findColumn, findMeds, idText, needColumn, wanted } from "./layout.js";
import { type Counts, createCodes, loadShard, noRows } from "./shard.js";

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
			const counts = noRows();
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

/** Reads names from `codes.parquet`; of several rows for a code, the first with a name counts. */
async function loadNames(store: Store, file: string, kinds: readonly RecordKind[]): Promise<void> {
	const table = await openTable(store, file);
	const code = needColumn(table, wanted.code);
	const name = findColumn(table, wanted.description);
	if (!name) return;
	await withNumberedRows(store, table, [code, name], (rows) =>
		store.run(
			`INSERT INTO code_name
			SELECT system, meds_code.code, first(trim(described.${name.sql}) ORDER BY ${rowOfFile}), NULL, NULL
			FROM ${rows} described JOIN meds_code ON described.${code.sql} = meds
			WHERE meaning = 'record' AND kind IN (${kinds.map(quoted).join(", ")})
			AND trim(described.${name.sql}) <> ''
			GROUP BY system, meds_code.code ORDER BY min(${rowOfFile})`,
		),
	);
}

/** The split names of MEDS, and ours. */
const splits: Readonly<Record<string, Split>> = {
	train: "train",
	tuning: "valid",
	held_out: "test",
};

/** Creates the table of subjects and their splits; it is empty without a file. */
async function loadSplits(store: Store, file: string | undefined): Promise<void> {
	if (!file)
		return store.run("CREATE TEMP TABLE meds_split (row BIGINT, subject VARCHAR, split VARCHAR)");
	const table = await openTable(store, file);
	const subject = needColumn(table, wanted.subject);
	const split = needColumn(table, wanted.split);
	const cases = Object.entries(splits).map(
		([name, ours]) => `WHEN ${quoted(name)} THEN ${quoted(ours)}`,
	);
	const columns = {
		subject: idText(subject),
		split: `CASE ${split.sql} ${cases.join(" ")} END`,
		word: `left(${split.sql}, 40)`,
	};
	await stageRows(store, table, "meds_split", columns, {
		reads: [subject, split],
		faults: [
			{
				when: "coalesce(subject, '') = ''",
				say: () => " has no subject_id; expected one in every row",
			},
			{
				when: "split IS NULL",
				say: ({ word }) =>
					` has split ${JSON.stringify(word)}; expected ${Object.keys(splits).join(", ")}: rename it, or pass \`ignoreSplits\``,
			},
		],
	});
	const [twice] = await store.all<{ subject: string; first: number; second: number }>(
		`SELECT subject, min(row) AS first, min(row, 2)[2] AS second FROM meds_split
		GROUP BY subject HAVING count(*) > 1 ORDER BY second LIMIT 1`,
	);
	if (!twice) return;
	const [first, second] = await table.places([twice.first, twice.second]);
	throw new InputError(
		`${second} gives subject ${twice.subject} a second time, after ${first}; expected every subject once: keep one of the two, or pass \`ignoreSplits\``,
	);
}

import type { TimeAxis } from "../../base/time.js";
import type { Store } from "../records/store.js";
import type { PrepareOptions } from "./prepare-options.js";
import { cutSql, orderSql, periodsOf } from "./reading/rules.js";
import { fillInOrder, type Shards } from "./shards.js";
import { comparableValueSql, unitSql } from "./values.js";

/** Replaces texts by numbers: table `coded` (patient, time, code, ord and, if used, value and unit). Drops `record`. */
export async function numberRecords(
	store: Store,
	{ values }: Pick<PrepareOptions, "values">,
	shards: Shards,
): Promise<void> {
	// If no two systems share a code, the code alone identifies it: one text to compare instead of three.
	const [shared] = await store.all<{ n: number }>(
		"SELECT count(*) - count(DISTINCT code) AS n FROM code",
	);
	const keys = shared.n ? ["code", "system", "kind"] : ["code"];
	await store.run(`
		CREATE TABLE coded AS
		SELECT patient.id AS patient, time, code.id AS code, record.row AS ord
			${values === null ? "" : `, ${comparableValueSql("value")} AS value, ${unitSql("unit")} AS unit`}
		FROM record
		JOIN patient ON patient.key = record.patient
		JOIN code ON ${keys.map((key) => `code.${key} = record.${key}`).join(" AND ")}
		WHERE ${shards.ownSql("patient.id")}`);
	await store.dropRecords();
}

/**
 * Collects candidates for tokens by the rules of `reading/rules.ts`: table `event` (patient, time, concept, rank,
 * ord, nth and, if used, value and unit). With `maxRecords`, table `shortened` (id, first, last) has the days kept of the histories it cut.
 */
export async function gatherEvents(
	store: Store,
	{
		dedup,
		maxRecords,
		keep,
		values,
	}: Pick<PrepareOptions, "dedup" | "maxRecords" | "keep" | "values">,
	axis: TimeAxis,
): Promise<{ duplicates: number; cut: number }> {
	const all = `
		SELECT patient, time, concept, rank, ord, nth ${values === null ? "" : ", value, unit"}
		FROM coded JOIN mapping ON mapping.code = coded.code`;
	const periods = periodsOf(dedup, axis);
	if (!periods && maxRecords === null && values === null) {
		await store.run(`CREATE VIEW event AS ${all}`); // read only twice: cheaper than a table
		return { duplicates: 0, cut: 0 };
	}
	if (!periods) await store.run(`CREATE TABLE event AS ${all}`);
	else
		await store.run(`
			CREATE TABLE event AS
			SELECT patient, earliest.time AS time, concept, rank, earliest.ord AS ord,
				earliest.nth AS nth ${values === null ? "" : ", earliest.value AS value, earliest.unit AS unit"} FROM (
				SELECT patient, concept, rank,
					min({'time': time, 'ord': ord, 'nth': nth ${values === null ? "" : ", 'value': value, 'unit': unit"}}) AS earliest
				FROM (${all}) GROUP BY patient, concept, rank, ${periods.sql})`);
	const before = await store.count(`(${all})`);
	const left = await store.count("event");
	if (maxRecords === null) return { duplicates: before - left, cut: 0 };
	await store.run(`
		CREATE TABLE shorter AS SELECT * FROM event
		QUALIFY ${cutSql(maxRecords, keep)}`);
	await store.run(`
		CREATE OR REPLACE TABLE shortened AS
		SELECT patient AS id, floor(min(time)) AS first, floor(max(time)) AS last FROM shorter
		WHERE patient IN (SELECT patient FROM event GROUP BY patient HAVING count(*) > ${maxRecords})
		GROUP BY patient`);
	await store.run("DROP TABLE event");
	await store.run("ALTER TABLE shorter RENAME TO event");
	return { duplicates: before - left, cut: left - (await store.count("event")) };
}

/** Memory for sorting per event: its columns, the keys, and as much again. */
const bytesPerSortedEvent = 128;

/**
 * Creates tables `cohort` (id, number) of the kept patients and `final`, the dataset's events in order. More events
 * than can be sorted in memory are sorted one range of patients after the other.
 */
export async function sortEvents(store: Store, shards: Shards, memory: number): Promise<void> {
	const kept = await shards.rows([{ patients: await store.count("kept_patient") }]);
	const { rank } = shards.communicator;
	const { patients } = kept[rank];
	const before = kept.slice(0, rank).reduce((sum, shard) => sum + shard.patients, 0);
	await shards.each(async () => {
		await store.run(`
			CREATE TABLE cohort AS
			SELECT id, (${before} + row_number() OVER (ORDER BY id) - 1)::INTEGER AS number FROM kept_patient`);
		const events = await countEvents(store);
		const ranges = Math.max(1, Math.ceil((events * bytesPerSortedEvent) / memory));
		const bounds = Array.from(
			{ length: ranges + 1 },
			(_, i) => before + Math.floor((i * patients) / ranges),
		);
		await fillInOrder(
			store,
			"final",
			Array.from({ length: ranges }, (_, i) =>
				sortedSql(
					ranges === 1
						? "true"
						: `cohort.number >= ${bounds[i]} AND cohort.number < ${bounds[i + 1]}`,
				),
			),
		);
	});
}

/** The number of events of the dataset. */
async function countEvents(store: Store): Promise<number> {
	const [total] = await store.all<{ events: number | null }>(`
		SELECT sum(n)::BIGINT AS events FROM concept_count
		SEMI JOIN kept_patient ON kept_patient.id = concept_count.patient
		SEMI JOIN token ON token.concept = concept_count.concept`);
	return total.events ?? 0;
}

const sortedSql = (condition: string) => `
	SELECT cohort.number AS patient, time, token.token, rank, ord
	FROM event
	JOIN cohort ON cohort.id = event.patient
	JOIN token ON token.concept = event.concept
	WHERE ${condition}
	ORDER BY cohort.number, ${orderSql()}`;

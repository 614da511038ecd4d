import { monthDays, type TimeAxis } from "../base/time.js";
import type { Store } from "../records/store.js";
import type { Manifest } from "./manifest.js";

export interface EventOptions {
	readonly dedup: Manifest["filters"]["dedup"];
	readonly maxRecords: number | null;
	readonly keep: "last" | "first";
}

/** Numbers instead of texts: table `coded` (patient, time, code, ord). Frees `record`. */
export async function numberRecords(store: Store): Promise<void> {
	// Where no two systems share a code, the code alone tells: one text to compare instead of three.
	const [shared] = await store.all<{ n: number }>(
		"SELECT count(*) - count(DISTINCT code) AS n FROM code",
	);
	const keys = shared?.n ? ["code", "system", "kind"] : ["code"];
	await store.run(`
		CREATE TABLE coded AS
		SELECT patient.id AS patient, time, code.id AS code, record.rowid AS ord
		FROM record
		JOIN patient ON patient.key = record.patient
		JOIN code ON ${keys.map((key) => `code.${key} = record.${key}`).join(" AND ")}`);
	await store.run("DROP TABLE record");
}

/** The key within which two records of a patient and concept are one. */
function periodOf(dedup: "day" | "month", axis: TimeAxis): string {
	if (dedup === "day") return "floor(time)";
	return axis === "dates"
		? "date_trunc('month', make_timestamp((time * 86400000000)::BIGINT))"
		: `floor(time / ${monthDays})`;
}

/**
 * What may become tokens: table `event` (patient, time, concept, rank, ord, nth). At one time, diagnoses come
 * first (rank 0), then in the order of the source: a diagnosis never has the drug it led to in its past.
 * What one record stands for comes in the map's order, whatever else is in the source.
 */
export async function gatherEvents(
	store: Store,
	{ dedup, maxRecords, keep }: EventOptions,
	axis: TimeAxis,
): Promise<{ duplicates: number; cut: number }> {
	const all = `
		SELECT patient, time, concept, rank, ord, nth
		FROM coded JOIN mapping ON mapping.code = coded.code`;
	if (dedup === "none" && maxRecords === null) {
		await store.run(`CREATE VIEW event AS ${all}`); // read twice only: cheaper than to write it down
		return { duplicates: 0, cut: 0 };
	}
	if (dedup === "none") await store.run(`CREATE TABLE event AS ${all}`);
	else
		await store.run(`
			CREATE TABLE event AS
			SELECT patient, earliest.time AS time, concept, rank, earliest.ord AS ord,
				earliest.nth AS nth FROM (
				SELECT patient, concept, rank, min({'time': time, 'ord': ord, 'nth': nth}) AS earliest
				FROM (${all}) GROUP BY patient, concept, rank, ${periodOf(dedup, axis)})`);
	const before = await store.count(`(${all})`);
	const left = await store.count("event");
	if (maxRecords === null) return { duplicates: before - left, cut: 0 };
	const order = keep === "last" ? "DESC" : "ASC";
	const by = ["time", "rank", "ord", "nth"].map((column) => `${column} ${order}`).join(", ");
	await store.run(`
		CREATE TABLE shorter AS SELECT * FROM event
		QUALIFY row_number() OVER (PARTITION BY patient ORDER BY ${by}) <= ${maxRecords}`);
	await store.run("DROP TABLE event");
	await store.run("ALTER TABLE shorter RENAME TO event");
	return { duplicates: before - left, cut: left - (await store.count("event")) };
}

/** Tables `cohort` (id, number: the kept patients, numbered) and `final`: the dataset's events, in order. */
export async function sortEvents(store: Store): Promise<void> {
	await store.run(`
		CREATE TABLE cohort AS
		SELECT id, (row_number() OVER (ORDER BY id) - 1)::INTEGER AS number FROM kept_patient`);
	await store.run(`
		CREATE TABLE final AS
		SELECT cohort.number AS patient, time, token.token, rank, ord
		FROM event
		JOIN cohort ON cohort.id = event.patient
		JOIN token ON token.concept = event.concept
		ORDER BY cohort.number, event.time, rank, ord, nth`);
}

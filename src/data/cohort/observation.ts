import { notesFor } from "../records/bad-rows.js";
import type { Loaded } from "../records/rows.js";
import type { Store } from "../records/store.js";

/** SQL for periods in days; `earlier` is the latest end of those of the same patient that start before. */
const withEarlierSql = (periods: string) => `
	SELECT patient, floor(first) AS first, floor(last) AS last,
		max(floor(last)) OVER (PARTITION BY patient ORDER BY floor(first), floor(last)
			ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
	FROM ${periods}`;

/** SQL that joins the periods (patient, first, last) of each patient where no day lies between them. */
export const mergedSql = (periods: string) => `
	SELECT patient, min(first) AS first, max(last) AS last FROM (
		SELECT *, count(*) FILTER (earlier IS NULL OR first > earlier + 1)
			OVER (PARTITION BY patient ORDER BY first, last) AS island
		FROM (${withEarlierSql(periods)}))
	GROUP BY patient, island`;

/**
 * Creates table `period` (patient, first, last) of the dataset's patients: the periods that the source gave in
 * table `observation`, joined where no day lies between them, or else from the first to the last record of each
 * patient. Reads tables `cohort` and `patient`.
 */
export async function gatherPeriods(store: Store, observation: Loaded["observation"]) {
	if (observation === undefined) {
		await store.run(`
			CREATE TABLE period AS SELECT number AS patient, floor(first) AS first, floor(last) AS last
			FROM cohort JOIN patient USING (id)`);
		return [];
	}
	await store.run(`
		CREATE TABLE given_period AS SELECT number AS patient, given.first, given.last
		FROM observation AS given JOIN patient ON patient.key = given.patient JOIN cohort USING (id)`);
	await store.run(`CREATE TABLE period AS ${mergedSql("given_period")}`);
	const overlapping = await store.count(
		`(${withEarlierSql("given_period")}) WHERE first <= earlier`,
	);
	const without = await store.count("cohort ANTI JOIN period ON period.patient = cohort.number");
	await store.run("DROP TABLE given_period");
	return notesFor([
		[overlapping, `${overlapping} observation periods overlap another of their patient: merged`],
		[without, `${without} patients have no observation period: never at risk`],
	]);
}

/**
 * Shortens the periods of histories that were cut, given in table `shortened` (id, first, last: the days of the
 * records kept): where records were left out, a patient counts as not observed.
 */
export async function clipPeriods(store: Store, keep: "first" | "last"): Promise<string[]> {
	const clipped =
		keep === "last"
			? "greatest(period.first, shortened.first) AS first, period.last AS last"
			: "period.first AS first, least(period.last, shortened.last) AS last";
	// Of a bound and NULL, the bound is the greatest and the least.
	await store.run(`
		CREATE OR REPLACE TABLE period AS SELECT * FROM (
			SELECT patient, ${clipped} FROM period JOIN cohort ON cohort.number = period.patient
			LEFT JOIN shortened USING (id)) WHERE first <= last`);
	const cut = await store.count("cohort SEMI JOIN shortened USING (id)");
	return notesFor([
		[
			cut,
			`${cut} patients have more records than are kept: they count as observed ${keep === "last" ? "from their first" : "until their last"} kept record`,
		],
	]);
}

import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import { compare, summaryOf } from "./concepts.js";
import type { Manifest } from "./manifest.js";
import { specialCount, type Token } from "./vocabulary.js";

/**
 * Applies the filters: creates tables `kept_patient` (id, split) and `kept_concept` (id, n). Every kept code has
 * at least `minCount` records among the kept training patients, and every kept patient at least `minRecords`
 * records of kept codes. Dropping one can violate the other rule, so the two alternate until nothing changes.
 * Concepts with the same `code` (SQL), the ranges of its values, are counted together. Reads `event` once, into table
 * `concept_count` (patient, concept, code, n).
 */
export async function selectCohort(
	store: Store,
	minRecords: number,
	minCount: number,
	code = "concept",
): Promise<void> {
	await store.run(`
		CREATE OR REPLACE TABLE concept_count AS
		SELECT patient, concept, ${code} AS code, count(*)::INTEGER AS n FROM event GROUP BY ALL`);
	await store.run("CREATE OR REPLACE TABLE kept_patient AS SELECT id, split FROM patient");
	let patients = await store.count("kept_patient");
	while (true) {
		await store.run(`
			CREATE OR REPLACE TABLE kept_concept AS
			SELECT concept AS id, sum(n)::BIGINT AS n
			FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
			WHERE split = 'train' GROUP BY concept, code
			QUALIFY sum(sum(n)) OVER (PARTITION BY code) >= ${minCount}`);
		await store.run(`
			CREATE OR REPLACE TABLE kept_patient AS
			SELECT id, split FROM kept_patient SEMI JOIN (
				SELECT patient FROM concept_count SEMI JOIN kept_concept ON kept_concept.id = concept_count.concept
				GROUP BY patient HAVING sum(n) >= ${minRecords}
			) AS enough ON enough.patient = kept_patient.id`);
		const left = await store.count("kept_patient");
		if (left === patients) return;
		patients = left;
	}
}

/** Numbers the vocabulary's tokens, the most frequent first, in table `token` (concept, token). */
export async function numberTokens(store: Store, concepts: readonly Concept[]): Promise<Token[]> {
	const kept = await store.all<{ id: number; n: number }>("SELECT id, n FROM kept_concept");
	const tokens = kept
		.map(({ id, n }) => ({ id, ...(concepts[id] as Concept), count: n }))
		.sort((a, b) => b.count - a.count || compare(a.system, b.system) || compare(a.code, b.code));
	await store.create("token", { concept: "whole", token: "whole" });
	await store.append(
		"token",
		tokens.map(({ id }, at) => ({ concept: id, token: specialCount + at })),
	);
	return tokens.map(({ id: _, ...token }) => token);
}

/** Counts the patients and codes that `selectCohort` dropped. */
export async function countDropped(
	store: Store,
	concepts: readonly Concept[],
	vocabularyIsGiven = false,
): Promise<Pick<Manifest["dropped"], "patients" | "rareCodes" | "unknownCodes">> {
	const [gone] = await store.all<{ patients: number; events: number }>(`
		SELECT (SELECT count(*) FROM patient ANTI JOIN kept_patient USING (id)) AS patients,
			coalesce((SELECT sum(n) FROM concept_count
				ANTI JOIN kept_patient ON kept_patient.id = concept_count.patient), 0)::BIGINT AS events`);
	const lost = await store.all<{ concept: number; events: number; known: boolean }>(`
		SELECT concept, sum(n)::BIGINT AS events, bool_or(split = 'train') AS known
		FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
		ANTI JOIN kept_concept ON kept_concept.id = concept_count.concept
		GROUP BY concept`);
	const summary = (inTraining: boolean) =>
		summaryOf(
			lost
				.filter(({ known }) => (known && !vocabularyIsGiven) === inTraining)
				.map(({ concept, events }) => ({ ...(concepts[concept] as Concept), records: events })),
		);
	return {
		patients: { patients: gone?.patients ?? 0, events: gone?.events ?? 0 },
		rareCodes: summary(true),
		unknownCodes: summary(false),
	};
}

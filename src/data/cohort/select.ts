import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import { compare, summaryOf } from "./concepts.js";
import type { Manifest } from "./manifest.js";
import type { Shards } from "./shards.js";
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
	shards: Shards,
	code = "concept",
): Promise<void> {
	const countKept = async () => shards.sums([await store.count("kept_patient")])[0] as number;
	await shards.each(async () => {
		await store.run(`
			CREATE OR REPLACE TABLE concept_count AS
			SELECT patient, concept, ${code} AS code, count(*)::INTEGER AS n FROM event GROUP BY ALL`);
		await store.run(`
			CREATE OR REPLACE TABLE kept_patient AS
			SELECT id, split FROM patient WHERE ${shards.ownSql("id")}`);
	});
	let patients = await countKept();
	while (true) {
		await shards.each(() =>
			store.run(`
				CREATE OR REPLACE TABLE concept_sum AS SELECT concept, code, sum(n)::DOUBLE AS n
				FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
				WHERE split = 'train' GROUP BY concept, code`),
		);
		await spreadSums(store, shards);
		await shards.each(async () => {
			await store.run(`
				CREATE OR REPLACE TABLE kept_concept AS
				SELECT concept AS id, sum(n)::BIGINT AS n FROM concept_sum GROUP BY concept, code
				QUALIFY sum(sum(n)) OVER (PARTITION BY code) >= ${minCount}`);
			await store.run(`
				CREATE OR REPLACE TABLE kept_patient AS
				SELECT id, split FROM kept_patient SEMI JOIN (
					SELECT patient FROM concept_count SEMI JOIN kept_concept ON kept_concept.id = concept_count.concept
					GROUP BY patient HAVING sum(n) >= ${minRecords}
				) AS enough ON enough.patient = kept_patient.id`);
		});
		const left = await countKept();
		if (left === patients) return;
		patients = left;
	}
}

/** Gives every rank the `concept_sum` of all ranks. */
async function spreadSums(store: Store, shards: Shards): Promise<void> {
	if (shards.communicator.size === 1) return;
	const sums = await shards.rows(
		await store.all<{ concept: number; code: number; n: number }>("SELECT * FROM concept_sum"),
	);
	await store.create("concept_sum", { concept: "whole", code: "whole", n: "number" });
	await store.append("concept_sum", sums);
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
	vocabularyIsGiven: boolean,
	shards: Shards,
): Promise<Pick<Manifest["dropped"], "patients" | "rareCodes" | "unknownCodes">> {
	const { gone, lostHere } = await shards.each(async () => {
		const [gone] = await store.all<{ patients: number; events: number }>(`
		SELECT (SELECT count(*) FROM patient ANTI JOIN kept_patient USING (id)
				WHERE ${shards.ownSql("id")}) AS patients,
			coalesce((SELECT sum(n) FROM concept_count
				ANTI JOIN kept_patient ON kept_patient.id = concept_count.patient), 0)::BIGINT AS events`);
		const lostHere = await store.all<{ concept: number; events: number; known: boolean }>(`
		SELECT concept, sum(n)::BIGINT AS events, bool_or(split = 'train') AS known
		FROM concept_count JOIN kept_patient ON kept_patient.id = concept_count.patient
		ANTI JOIN kept_concept ON kept_concept.id = concept_count.concept
		GROUP BY concept`);
		return { gone, lostHere };
	});
	const [patients = 0, events = 0] = shards.sums([gone?.patients ?? 0, gone?.events ?? 0]);
	const lost = await shards.rows(lostHere);
	const known = new Set(lost.filter((code) => code.known).map(({ concept }) => concept));
	const summary = (inTraining: boolean) =>
		summaryOf(
			lost
				.filter(({ concept }) => (known.has(concept) && !vocabularyIsGiven) === inTraining)
				.map(({ concept, events }) => ({ ...(concepts[concept] as Concept), records: events })),
		);
	return {
		patients: { patients, events },
		rareCodes: summary(true),
		unknownCodes: summary(false),
	};
}

import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import { specialCount, type Token, type Vocabulary } from "./vocabulary.js";

/**
 * Keeps the codes of a given vocabulary, and patients with at least `minRecords` records of them: tables
 * `kept_patient`, `kept_concept` and `concept_count`, as `selectCohort` creates them.
 */
export async function selectKnown(
	store: Store,
	concepts: readonly Concept[],
	vocabulary: Vocabulary,
	minRecords: number,
): Promise<void> {
	await store.run(`
		CREATE TABLE concept_count AS
		SELECT patient, concept, count(*)::INTEGER AS n FROM event GROUP BY patient, concept`);
	const known = tokensOf(concepts, vocabulary);
	await store.create("token", { concept: "whole", token: "whole" });
	await store.append("token", known);
	await store.run(`
		CREATE TABLE kept_concept AS
		SELECT concept AS id, coalesce(sum(n), 0)::BIGINT AS n
		FROM concept_count SEMI JOIN token USING (concept) GROUP BY concept`);
	await store.run(`
		CREATE TABLE kept_patient AS
		SELECT id, split FROM patient SEMI JOIN (
			SELECT patient FROM concept_count SEMI JOIN token USING (concept)
			GROUP BY patient HAVING sum(n) >= ${minRecords}
		) AS enough ON enough.patient = patient.id`);
}

/** The tokens of a given vocabulary, with the counts of the dataset that it comes from. */
export const knownTokens = ({ tokens }: Vocabulary): readonly Token[] => tokens.slice(specialCount);

const tokensOf = (concepts: readonly Concept[], vocabulary: Vocabulary) =>
	concepts.flatMap(({ code, system }, concept) => {
		const token = vocabulary.find(code, system);
		return token === undefined ? [] : [{ concept, token }];
	});

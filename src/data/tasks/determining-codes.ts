import type { Store } from "../records/store.js";

/** A code of the input whose presence (or absence) nearly determines the label. */
export interface DeterminingCode {
	readonly code: string;
	readonly when: "present" | "absent";
	/** Labels with this code in the input (or without it), and how many of them are positive. */
	readonly labels: number;
	readonly positive: number;
	/** All positive labels. */
	readonly positives: number;
}

/** Of positive labels found, of those found positive, and of negative labels not found. */
const nearlyAll = 0.9;
const fewest = 5;
/** Labels that are looked at. */
const sampleSize = 50_000;

/**
 * Codes recorded up to the prediction time that predict the label with near certainty: precision, recall and
 * specificity are at least 0.9. Reads view `item` and table `task_label`.
 */
export async function determiningCodes(store: Store): Promise<DeterminingCode[]> {
	await store.run(`
		CREATE OR REPLACE TABLE label_sample AS SELECT subject, moment, value FROM task_label
		WHERE value IS NOT NULL ORDER BY hash(subject, moment), subject, moment LIMIT ${sampleSize}`);
	const [all] = await store.all<{ labels: number; positives: number }>(
		"SELECT count(*) AS labels, count(*) FILTER (value) AS positives FROM label_sample",
	);
	const { labels, positives } = all ?? { labels: 0, positives: 0 };
	if (positives < fewest || labels - positives < fewest) return [];
	await store.run(`
		CREATE OR REPLACE TABLE first_record AS
		SELECT subject, code, min(coalesce(moment, -9e18::BIGINT)) AS first
		FROM item SEMI JOIN label_sample USING (subject) GROUP BY subject, code`);
	const codes = await store.all<{ code: string; labels: number; positive: number }>(`
		SELECT code, count(*) AS labels, count(*) FILTER (value) AS positive
		FROM label_sample JOIN first_record USING (subject)
		WHERE first <= moment GROUP BY code ORDER BY positive DESC, code`);
	const isCertain = (found: number, positive: number) =>
		found > 0 &&
		positive / found >= nearlyAll &&
		positive / positives >= nearlyAll &&
		1 - (found - positive) / (labels - positives) >= nearlyAll;
	return codes.flatMap(({ code, ...own }): DeterminingCode[] => {
		const without = { labels: labels - own.labels, positive: positives - own.positive };
		if (isCertain(own.labels, own.positive)) return [{ code, when: "present", ...own, positives }];
		if (isCertain(without.labels, without.positive))
			return [{ code, when: "absent", ...without, positives }];
		return [];
	});
}

import type { Store } from "../records/store.js";
import type { Manifest } from "./manifest.js";

/** How far the training histories reach, from the tables `final`, `cohort` and `patient`. */
export async function reachOf(store: Store): Promise<NonNullable<Manifest["reach"]>> {
	const [reach] = await store.all<{ longestDays: number | null; oldestDays: number | null }>(`
		SELECT max(own.last - own.first) AS longestDays, max(own.last - birth) AS oldestDays
		FROM (SELECT patient, min(day) AS first, max(day) AS last FROM final GROUP BY patient) AS own
		JOIN cohort ON cohort.number = own.patient JOIN patient USING (id)
		WHERE split = 'train'`);
	return { longestDays: reach?.longestDays ?? 0, oldestDays: reach?.oldestDays ?? null };
}

import type { Store } from "../records/store.js";
import { roundUpTimeRange, type TimeRange } from "./privacy-rounding.js";

/** The longest training history and the greatest age in it, rounded up. Reads tables `final`, `cohort` and `patient`. */
export async function trainingTimeRange(store: Store): Promise<TimeRange> {
	const [reach] = await store.all<{ longestDays: number | null; oldestDays: number | null }>(`
		SELECT max(own.last - own.first) AS longestDays, max(own.last - birth) AS oldestDays
		FROM (SELECT patient, min(time) AS first, max(time) AS last FROM final GROUP BY patient) AS own
		JOIN cohort ON cohort.number = own.patient JOIN patient USING (id)
		WHERE split = 'train'`);
	return roundUpTimeRange({
		longestDays: reach?.longestDays ?? 0,
		oldestDays: reach?.oldestDays ?? null,
	});
}

import { random } from "../../base/random.js";
import { indexPeriods, type TimeAtRisk, timeAtRisk } from "../../cohort/at-risk.js";
import type { History } from "../../cohort/index.js";

/** Index days of a patient: drawn evenly from the days on which the patient is at risk. */
export function* trainingLandmarks(
	history: History,
	seed: number,
	lookBackDays: number,
	count: number,
): Generator<{ readonly day: number; readonly atRisk: TimeAtRisk }> {
	const draw = random(seed).fork("landmarks").fork(history.id);
	const periods = indexPeriods(history, lookBackDays);
	const total = periods.reduce((sum, { start, end }) => sum + end - start + 1, 0);
	for (let i = 0; i < count && total > 0; i++) {
		let left = draw.integer(total);
		const period = periods.find(({ start, end }) => {
			if (left <= end - start) return true;
			left -= end - start + 1;
			return false;
		});
		if (!period) continue;
		const day = period.start + left;
		const atRisk = timeAtRisk(history, day, lookBackDays);
		if (atRisk && atRisk.until > day) yield { day, atRisk };
	}
}

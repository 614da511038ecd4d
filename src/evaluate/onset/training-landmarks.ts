import { random } from "../../base/random.js";
import {
	indexPeriods,
	nthDay,
	observedDays,
	type TimeAtRisk,
	timeAtRisk,
} from "../../data/cohort/at-risk.js";
import type { History } from "../../data/cohort/index.js";

/** Index days of a patient: drawn evenly from the days on which the patient is at risk. */
export function* trainingLandmarks(
	history: History,
	seed: number,
	lookBackDays: number,
	count: number,
): Generator<{ readonly day: number; readonly atRisk: TimeAtRisk }> {
	const draw = random(seed).fork("landmarks").fork(history.id);
	const periods = indexPeriods(history, lookBackDays);
	const total = observedDays(periods);
	for (let i = 0; i < count && total > 0; i++) {
		const day = nthDay(periods, draw.integer(total)) as number;
		const atRisk = timeAtRisk(history, day, lookBackDays);
		if (atRisk && atRisk.until > day) yield { day, atRisk };
	}
}

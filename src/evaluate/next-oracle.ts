import type { Dataset, Split } from "../cohort/index.js";
import {
	firstOfDays,
	firstRecords,
	isPredicted,
	type PatientScore,
	rankOf,
	scoreTally,
} from "./scores.js";
import type { SimulationTruth } from "./simulation-truth.js";

/**
 * Scores the oracle on the same events as a model: exact probabilities given all earlier records. With unknown
 * policies it assumes that everybody is insured from birth, as one must who knows the records only.
 */
export async function oracleScores(
	dataset: Dataset,
	split: Split,
	{ oracle, patient: known, toTokens }: SimulationTruth,
	policies: "known" | "unknown",
): Promise<PatientScore[]> {
	const scores: PatientScore[] = [];
	for (const patient of dataset.patients(split)) {
		const own = await dataset.read(patient);
		const { history, positions } = known(own);
		const { birth, sex, coverage } = history;
		const follower = oracle.follow({
			birth,
			sex,
			...(policies === "known" && coverage && { coverage }),
		});
		const tally = scoreTally(patient);
		const isNew = firstRecords(own.tokens);
		const isFirst = firstOfDays(own.times);
		let seen = 0;
		for (const [event, position] of positions.entries()) {
			for (; seen < position; seen++)
				follower.observe(history.events[seen]!.day, history.events[seen]!.code);
			const token = own.tokens[own.birthEvents + event]!;
			if (!isPredicted(token, own.birthEvents + event)) continue;
			const chances = toTokens(follower.next(history.events[position]!.day));
			tally.add({
				logProbability: Math.log(Math.max(chances[token]!, 1e-12)),
				rank: rankOf(chances, token),
				isNew: isNew[own.birthEvents + event] === 1,
				isFirstOfDay: isFirst[own.birthEvents + event] === 1,
			});
		}
		scores.push(tally.score());
	}
	return scores;
}

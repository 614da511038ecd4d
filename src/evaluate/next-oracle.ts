import type { Dataset, Split } from "../cohort/index.js";
import { rankOf } from "./rank.js";
import { isForetold, type PatientScore, scoreTally } from "./scores.js";
import type { SimulationTruth } from "./simulation-truth.js";

/**
 * Scores of the oracle on the events a model is scored on: exact, from all that was recorded before.
 * Without policies it takes everybody to be insured from birth on, as one must who sees records alone.
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
		const { history, places } = known(own);
		const { birth, sex, coverage } = history;
		const follower = oracle.follow({
			birth,
			sex,
			...(policies === "known" && coverage && { coverage }),
		});
		const tally = scoreTally(patient);
		let seen = 0;
		for (const [event, place] of places.entries()) {
			for (; seen < place; seen++)
				follower.observe(history.events[seen]!.day, history.events[seen]!.code);
			const token = own.tokens[own.birthEvents + event]!;
			if (!isForetold(token, own.birthEvents + event)) continue;
			const chances = toTokens(follower.next(history.events[place]!.day));
			tally.add(Math.log(Math.max(chances[token]!, 1e-12)), rankOf(chances, token));
		}
		scores.push(tally.score());
	}
	return scores;
}

import type { Dataset, History, Split } from "../data/cohort/index.js";
import type { Oracle } from "../data/simulate/index.js";
import {
	firstOfDays,
	firstRecords,
	isPredicted,
	type PatientScore,
	rankOf,
	scoreTally,
} from "./scores.js";
import type { SimulationTruth, TruePatient } from "./simulation-truth.js";

/**
 * Scores the oracle on the same events as a model: exact probabilities given all earlier records. With unknown
 * policies it assumes that everybody is insured from birth, as one must who knows the records only. Each patient is
 * simulated once for both.
 */
export async function oracleScores(
	dataset: Dataset,
	split: Split,
	truth: SimulationTruth,
): Promise<{ readonly known: PatientScore[]; readonly unknown: PatientScore[] }> {
	const known: PatientScore[] = [];
	const unknown: PatientScore[] = [];
	for (const patient of dataset.patients(split)) {
		const own = await dataset.read(patient);
		const simulated = truth.patient(own);
		const { birth, sex, coverage } = simulated.history;
		const person = { birth, sex };
		const score = (insured: typeof person) =>
			followedScore(patient, own, simulated, truth, insured);
		known.push(score({ ...person, ...(coverage && { coverage }) }));
		unknown.push(score(person));
	}
	return { known, unknown };
}

function followedScore(
	patient: number,
	{ tokens, times, birthEvents }: History,
	{ history, positions }: TruePatient,
	{ oracle, toTokens }: SimulationTruth,
	person: Parameters<Oracle["follow"]>[0],
): PatientScore {
	const follower = oracle.follow(person);
	const tally = scoreTally(patient);
	const isNew = firstRecords(tokens);
	const isFirst = firstOfDays(times);
	let seen = 0;
	for (const [event, position] of positions.entries()) {
		for (; seen < position; seen++)
			follower.observe(history.events[seen]!.day, history.events[seen]!.code);
		const token = tokens[birthEvents + event]!;
		if (!isPredicted(token, birthEvents + event)) continue;
		const chances = toTokens(follower.next(history.events[position]!.day));
		tally.add({
			logProbability: Math.log(Math.max(chances[token]!, 1e-12)),
			rank: rankOf(chances, token),
			isNew: isNew[birthEvents + event] === 1,
			isFirstOfDay: isFirst[birthEvents + event] === 1,
		});
	}
	return tally.score();
}

import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Oracle } from "../../data/simulate/index.js";
import type { SimulationTruth, TruePatient } from "../simulation-truth.js";
import {
	codesOfTokens,
	firstOfDays,
	firstRecords,
	isPredicted,
	type PatientScore,
	rankOf,
	scoreTally,
} from "./scores.js";

/** How frequent each token is in training. */
export function trainingFrequencies({ vocabulary }: Dataset): Float64Array {
	const total = vocabulary.tokens.reduce((sum, { count }) => sum + count, 0);
	return Float64Array.from(vocabulary.tokens, ({ count }) => count / total);
}

/**
 * Calls `take` for each event to predict, with the counts and the number of the patient's earlier events.
 */
function overCounts(
	{ tokens }: History,
	size: number,
	take: (token: number, counts: Float64Array, past: number, position: number) => void,
): void {
	const counts = new Float64Array(size);
	let past = 0;
	for (const [position, token] of tokens.entries()) {
		if (isPredicted(token, position)) take(token, counts, past, position);
		if (token < specialCount) continue;
		counts[token] += 1;
		past++;
	}
}

/**
 * The own-history baseline: the probability of a code is its share of the patient's past events, smoothed with
 * α = `smoothing` further events distributed as in training,
 *   p(c) = (n_c + α f_c) / (n + α).
 * With infinite smoothing p is the frequency in training.
 */
function smoothed(count: number, past: number, frequency: number, smoothing: number): number {
	const trust = 1 / (1 + past / smoothing); // α / (n + α), in the frequencies
	return (1 - trust) * (count / Math.max(1, past)) + trust * frequency;
}

/** Scores the baseline on each patient of a split, like `nextEventScores` for a model. */
export async function countScores(
	dataset: Dataset,
	split: Split,
	smoothing: number,
): Promise<PatientScore[]> {
	const codes = codesOfTokens(dataset.vocabulary);
	const frequencies = trainingFrequencies(dataset);
	const ofTokens = new Float64Array(frequencies.length);
	const scores: PatientScore[] = [];
	for (const patient of dataset.patients(split)) {
		const tally = scoreTally(patient);
		const history = await dataset.read(patient);
		const isNew = firstRecords(codes.coded(history.tokens));
		const isFirst = firstOfDays(history.times);
		overCounts(history, frequencies.length, (token, counts, past, position) => {
			for (let code = specialCount; code < counts.length; code++)
				ofTokens[code] = smoothed(counts[code], past, frequencies[code], smoothing);
			const probabilities = codes.sum(ofTokens);
			const code = codes.of(token);
			tally.add({
				logProbability: Math.log(probabilities[code]),
				withValue: Math.log(ofTokens[token]),
				rank: rankOf(probabilities, code),
				isNew: isNew[position] === 1,
				isFirstOfDay: isFirst[position] === 1,
			});
		});
		scores.push(tally.score());
	}
	return scores;
}

const candidates = Array.from({ length: 17 }, (_, i) => 2 ** (i / 2 - 2)); // ¼ … 64

/** Chooses the smoothing with the fewest nats on the validation patients. */
export async function chooseSmoothing(dataset: Dataset): Promise<number> {
	const frequencies = trainingFrequencies(dataset);
	const smoothings = [...candidates, Number.POSITIVE_INFINITY];
	const sums = new Float64Array(smoothings.length);
	for await (const history of dataset.histories("valid"))
		overCounts(history, frequencies.length, (token, counts, past) => {
			for (const [i, smoothing] of smoothings.entries())
				sums[i] += Math.log(smoothed(counts[token], past, frequencies[token], smoothing));
		});
	const best = sums.some((sum) => sum < 0) ? sums.indexOf(Math.max(...sums)) : -1;
	return smoothings[best] ?? Number.POSITIVE_INFINITY;
}

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
		const history = await dataset.read(patient);
		const simulated = truth.patient(history);
		const { birth, sex, coverage } = simulated.history;
		const person = { birth, sex };
		const score = (insured: typeof person) =>
			followedScore(patient, history, simulated, truth, insured);
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
			follower.observe(history.events[seen].day, history.events[seen].code);
		const token = tokens[birthEvents + event];
		if (!isPredicted(token, birthEvents + event)) continue;
		const chances = toTokens(follower.next(history.events[position].day));
		tally.add({
			logProbability: Math.log(Math.max(chances[token], 1e-12)),
			rank: rankOf(chances, token),
			isNew: isNew[birthEvents + event] === 1,
			isFirstOfDay: isFirst[birthEvents + event] === 1,
		});
	}
	return tally.score();
}

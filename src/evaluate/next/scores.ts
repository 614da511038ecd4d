import type { Dataset, History, Split } from "../../data/cohort/index.js";
import { codeKey, specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import type { Oracle } from "../../data/simulate/index.js";
import type { SimulationTruth, TruePatient } from "../simulation-truth.js";

/** Events, Σ log p of them in nats, and those whose code was the most likely, among the five most likely, among the ten. */
export interface RankCounts {
	readonly events: number;
	readonly logLikelihood: number;
	readonly correct: number;
	readonly among5: number;
	readonly among10: number;
}

/** The score of one patient, each event predicted from the earlier ones. */
export interface PatientScore extends RankCounts {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** Of events whose code the patient did not have before. */
	readonly ofNew: RankCounts;
	/** Of the first event of each day. */
	readonly ofFirst: RankCounts;
	/** Σ log p of the events and the ranges of their values. */
	readonly withValues: number;
}

/** The codes that a recall is about: all, those that the patient already had, those that are new for the patient. */
export const novelties = [
	{ suffix: "", counts: () => true },
	{ suffix: " known", counts: (isNew: boolean) => !isNew },
	{ suffix: " new", counts: (isNew: boolean) => isNew },
] as const;

export interface ScoreSummary {
	readonly patients: number;
	readonly events: number;
	/** Mean −log p per event. */
	readonly nats: number;
	/** The fraction of events whose code was the most likely. */
	readonly accuracy: number;
}

/** Whether an event is predicted: every event after the first of its history, except births. */
export const isPredicted = (token: number, position: number): boolean =>
	position > 0 && token >= specialCount;

/**
 * The number of codes ranked before this one by descending score, without special tokens. Ties are in the order of
 * the vocabulary: the code that is more frequent in training comes first.
 */
export function rankOf(scores: ArrayLike<number>, token: number): number {
	const tokenScore = scores[token];
	let before = 0;
	for (let code = specialCount; code < scores.length; code++) {
		const score = scores[code];
		if (score > tokenScore || (score === tokenScore && code < token)) before++;
	}
	return before;
}

/** 1 for each event of a history whose code it did not have before. */
export function firstRecords(tokens: Int32Array): Uint8Array {
	const had = new Set<number>();
	return Uint8Array.from(tokens, (token) => {
		const isNew = !had.has(token);
		had.add(token);
		return Number(isNew);
	});
}

/** 1 for each event of a history that is the first of its day. */
export const firstOfDays = (times: ArrayLike<number>): Uint8Array =>
	Uint8Array.from(times, (time, index) =>
		Number(index === 0 || Math.floor(time) !== Math.floor(times[index - 1])),
	);

/** An event: its log p, also with the range of its value, and how many codes are more likely. */
interface ScoredEvent {
	readonly logProbability: number;
	/** By default the same. */
	readonly withValue?: number;
	readonly rank: number;
	/** Whether the patient did not have the code before. */
	readonly isNew: boolean;
	readonly isFirstOfDay: boolean;
}

export type ScoreTally = ReturnType<typeof scoreTally>;

/** Adds up the events of one patient. */
export function scoreTally(patient: number) {
	const counts = () => ({ events: 0, correct: 0, among5: 0, among10: 0, logLikelihood: 0 });
	const [all, ofNew, ofFirst] = [counts(), counts(), counts()];
	let withValues = 0;
	return {
		add: ({
			logProbability,
			withValue = logProbability,
			rank,
			isNew,
			isFirstOfDay,
		}: ScoredEvent) => {
			withValues += withValue;
			for (const group of [all, ...(isNew ? [ofNew] : []), ...(isFirstOfDay ? [ofFirst] : [])]) {
				group.logLikelihood += logProbability;
				group.events++;
				if (rank < 1) group.correct++;
				if (rank < 5) group.among5++;
				if (rank < 10) group.among10++;
			}
		},
		score: (): PatientScore => ({
			patient,
			...all,
			ofNew: { ...ofNew },
			ofFirst: { ...ofFirst },
			withValues,
		}),
	};
}

export function summarizeScores(scores: readonly PatientScore[]): ScoreSummary {
	const sum = (part: (score: PatientScore) => number) => scores.reduce((a, s) => a + part(s), 0);
	const events = sum((s) => s.events);
	return {
		patients: scores.length,
		events,
		nats: -sum((s) => s.logLikelihood) / events,
		accuracy: sum((s) => s.correct) / events,
	};
}

/**
 * The codes of a vocabulary, to which tokens of ranges of values belong: predictions are scored by code, the ranges
 * summed, so that numbers with and without values compare. Without ranges, codes are tokens. A code is numbered as its
 * first token.
 */
export function codesOfTokens({ tokens }: Vocabulary) {
	const first = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token, index) => {
		if (index < specialCount) return index;
		const key = codeKey(token);
		if (!first.has(key)) first.set(key, index);
		return first.get(key) as number;
	});
	const hasRanges = codes.some((code, token) => code !== token);
	const of = (token: number) => codes[token];
	/** Sums numbers of tokens by code, into the first token; 0 for the others. */
	const summed = (values: ArrayLike<number>) => {
		const sums = new Float64Array(values.length);
		for (const [token, code] of codes.entries()) sums[code] += values[token];
		return sums;
	};
	return {
		of,
		/** Whether some code has several tokens. */
		hasRanges,
		/** Whether a token number is that of a code. */
		isCode: (token: number) => of(token) === token,
		/** A history with codes for tokens. */
		coded: (history: Int32Array) => (hasRanges ? history.map(of) : history),
		sum: (probabilities: ArrayLike<number>) => (hasRanges ? summed(probabilities) : probabilities),
		sumLogs: (logProbabilities: Float32Array) =>
			hasRanges
				? Float32Array.from(summed(Float64Array.from(logProbabilities, Math.exp)), Math.log)
				: logProbabilities,
	};
}

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

import { codeKey, specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";

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

export interface ScoreTally {
	add(event: ScoredEvent): void;
	score(): PatientScore;
}

/** Adds up the events of one patient. */
export function scoreTally(patient: number): ScoreTally {
	const counts = () => ({ events: 0, correct: 0, among5: 0, among10: 0, logLikelihood: 0 });
	const [all, ofNew, ofFirst] = [counts(), counts(), counts()];
	let withValues = 0;
	return {
		add: ({ logProbability, withValue = logProbability, rank, isNew, isFirstOfDay }) => {
			withValues += withValue;
			for (const group of [all, ...(isNew ? [ofNew] : []), ...(isFirstOfDay ? [ofFirst] : [])]) {
				group.logLikelihood += logProbability;
				group.events++;
				if (rank < 1) group.correct++;
				if (rank < 5) group.among5++;
				if (rank < 10) group.among10++;
			}
		},
		score: () => ({ patient, ...all, ofNew: { ...ofNew }, ofFirst: { ...ofFirst }, withValues }),
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
 * summed, so that numbers with and without values compare. Without ranges, codes are tokens.
 */
interface CodesOfTokens {
	/** The code of each token, numbered as tokens are: its first token. */
	of(token: number): number;
	/** Whether some code has several tokens. */
	readonly hasRanges: boolean;
	/** The probabilities of codes: those of their tokens, summed into the first; 0 for the others. */
	sum(probabilities: ArrayLike<number>): ArrayLike<number>;
	/** The same of log p. */
	sumLogs(logProbabilities: Float32Array): Float32Array;
	/** A history with codes for tokens. */
	coded(tokens: Int32Array): Int32Array;
	/** Whether a token number is that of a code. */
	isCode(token: number): boolean;
}

export function codesOfTokens({ tokens }: Vocabulary): CodesOfTokens {
	const first = new Map<string, number>();
	const codes = Int32Array.from(tokens, (token, index) => {
		if (index < specialCount) return index;
		const key = codeKey(token);
		if (!first.has(key)) first.set(key, index);
		return first.get(key) as number;
	});
	const hasRanges = codes.some((code, token) => code !== token);
	const of = (token: number) => codes[token];
	return {
		of,
		hasRanges,
		isCode: (token) => of(token) === token,
		coded: (history) => (hasRanges ? history.map(of) : history),
		sum(probabilities) {
			if (!hasRanges) return probabilities;
			const summed = new Float64Array(probabilities.length);
			for (const [token, code] of codes.entries())
				summed[code] = summed[code] + probabilities[token];
			return summed;
		},
		sumLogs(logProbabilities) {
			if (!hasRanges) return logProbabilities;
			const summed = new Float64Array(logProbabilities.length);
			for (const [token, code] of codes.entries())
				summed[code] = summed[code] + Math.exp(logProbabilities[token]);
			return Float32Array.from(summed, Math.log);
		},
	};
}

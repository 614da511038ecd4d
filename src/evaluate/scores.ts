import { specialCount } from "../cohort/vocabulary.js";

/** The score of one patient, each event predicted from the earlier ones. */
export interface PatientScore {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** The number of predicted events. */
	readonly events: number;
	/** Σ log p of the events, in nats. */
	readonly logLikelihood: number;
	/** Events whose code was the most likely, among the five most likely, among the ten. */
	readonly correct: number;
	readonly among5: number;
	readonly among10: number;
}

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
	const own = scores[token] as number;
	let before = 0;
	for (let code = specialCount; code < scores.length; code++) {
		const score = scores[code] as number;
		if (score > own || (score === own && code < token)) before++;
	}
	return before;
}

export interface ScoreTally {
	/** Adds an event: its log p, and the number of more likely codes. */
	add(logProbability: number, rank: number): void;
	score(): PatientScore;
}

/** Adds up the events of one patient. */
export function scoreTally(patient: number): ScoreTally {
	let [events, logLikelihood, correct, among5, among10] = [0, 0, 0, 0, 0];
	return {
		add: (logProbability, rank) => {
			events++;
			logLikelihood += logProbability;
			if (rank < 1) correct++;
			if (rank < 5) among5++;
			if (rank < 10) among10++;
		},
		score: () => ({ patient, events, logLikelihood, correct, among5, among10 }),
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

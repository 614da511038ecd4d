import { specialCount } from "../cohort/vocabulary.js";

/** How well the events of one patient were foretold, each from those before it. */
export interface PatientScore {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** Events that were foretold. */
	readonly events: number;
	/** Σ log p of the events, in nats. */
	readonly logLikelihood: number;
	/** Events that were the most likely of all, among the five likeliest, among the ten. */
	readonly correct: number;
	readonly among5: number;
	readonly among10: number;
}

export interface ScoreSummary {
	readonly patients: number;
	readonly events: number;
	/** Mean −log p of an event. */
	readonly nats: number;
	/** Part of the events that were the most likely of all. */
	readonly accuracy: number;
}

/** Whether an event is foretold: every one after the first of its history, but no birth. */
export const isForetold = (token: number, place: number): boolean =>
	place > 0 && token >= specialCount;

export interface ScoreTally {
	/** One more event: log p of it, and how many codes were likelier. */
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

import { specialCount } from "../cohort/vocabulary.js";

/** How well the events of one patient were foretold, each from those before it. */
export interface PatientScore {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** Events that were foretold. */
	readonly events: number;
	/** Σ log p of the events, in nats. */
	readonly logLikelihood: number;
	/** Events that were the most likely of all. */
	readonly correct: number;
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

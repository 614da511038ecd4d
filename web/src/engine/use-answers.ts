import { useEffect, useRef, useState } from "react";
import type { Patient, PatientEvent } from "../data/patient.js";
import { type Answered, Asking } from "./asking.js";
import type { Asked } from "./session.js";

/**
 * Answers for a patient's events as they were, and as edited where that is something else, asked
 * again whenever anything changes.
 */
export function useAnswers(
	model: Asked | null,
	patient: Patient,
	events: readonly PatientEvent[],
	date: number,
	horizon: number,
	zoom: readonly [from: number, to: number] | null,
): {
	/** The latest answers, perhaps of what was asked before. */
	readonly answered: Answered | null;
	/** Whether they are of what is asked. */
	readonly isCurrent: boolean;
	/** Why the latest question has no answer. */
	readonly error: string | null;
	/** Whether states are remembered, so that edits are quick. */
	readonly ready: boolean;
} {
	const [answered, setAnswered] = useState<Answered | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [ready, setReady] = useState(false);
	const asking = useRef<Asking | null>(null);
	useEffect(() => {
		setAnswered(null);
		setError(null);
		if (!model) return;
		const own = new Asking(model, patient, {
			tell: (told) => {
				setAnswered(told);
				setError(null);
			},
			fail: setError,
			rest: setReady,
		});
		asking.current = own;
		return () => own.stop();
	}, [model, patient]);
	useEffect(() => {
		setError(null);
		if (model)
			asking.current?.ask({ patient, events, date, horizon, zoom, since: performance.now() });
	}, [model, patient, events, date, horizon, zoom]);
	const { request } = answered ?? {};
	const isCurrent =
		request?.events === events &&
		request.date === date &&
		request.horizon === horizon &&
		request.zoom === zoom;
	// What is still of another patient is nobody's.
	const isOwn = request?.patient === patient;
	return { answered: isOwn ? answered : null, isCurrent: isOwn && isCurrent, error, ready };
}
